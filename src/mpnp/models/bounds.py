"""How large a model may be: numbers in a configuration that no one means are refused before anything is built."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ..errors import UserError

MANY = 16_384
MOST = {
    "depth": 256, "refine": 256, "octaves": 64, "reaches": 10_000, "width": MANY, "heads": MANY, "head_width": MANY, "values": MANY,
    "z_width": 65_536, "r_width": 65_536, "summary": MANY, "samples": 10_000, "relations": 10_000, "num_features": 10_000_000,
    "num_classes": 1_000_000,
}  # fmt: skip
LAYERS = 256  # words in a stack of layers


def check_bounds(fields: Mapping[str, Any]) -> None:
    """Raise a :class:`UserError` for a number that is larger than any model's, and for names of classes that are none."""
    for name, value in fields.items():
        most = MOST.get(name)
        for number in value if isinstance(value, list | tuple) else [value]:
            if most is not None and isinstance(number, int | float) and not -1 <= number <= most:
                raise UserError(f"The option {name} = {str(value)[:100]} was given, at most {most} is expected.")
            if isinstance(number, str) and name != "class_names" and _width(number) > MANY:
                raise UserError(f"The option {name} = {number[:100]} was given, a width of at most {MANY} is expected.")
        if isinstance(value, list | tuple) and name not in ("class_names", "feature_names") and len(value) > LAYERS:
            raise UserError(f"The option {name} has {len(value)} entries, at most {LAYERS} are expected.")
    names = fields.get("class_names", [])
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise UserError(f"The class_names {str(names)[:100]} were given, a list of texts is expected.")


def check_types(configuration: type, fields: Mapping[str, Any]) -> None:
    """Raise a :class:`UserError` for a field of a configuration read from a file that is not of its type."""
    for name, kind in get_type_hints(configuration).items():
        if name in fields and not _is(fields[name], kind):
            expected = getattr(kind, "__name__", str(kind))
            raise UserError(f"The field {name} = {str(fields[name])[:100]} was given, {expected} is expected.")


def _is(value: Any, kind: Any) -> bool:
    """Whether a value as JSON has it is of a type: a list for a tuple, a whole number for any number."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return value in inner if isinstance(value, str | int | bool) else False
    if origin in (list, tuple):
        return isinstance(value, list | tuple) and all(_is(item, inner[0]) for item in value)
    if origin is not None:  # a union
        return any(_is(value, one) for one in inner)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return type(value) is kind


def _width(layer: str) -> int:
    """Of a layer in words, as 'mp:64'; 0 where there is none."""
    number = layer.rpartition(":")[2]
    return int(number[:20]) if number.isascii() and number.isdigit() else 0
