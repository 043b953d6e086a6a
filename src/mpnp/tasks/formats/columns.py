"""Columns of a table to features: numbers as they are, texts one-hot, gaps filled and flagged."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from ...errors import UserError
from .labels import is_missing, number
from .own_graphs import FeatureKind, Floats, check_size

MAX_CATEGORIES = 100  # beyond it a column of texts is prose or names, not categories
LARGEST = float(np.finfo(np.float32).max)
DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}.*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
TRUTH = {"true": 1.0, "false": 0.0}
Place = Callable[[int], str]


@dataclass
class Column:
    """A column of numbers (truth values as 1 and 0, NaN where missing) or of texts (``None`` where missing)."""

    name: str
    kind: FeatureKind
    numbers: Floats | None = None
    texts: list[str | None] = field(default_factory=list)


@dataclass
class Features:
    """``x`` [N, F] float32 with the name and kind of every column."""

    x: Floats
    names: list[str]
    kinds: list[FeatureKind]


def read_column(name: str, values: Sequence[Any], typed: bool, place: Place) -> Column | None:
    """What a column holds, ``None`` if nothing; ``typed`` values mean what they are, others are cells of text.

    ``place`` names a row in sentences.
    """
    where: Place = lambda row: f"{place(row)}, column '{name}'"  # noqa: E731
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
        truth, numbers = values.dtype.kind == "b", values.astype(np.float64)
    else:
        quick = None if typed else _numbers_at_once(values)
        if quick is not None:
            return _column(name, quick, False, values, where)
        present = [row for row, value in enumerate(values) if not is_missing(value)]
        given = [values[row] for row in present]
        found = [_number(value, typed) for value in given]
        if not all(x is not None for x in found):
            return _read_texts(name, values, present, found, where)
        truth = bool(given) and all(type(value).__name__ in ("bool", "bool_") for value in given)
        numbers = np.full(len(values), np.nan)
        numbers[present] = found
    return _column(name, numbers, truth, values, where)


def _column(name: str, numbers: Floats, truth: bool, values: Sequence[Any], where: Place) -> Column | None:
    bad = np.flatnonzero(np.abs(numbers) > LARGEST)
    if len(bad):
        raise UserError(
            f"In {where(bad[0])}: '{values[bad[0]]}' was given, a finite number is expected; fill in or drop such values."
        )
    return None if np.isnan(numbers).all() else Column(name, "truth" if truth else "number", numbers)


def _numbers_at_once(cells: Sequence[str]) -> Floats | None:
    """Cells of text that are finite numbers, all of them; ``None`` where one is not, or is missing."""
    try:
        numbers = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return None
    # Python reads '1_0' as 10 and 'nan', which is missing, as a number.
    return None if not np.isfinite(numbers).all() or "_" in "".join(cells) else numbers


def _number(value: Any, typed: bool) -> float | None:
    if isinstance(value, str):
        read = np.nan if typed else number(value)
        return None if read != read else read
    if not isinstance(value, int | float | Decimal | np.number | np.bool_):
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return np.inf


def _is_date(value: Any) -> bool:
    return isinstance(value, datetime.date) or (isinstance(value, str) and DATE.fullmatch(value) is not None)


def _read_texts(
    name: str, values: Sequence[Any], present: list[int], found: list[float | None], where: Place
) -> Column:
    row = next(row for row, x in zip(present, found, strict=True) if x is None)
    value = values[row]
    if any(x is not None for x in found):
        raise UserError(
            f"In {where(row)}: '{value}' was given among numbers, a finite number is expected; write the column as "
            "numbers only or as texts only."
        )
    if all(_is_date(values[row]) for row in present):
        raise UserError(
            f"In {where(row)}: '{value}' is a date, numbers or categories are expected; give a number instead, such as "
            "the days since a start, or drop the column."
        )
    strange = next((row for row in present if not isinstance(values[row], str)), None)
    if strange is not None:
        raise UserError(
            f"In {where(strange)}: a {type(values[strange]).__name__} was given, a number, a truth value or a text is "
            "expected; drop the column or write one value per cell."
        )
    if all(values[row].lower() in TRUTH for row in present):
        numbers = np.full(len(values), np.nan)
        numbers[present] = [TRUTH[values[row].lower()] for row in present]
        return Column(name, "truth", numbers)
    texts: list[str | None] = [None] * len(values)
    for row in present:
        texts[row] = values[row]
    return Column(name, "category", texts=texts)


def encode(
    columns: Sequence[Column], nodes: int, known: Sequence[str] | None, where: str, notes: list[str]
) -> Features:
    """Features of ``nodes`` nodes; where the names ``known`` to a model are given, exactly these in this order."""
    parts: dict[str, Part] = {}
    for column in columns:
        made = _parts(column, known, where, notes)
        twice = next(iter(parts.keys() & made.keys()), None)
        if twice is not None:
            raise UserError(f"In {where}: two features would be called '{twice}'; rename a column.")
        parts |= made
    if known is not None:
        parts = _as_known(parts, columns, known, where, notes)
    check_size(nodes, len(parts), where)
    x = np.zeros((nodes, len(parts)), dtype=np.float32)
    for i, (_, fill) in enumerate(parts.values()):
        x[:, i] = fill()
    if not parts:
        x = np.ones((nodes, 1), dtype=np.float32)
        notes.append("There are no features; every node has the constant 1.")
        return Features(x, ["constant"], ["constant"])
    return Features(x, list(parts), [kind for kind, _ in parts.values()])


Part = tuple[FeatureKind, Callable[[], Any]]  # made when its place in x is known, so that no column is held twice


def _parts(column: Column, known: Sequence[str] | None, where: str, notes: list[str]) -> dict[str, Part]:
    """The features that a column becomes, by name; none if a model does not know the column."""
    name, flag = column.name, f"{column.name} missing"
    expected = [part for part in known or () if part.startswith(f"{name}=")]
    if known is not None and not expected and name not in known:
        notes.append(f"Column '{name}' is ignored: the model was trained without it.")
        return {}
    if column.numbers is not None:
        values, gaps = column.numbers, np.isnan(column.numbers)
        if not gaps.any():
            return {name: (column.kind, lambda: values)}
        middle = float(np.median(values[~gaps]))
        notes.append(
            f"Column '{name}': {int(gaps.sum())} of {len(gaps)} values are missing; the median {middle:g} stands in, and "
            f"'{flag}' is 1 there."
        )
        filled = np.where(gaps, middle, values)
        return {name: (column.kind, lambda: filled), flag: ("missing", lambda: gaps)}
    texts = column.texts
    present = {text for text in texts if text is not None}
    if expected:
        new = sorted(present - {part.removeprefix(f"{name}=") for part in expected})
        if new:
            notes.append(f"Column '{name}': the model was trained without '{new[0]}'{' and others' * (len(new) > 1)}.")
        present -= set(new)
    if not expected and len(present) == 1:
        notes.append(f"Column '{name}' has the same text everywhere and is ignored.")
        return {}
    if not expected and len(present) == len(texts):
        notes.append(f"Column '{name}' has another text for every node, as names have, and is ignored.")
        return {}
    if not expected and len(present) > MAX_CATEGORIES:
        raise UserError(
            f"In {where}: column '{name}' holds {len(present):,} different texts, at most {MAX_CATEGORIES} categories are "
            "expected; drop or ignore the column, or give numbers instead."
        )
    number_of = {text: i for i, text in enumerate(sorted(present))}
    gaps = np.array([text is None for text in texts])
    codes = np.array([number_of.get(text, -1) for text in texts])  # type: ignore[arg-type]
    parts: dict[str, Part] = {
        f"{name}={text}": ("category", lambda code=code: codes == code)  # type: ignore[misc]
        for text, code in number_of.items()
    }
    made = f"Column '{name}' holds {len(present)} categories, a feature each"
    if gaps.any():
        parts[flag] = ("missing", lambda: gaps)
        made += f"; {int(gaps.sum())} of {len(gaps)} values are missing, and '{flag}' is 1 there"
    notes.append(f"{made}.")
    return parts


def _as_known(
    parts: dict[str, Part], columns: Sequence[Column], known: Sequence[str], where: str, notes: list[str]
) -> dict[str, Part]:
    """The features a model knows, by name; a category or a gap that does not occur here is 0 everywhere."""
    if list(known) == ["constant"]:
        return {}
    here = {column.name for column in columns}
    texts = {column.name for column in columns if column.numbers is None}
    lost = [
        name
        for name in known
        if name not in parts
        and not (name.endswith(" missing") and name.removesuffix(" missing") in here)
        and not any(name.startswith(f"{text}=") for text in texts)
    ]
    if lost:
        raise UserError(
            f"In {where}: the feature '{lost[0]}', which the model was trained with, is not there; the features here are "
            f"{', '.join(parts) or 'none'}."
        )
    unflagged = [name for name in parts if name not in known]
    if unflagged:
        notes.append(f"Left out, as the model was trained without: {', '.join(unflagged)}.")
    return {name: parts.get(name, ("category", lambda: 0.0)) for name in known}
