"""What kind of task each task is, told without its data and true of it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch_geometric.data import Data

from mpnp.models.configs import config
from mpnp.tasks import TASKS, Task, get_task
from mpnp.tasks.own import OwnTask
from mpnp.tasks.properties import Properties
from mpnp.training.recipes import recipe


def test_a_published_task_tells_without_its_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in ("MPNP_DATA", "MPNP_CACHE"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setattr(Task, "splits", property(lambda _: pytest.fail("loaded")))
    kinds = {name: Properties.of(get_task(name)) for name in TASKS}
    by_rule = {name for name, kind in kinds.items() if kind.labels == "by rule"}
    assert by_rule == {name for name in TASKS if name.startswith("ca/")}
    assert {name for name, kind in kinds.items() if kind.places} == {n for n in TASKS if n.startswith("shapenet/")}
    assert {name for name, kind in kinds.items() if kind.amounts} == {"tud/enzymes", "tud/proteins"}
    assert {name for name, kind in kinds.items() if kind.transductive} == {
        n for n in TASKS if "transductive" in n or n.startswith("node/")
    }
    assert kinds["shapenet/mixed-2"].labels == kinds["cora/few-shot-2"].labels == "arbitrary"
    assert kinds["tud/bzr"] == Properties(405, 36, 3, 10)
    assert kinds["cora/transductive-3"].graphs == 350 and kinds["cora/transductive-11"].nodes == 19_793


@pytest.mark.parametrize("name", [*TASKS])
def test_the_round_numbers_lead_to_the_recipe_of_the_exact_ones(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task = get_task(name)
    if name.startswith(("ca/", "cora")):
        pytest.skip("its graphs are slow to make, or those at hand are a stand-in of another size")
    if missing := task.missing():
        pytest.skip(missing)
    told = config("ampnp", task), recipe("default", config("ampnp", task), task)
    monkeypatch.setattr(type(task), "scale", Task.scale)
    assert (config("ampnp", task), recipe("default", config("ampnp", task), task)) == told


def test_own_graphs_are_transductive_where_they_are_few(tmp_path: Path) -> None:
    ring = torch.stack([torch.arange(20), torch.arange(20).roll(1)])
    graph = Data(x=torch.zeros(20, 3), edge_index=ring, y=torch.arange(20) % 4)
    for graphs, transductive in (([graph], True), ([graph] * 4, True), ([graph] * 5, False)):
        torch.save(graphs, tmp_path / "graphs.pt")
        expected = Properties(len(graphs), 20, 3, 4, transductive=transductive)
        assert Properties.of(OwnTask(tmp_path / "graphs.pt")) == expected


def test_own_features_are_amounts_where_one_has_a_long_tail() -> None:
    def amounts(column: torch.Tensor) -> bool:
        x = torch.stack([torch.arange(200.0), column], 1)
        ring = torch.stack([torch.arange(200), torch.arange(200).roll(1)])
        return OwnTask([Data(x=x, edge_index=ring, y=torch.arange(200) % 2)]).amounts

    lengths, rare = torch.arange(200.0) % 7, torch.zeros(200)
    rare[3] = 1
    assert not amounts(lengths)
    assert not amounts(rare)  # one of two values, however seldom, is no amount
    assert not amounts(torch.ones(200))
    lengths[5] = 500
    assert amounts(lengths)
