"""Cells that no spreadsheet runs, and back."""

from __future__ import annotations

import pytest

from mpnp.tasks.formats.cells import meant, safe


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@SUM(A1)", "\t=1", "'=1", "''-x"])
def test_a_formula_is_kept_from_running_and_comes_back(text: str) -> None:
    assert safe(text) == f"'{text}" and meant(safe(text)) == text


@pytest.mark.parametrize("text", ["", "a", "a=b", "-5", "+1e3", "-0.5", "'quoted'", "'", "x-y"])
def test_anything_else_stays(text: str) -> None:
    assert safe(text) == text and meant(text) == text
