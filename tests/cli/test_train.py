"""``mpnp train`` on graphs that are made up as they are needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mpnp.training import stream

from .commands import Run

SMALL = ("--set", "epoch_steps=2", "batch_graphs=2", "width=8", "summary=8", "z_width=2")


def test_universal_is_trained_on_the_prior_by_one_command(
    prints: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "VALIDATION_DRAWS", 2)
    out = tmp_path / "run"
    prints("train", "prior/graphs", "--model", "universal", "--epochs", 1, *SMALL, "--out", out)
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["finished"] and metrics["epochs"] == 1 and metrics["task"] == "prior/graphs"
    assert (out / "model.safetensors").exists()


def test_other_models_cannot_learn_from_graphs_of_every_kind(refuses: Run, tmp_path: Path) -> None:
    for model in ("ampnp", "mpnp", "gnn"):
        said = refuses("train", "prior/graphs", "--model", model, "--epochs", 1, "--out", tmp_path / "run")
        assert f"'{model}' is made for one number of each" in said and "as 'universal'" in said
    assert not (tmp_path / "run").exists()


def test_nothing_is_scored_on_the_prior(refuses: Run) -> None:
    assert "no set of them to score" in refuses("evaluate", "label-propagation", "--task", "prior/graphs")


def test_the_prior_is_listed_with_any_features_and_classes(prints: Run) -> None:
    rows = {line.split()[0]: line.split() for line in prints("tasks").splitlines()}
    assert rows["prior/graphs"][1:5] == ["1,000,000", "450", "any", "any"]
    assert "node/cora" in rows
