"""A training shared by several processes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from mpnp.models import configs
from mpnp.tasks.base import Task
from mpnp.training import recipes
from mpnp.training.learner import Learner
from mpnp.training.objectives import OBJECTIVES
from mpnp.training.parallel import share
from mpnp.training.stream import EpisodeStream

from .learning import FILES, Given, files, graph, log, stops, train, weights


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("model", ["ampnp", "mpnp-c"])
@pytest.mark.parametrize("world", [2, 6])
def test_the_shares_of_a_batch_add_up_to_its_loss_and_gradient(model: str, objective: str, world: int) -> None:
    """Four graphs of very different sizes, one of them without any label: some of six processes have none."""
    task = Given([graph(30, 60), graph(3), graph(8, 20, unlabelled=1.0), graph(12, 30)])
    network = configs.build(configs.config(model, task))
    (episode,) = EpisodeStream(task, replace(recipes.recipe("default", model, task.name), epoch_steps=1), 0, 0)

    def loss_and_gradient(rank: int, world: int) -> Tensor:
        torch.manual_seed(1)
        part, weight = share(network, episode, rank, world)
        loss = weight * OBJECTIVES[objective](network, part, 3).loss
        gradient = torch.autograd.grad(loss, list(network.parameters()), materialize_grads=True)
        return torch.cat([loss.detach().view(1), *(each.flatten() for each in gradient)])

    shares = torch.stack([loss_and_gradient(rank, world) for rank in range(world)])
    torch.testing.assert_close(shares.mean(0), loss_and_gradient(0, 1), rtol=1e-4, atol=1e-5)


def test_two_processes_learn_what_one_does(automata: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """28 graphs, 9 a step: the last step has a single graph for both. What two began, one may end."""
    # At a high rate Adam makes much of the last digit of a gradient near 0.
    options = {"batch_graphs": 9, "epoch_steps": 1, "learning_rate": 1e-4}
    one = train(automata, tmp_path / "one", "mpnp-c", epochs=3, **options)
    monkeypatch.setattr(Learner, "training_step", stops(2, KeyboardInterrupt))
    two = train(automata, tmp_path / "two", "mpnp-c", epochs=3, devices=2, **options)
    assert (two.metrics["finished"], two.metrics["epochs"], two.metrics["devices"]) == (False, 2, 2)
    assert log(two.folder, "loss") == pytest.approx(log(one.folder, "loss")[:2], rel=1e-5)
    monkeypatch.undo()
    ended = train(automata, tmp_path / "two", "mpnp-c", epochs=3, resume=True, **options)
    assert files(ended.folder) == FILES
    assert (ended.folder / "run.json").read_text() == (one.folder / "run.json").read_text()
    for column in ("epoch", "loss", "val_nll", "kl"):
        assert log(ended.folder, column) == pytest.approx(log(one.folder, column), rel=1e-4)
    torch.testing.assert_close(weights(ended.model), weights(one.model), rtol=0, atol=1e-5)
