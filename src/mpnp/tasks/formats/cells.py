"""Cells of a CSV file that no spreadsheet takes for a formula, and back."""

from __future__ import annotations

import re

from .labels import number

# What spreadsheets run as a formula, with any apostrophes that keep them from it.
FORMULA = re.compile(r"'*[=+\-@\t\r]")
KEPT = re.compile(r"'+[=+\-@\t\r]")


def safe(text: str) -> str:
    """A text as it is written: one that a spreadsheet would run has an apostrophe before it; numbers stay numbers."""
    if text[:1] in "=+-@\t\r'" and FORMULA.match(text) and number(text) != number(text):
        return f"'{text}"
    return text


def meant(cell: str) -> str:
    """The text that :func:`safe` wrote."""
    return cell[1:] if cell[:1] == "'" and KEPT.match(cell) else cell
