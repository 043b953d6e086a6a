"""How large the data at hand is."""

from __future__ import annotations

import pytest

from mpnp.reproduce import sizes


def test_sizes_of_what_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    class Small:
        num_features, num_classes = 5, 2

        def __init__(self, name: str) -> None:
            self.name = name

        def missing(self) -> str | None:
            return None if self.name == "ppisp" else "not here"

        def size(self) -> tuple[int, float]:
            return 4, 2.5

    monkeypatch.setattr(sizes, "get_task", Small)
    assert sizes.measured() == {"ppisp": (4, 2.5, 5, 2)}
