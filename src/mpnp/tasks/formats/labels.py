"""Labels as people write them, to numbered classes."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...errors import UserError
from ...graphs import UNLABELLED
from .own_graphs import MAX_CLASSES

# What tables write where there is no value, besides 'nan' in any spelling.
MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "<NA>", "None", "NULL", "null"})


def is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return value in MISSING or value.lower() == "nan"
    # pandas' NA compares to nothing, so it is known by its name.
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float | np.floating) and value != value)
    )


def number(text: str) -> float:
    """The number ``text`` stands for, else NaN; Python alone would read '1_2' as 12."""
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


def text_of(value: Any) -> str:
    """A value of whatever type as a table would have it; '' if it is missing."""
    if is_missing(value):
        return ""
    if type(value).__name__ in ("bool", "bool_"):
        return str(bool(value)).lower()
    return str(value).strip()


def in_order(texts: Iterable[str]) -> list[str]:
    """By number if all are numbers, else by alphabet."""
    listed = list(texts)
    numeric = all(math.isfinite(number(text)) for text in listed)
    return sorted(listed, key=lambda text: (number(text), text)) if numeric else sorted(listed)


def _joined(texts: set[str]) -> str | None:
    """A label that is made of others, or of what others are made of, by a semicolon or a bar: 'red|blue' beside 'blue'."""
    for mark in ";|":
        parts = {text: [part.strip() for part in text.split(mark)] for text in texts if mark in text}
        used = Counter(part for found in parts.values() for part in set(found) if part)
        for text in sorted(parts):
            if any(part and (part in texts or used[part] > 1) for part in parts[text]):
                return text
    return None


def numbered(
    values: Sequence[Any], known: Sequence[str] | None, where: str, notes: list[str], more: bool = False
) -> tuple[Tensor, list[str]]:
    """Class numbers [N] and the names of the classes, in numeric order if all are numbers, else alphabetical.

    ``more``: labels that are not ``known`` follow those that are; if none is known, the known ones are no classes here.

    A missing value is no label. '1.0', which tables make of 1 when another label is missing, is '1'; '01' is not.
    """
    made = {value: text_of(value) for value in set(values)} if all(type(v) is str for v in values) else None
    texts = [text_of(value) for value in values] if made is None else [made[value] for value in values]
    odd = Counter(value for value in values if isinstance(value, str) and value and is_missing(value))
    for text, count in odd.items():
        notes.append(f"{count} label{'s' * (count > 1)} '{text}' {'were' if count > 1 else 'was'} read as unknown.")
    own = {text for text in texts if text}
    joined = _joined(own)
    if joined is not None:
        raise UserError(
            f"In {where}: the label '{joined}' looks like several labels of one node, one is expected; predict one after the "
            "other, each from a column of its own, or write it without ';' and '|' if it is one."
        )
    if len(own) > MAX_CLASSES:
        raise UserError(
            f"In {where}: {len(own):,} different labels were given, at most {MAX_CLASSES:,} classes are expected; "
            "give classes, not names or measurements."
        )
    numbers = {text: number(text) for text in own}
    written = {text: text for text in own}
    if all(math.isfinite(value) for value in numbers.values()):
        broken = next((text for text, value in numbers.items() if not value.is_integer()), None)
        if broken is not None:
            raise UserError(
                f"In {where}: the label '{broken}' is a fraction, classes are expected; measurements are not "
                "predicted: cut them into classes, such as low and high, written as whole numbers or names."
            )
        written = {text: re.sub(r"^(-?\d+)\.0+$", r"\1", text) for text in own}
    names = in_order(set(written.values()))
    if known is not None:
        strange = [name for name in names if name not in known]
        if strange and not more:
            raise UserError(f"In {where}: the label '{strange[0]}' was given, one of {', '.join(known)} is expected.")
        if strange:
            others = f" and {len(strange) - 1} more" * (len(strange) > 1)
            notes.append(
                f"The model was trained without the class '{strange[0]}'{others}; it answers by the labels given."
            )
        names = strange if names and len(strange) == len(names) else [*known, *strange]
    index = {name: i for i, name in enumerate(names)}
    return torch.tensor([index[written[t]] if t else UNLABELLED for t in texts], dtype=torch.long), names
