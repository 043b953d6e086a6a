"""What several commands share."""

from __future__ import annotations

import math
from typing import Any

from jsonargparse import Namespace

from ..errors import UserError


def at_least(options: Namespace, **lowest: int) -> None:
    for name, low in lowest.items():
        value = options[name]
        if value is not None and value < low:
            raise UserError(f"--{name} {value} was given, at least {low} is expected.")
        if name == "seed" and value >= 2**32:
            raise UserError(f"--seed {value} was given, less than 2^32 is expected.")


def without_nan(value: Any) -> Any:
    """JSON has no NaN, the score of no node at all: null in its place."""
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value
