"""A campaign as short as may be: a run killed and resumed, labels that are kept, a campaign that goes on."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from campaigns import chaos, kills

pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_training_killed_and_resumed_keeps_its_bits(tmp_path: Path) -> None:
    found = kills.training(Random(0), tmp_path, 1)
    assert found["failures"] == []
    assert found["bit-equal"] == found["runs"] >= 1


def test_labels_outlive_the_process_that_took_them(tmp_path: Path) -> None:
    found = kills.studio(Random(0), tmp_path, 3)
    assert found["failures"] == [] and found["steps"] > 0


def test_parts_that_are_done_are_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def part(name: str) -> chaos.Part:
        return lambda rng, folder, times: done.append(name) or {"tries": times, "failures": [name] * (name == "b")}  # type: ignore[func-returns-value]

    monkeypatch.setattr(chaos, "parts", lambda: {"a": (part("a"), 10), "b": (part("b"), 10)})
    out = tmp_path / "chaos.json"
    assert chaos.run(0, 0.5, ["a"], out) == 0
    assert chaos.run(0, 0.5, [], out) == 1
    assert done == ["a", "b"]
    assert json.loads(out.read_text())["parts"]["a"]["tries"] == 5
