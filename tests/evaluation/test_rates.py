"""Context rates as they are written."""

from __future__ import annotations

import pytest

from mpnp.errors import UserError
from mpnp.evaluation.rates import parse_rate


def test_shares_are_rates() -> None:
    assert [parse_rate(written) for written in ("0", "0.1", "1")] == [0, 0.1, 1]


@pytest.mark.parametrize("written", ["2", "-1", "half", "nan", ""])
def test_anything_else_is_not(written: str) -> None:
    with pytest.raises(UserError, match="is not a context rate"):
        parse_rate(written)
