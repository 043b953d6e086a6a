"""Context rates as a user writes them; importable before torch is."""

from __future__ import annotations

from ..errors import UserError


def parse_rate(written: str) -> float:
    """A context rate, or a refusal of what is none."""
    try:
        rate = float(written)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise UserError(f"'{written}' is not a context rate; a number between 0 and 1 is expected, such as 0.1.")
    return rate
