"""Fields of a recipe or a model's configuration overridden by name, each checked against its type."""

from __future__ import annotations

import math
from argparse import ArgumentError
from dataclasses import fields, replace
from typing import Any, Literal, get_args, get_origin, get_type_hints

from jsonargparse import ArgumentParser

from ..errors import UserError, unknown_name
from ..models.base import ModelConfig
from ..models.bounds import check_bounds
from ..models.neural_process import NeuralProcessConfig
from .recipe import Recipe

# Options that must be at least 1; all other numbers at least 0.
COUNTS = ("epochs", "samples", "batch_graphs", "batch_nodes", "width", "heads", "head_width", "values", "r_width")


def with_options(plan: Recipe, configuration: ModelConfig, given: dict[str, Any]) -> tuple[Recipe, ModelConfig]:
    """Recipe and configuration with the fields ``given`` by name, each checked."""
    fixed = {field.name for field in fields(ModelConfig)} | {"kind"}  # by task and preset
    if isinstance(configuration, NeuralProcessConfig):
        fixed.remove("likelihood")
    hints = {**get_type_hints(Recipe), **get_type_hints(type(configuration))}
    known = [name for name in hints if name not in fixed]
    for name, value in given.items():
        if name not in known:
            raise unknown_name("option", name, known)
        change = {name: _checked(name, value, hints[name])}
        if hasattr(configuration, name):
            configuration = replace(configuration, **change)
        else:
            plan = replace(plan, **change)
    return plan, configuration


def _checked(name: str, value: Any, kind: Any) -> Any:
    """The option's value as the type ``kind``: '1e-3', which YAML takes for text, as a number, a list as a tuple."""
    parser = ArgumentParser(exit_on_error=False)
    parser.add_argument("--value", type=kind)
    try:
        typed = parser.parse_object({"value": value})["value"]
        fits = typed is not None or type(None) in get_args(kind)
    except ArgumentError:
        fits = False
    if not fits:
        choices = get_args(kind) if get_origin(kind) is Literal else ()
        expected = f"one of {', '.join(choices)}" if choices else f"a value of type {getattr(kind, '__name__', kind)}"
        raise UserError(f"The option {name} = {value} was given, {expected} is expected.")
    low = 1 if name in COUNTS else 0
    for number in typed if isinstance(typed, tuple) else [typed]:
        if isinstance(number, int | float) and not low <= number < math.inf:
            raise UserError(f"The option {name} = {value} was given, at least {low} is expected.")
    check_bounds({name: typed})
    return typed
