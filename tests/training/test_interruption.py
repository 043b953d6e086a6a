"""A training that was stopped, and goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from mpnp.errors import UserError
from mpnp.tasks.base import Task
from mpnp.tasks.prior.task import PriorTask
from mpnp.training import stream
from mpnp.training.fit import Fitted
from mpnp.training.learner import Learner

from .learning import FILES, files, log, stops, train, validated_as, weights


def test_an_interrupted_run_goes_on_with_its_running_mean(
    automata: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = train(automata, tmp_path / "whole", average=0.9)
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "training_step", stops(2, KeyboardInterrupt))
        train(automata, tmp_path / "part", average=0.9)
    resumed = train(automata, tmp_path / "part", average=0.9, resume=True)
    assert torch.equal(weights(resumed.model), weights(whole.model))
    assert log(resumed.folder, "val_nll") == log(whole.folder, "val_nll")


def test_an_interrupted_run_on_made_up_graphs_ends_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "VALIDATION_DRAWS", 2)
    task, small = PriorTask(), {"epoch_steps": 2, "batch_graphs": 2, "width": 8, "summary": 8, "z_width": 2}
    whole = train(task, tmp_path / "whole", "universal", epochs=2, **small)
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "training_step", stops(1, KeyboardInterrupt))
        train(task, tmp_path / "part", "universal", epochs=2, **small)
    resumed = train(task, tmp_path / "part", "universal", epochs=2, resume=True, **small)
    assert torch.equal(weights(resumed.model), weights(whole.model))
    assert log(resumed.folder, "val_nll") == log(whole.folder, "val_nll")


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_run_ends_as_if_it_had_not_been(
    automata: Task, whole: Fitted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    monkeypatch.setattr(Learner, "training_step", stops(2, error))
    if error is KeyboardInterrupt:
        part = train(automata, tmp_path)
        assert (part.metrics["finished"], part.metrics["epochs"]) == (False, 2)
        assert files(tmp_path) == FILES
        assert len(log(tmp_path, "epoch")) < len(log(whole.folder, "epoch"))
    else:  # as when the process is killed: only the checkpoints are there
        with pytest.raises(error):
            train(automata, tmp_path)
        assert not (tmp_path / "metrics.json").exists()
    monkeypatch.undo()
    resumed = train(automata, tmp_path, resume=True)
    assert torch.equal(weights(resumed.model), weights(whole.model))
    assert resumed.metrics | {"minutes": 0} == whole.metrics | {"minutes": 0}
    assert files(tmp_path) == FILES
    for column in ("epoch", "loss", "val_nll"):
        assert log(tmp_path, column) == log(whole.folder, column)


def test_an_interruption_before_the_first_epoch_ends_leaves_nothing_but_can_be_resumed(
    automata: Task, whole: Fitted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Learner, "training_step", stops(0, KeyboardInterrupt))
    with pytest.raises(UserError, match="nothing was learned"):
        train(automata, tmp_path)
    monkeypatch.undo()
    assert torch.equal(weights(train(automata, tmp_path, resume=True).model), weights(whole.model))


def test_a_run_goes_on_from_its_last_epoch_not_from_its_best(
    automata: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second epoch is the best, the fourth better than the first: a stale memory of the best would show."""
    monkeypatch.setattr(Learner, "on_validation_epoch_end", validated_as(3, 1, 4, 2))
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "training_step", stops(2, KeyboardInterrupt))
        best = train(automata, tmp_path)
    seen, step = [], Learner.training_step

    def noting(self: Learner, episode: Any, number: int) -> Tensor:
        seen.append(self.current_epoch)
        return step(self, episode, number)

    monkeypatch.setattr(Learner, "training_step", noting)
    resumed = train(automata, tmp_path, resume=True)
    assert sorted(set(seen)) == [2, 3]
    assert sorted(set(log(tmp_path, "epoch"))) == [0, 1, 2, 3] and len(log(tmp_path, "val_nll")) == 4
    assert torch.equal(weights(resumed.model), weights(best.model)) and resumed.metrics["val_nll"] == 1


def test_resuming_a_finished_run_returns_it_without_training(
    automata: Task, whole: Fitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Learner, "training_step", lambda *_: pytest.fail("trained again"))
    again = train(automata, whole.folder, resume=True)
    assert torch.equal(weights(again.model), weights(whole.model))
    assert again.metrics == json.loads(json.dumps(whole.metrics))


@pytest.mark.parametrize(
    ("changed", "named"), [({"epochs": 5}, "recipe"), ({"seed": 1}, "seed"), ({"depth": 1}, "model")]
)
def test_a_run_is_not_resumed_with_other_options(
    automata: Task, whole: Fitted, changed: dict[str, Any], named: str
) -> None:
    with pytest.raises(UserError, match=f"another {named};"):
        train(automata, whole.folder, resume=True, **changed)
