"""A training shared by several processes."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from mpnp.errors import UserError
from mpnp.models import configs
from mpnp.tasks.base import Task
from mpnp.training import recipes
from mpnp.training.objectives import OBJECTIVES, objective
from mpnp.training.parallel import check_processes, share
from mpnp.training.stream import EpisodeStream

from .learning import FILES, Given, files, graph, log, train, weights

OPTIONS = {"batch_graphs": 9, "epoch_steps": 1, "learning_rate": 1e-4}
# Every process runs it from its start. Ctrl-C comes in the third epoch.
SCRIPT = f"""
import sys
from mpnp.tasks.cellular_automata import CellularAutomaton
from mpnp.training.learner import Learner
from tests.training.learning import stops, train
Learner.training_step = stops(2, KeyboardInterrupt)
automata = CellularAutomaton("small-world", graphs_total=40)
two = train(automata, sys.argv[1], "mpnp-c", epochs=3, devices=2, **{OPTIONS})
print(two.metrics["finished"], two.metrics["epochs"], two.metrics["devices"])
"""


@pytest.mark.parametrize("aim", OBJECTIVES)
@pytest.mark.parametrize("model", ["ampnp", "mpnp-c", "gnn"])
@pytest.mark.parametrize("world", [2, 6])
def test_the_shares_of_a_batch_add_up_to_its_loss_and_gradient(model: str, aim: str, world: int) -> None:
    """Four graphs of very different sizes, one of them without any label: some of six processes have none."""
    task = Given([graph(30, 60), graph(3), graph(8, 20, unlabelled=1.0), graph(12, 30)])
    configuration = configs.config(model, task)
    network, plan = configs.build(configuration), recipes.recipe("default", configuration, task)
    (episode,) = EpisodeStream(task, replace(plan, epoch_steps=1), 0, 0)

    def loss_and_gradient(rank: int, world: int) -> Tensor:
        torch.manual_seed(1)
        part, place, weight = share(network, episode, rank, world)
        loss = weight * objective(aim, network, part, 3, place).loss
        gradient = torch.autograd.grad(loss, list(network.parameters()), materialize_grads=True)
        return torch.cat([loss.detach().view(1), *(each.flatten() for each in gradient)])

    shares = torch.stack([loss_and_gradient(rank, world) for rank in range(world)])
    torch.testing.assert_close(shares.mean(0), loss_and_gradient(0, 1), rtol=1e-4, atol=1e-5)


def test_two_processes_learn_what_one_does(automata: Task, tmp_path: Path) -> None:
    """28 graphs, 9 a step: the last step has a single graph for both. What two began, one may end."""
    # At a high rate Adam makes much of the last digit of a gradient near 0.
    one = train(automata, tmp_path / "one", "mpnp-c", epochs=3, **OPTIONS)
    script, two = tmp_path / "script.py", tmp_path / "two"
    script.write_text(SCRIPT)
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, script, two],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == "False 2 2", ran.stderr
    assert log(two, "loss") == pytest.approx(log(one.folder, "loss")[:2], rel=1e-5)
    ended = train(automata, two, "mpnp-c", epochs=3, resume=True, **OPTIONS)
    assert files(ended.folder) == FILES
    assert (ended.folder / "run.json").read_text() == (one.folder / "run.json").read_text()
    for column in ("epoch", "loss", "val_nll", "kl"):
        assert log(ended.folder, column) == pytest.approx(log(one.folder, column), rel=1e-4)
    torch.testing.assert_close(weights(ended.model), weights(one.model), rtol=0, atol=1e-5)


def test_a_session_without_a_script_cannot_be_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    monkeypatch.setattr(sys, "argv", [""])
    with pytest.raises(UserError, match="an interactive session has none"):
        check_processes(2, 1)
