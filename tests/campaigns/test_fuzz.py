"""Malformed inputs, a few of each format: none brings anything down, and the same seed tries the same."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from campaigns import inputs, trial
from campaigns.damage import damaged_bytes, damaged_text, damaged_value

from mpnp.errors import UserError


@pytest.mark.parametrize("name", [name for name in inputs.TRIALS if name not in ("run", "arguments")])  # they train
def test_a_few_inputs_of_every_format(name: str) -> None:
    found = [trial.try_one(name, seed=1, number=number) for number in range(6)]
    assert [answer for answer in found if answer["outcome"] == "failed"] == []


def test_the_same_seed_damages_alike() -> None:
    for damage, sound in (
        (damaged_bytes, b"0123456789" * 20),
        (damaged_text, "a,b\n1,2\n"),
        (damaged_value, {"a": [1, 2]}),
    ):
        results = [[repr(damage(Random(seed), sound)) for seed in range(20)] for _ in range(2)]  # type: ignore[operator]
        assert results[0] == results[1]
        assert len(set(results[0])) > 5


def failing(rng: Random, folder: Path) -> None:
    (folder / "x").write_text("x")
    raise [UserError("A sentence."), UserError("two\nlines"), KeyError("x"), MemoryError()][rng.randrange(4)]


def test_what_is_no_sentence_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(inputs.TRIALS, "failing", (failing, 1))
    found = [trial.try_one("failing", 0, number) for number in range(40)]
    assert {answer["outcome"] for answer in found} == {"refused", "failed"}
    for answer in found:
        assert (answer["outcome"] == "refused") == (answer["why"] == "A sentence.")


def test_what_takes_for_ever_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(rng: Random, folder: Path) -> None:
        while True:
            try:
                sum(range(1000))
            except Exception:  # as a reader of damaged files does
                continue

    monkeypatch.setitem(inputs.TRIALS, "endless", (endless, 1))
    monkeypatch.setattr(trial, "SECONDS", 0.05)
    answer = trial.try_one("endless", 0, 0)
    assert answer["outcome"] == "failed" and "OutOfTime" in answer["why"]


def test_ten_thousand_inputs_are_shared_out() -> None:
    assert sum(share for _, share in inputs.TRIALS.values()) == 10_000
