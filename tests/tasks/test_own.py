"""A user's own graphs as a task: the splits, and labels too few for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data

from mpnp.episode import Sampling, sample_episode
from mpnp.errors import UserError
from mpnp.tasks.own import OwnTask


def save(folder: Path, content: Any) -> Path:
    torch.save(content, folder / "g.pt")
    return folder / "g.pt"


def ring(nodes: int, labels: torch.Tensor | None = None) -> Data:
    around = torch.arange(nodes)
    once = torch.stack([around, (around + 1) % nodes])
    return Data(x=torch.randn(nodes, 3), edge_index=torch.cat([once, once.flip(0)], 1), y=labels)


def test_many_graphs_are_held_out_whole(tmp_path: Path) -> None:
    torch.manual_seed(0)
    graphs = [ring(6, torch.arange(6) % 2) for _ in range(20)]
    one_label = torch.tensor([1, -1, -1, -1, -1, -1])
    path = save(tmp_path, [*graphs, ring(6), ring(6, one_label)])
    task = OwnTask(path)
    assert task.name == f"own:{path}" and task.standardise and not task.arbitrary and task.missing() is None
    assert (task.num_features, task.num_classes) == (3, 2)
    assert {split: len(graphs) for split, graphs in task.splits.items()} == {"train": 14, "val": 2, "test": 4}
    together = torch.cat([task.graphs(split).x for split in ("train", "val", "test")])
    assert torch.equal(together.sort(0).values, torch.cat([g.x for g in graphs]).sort(0).values)
    assert torch.equal(task.graphs("val").x, OwnTask(str(path)).graphs("val").x)  # type: ignore[arg-type]
    assert not torch.equal(task.graphs("train").x, OwnTask(path, seed=1).graphs("train").x)


def test_five_graphs_are_enough(tmp_path: Path) -> None:
    task = OwnTask(save(tmp_path, [ring(3, torch.tensor([0, 1, -1])) for _ in range(5)]))
    assert [len(task.graphs(split)) for split in ("train", "val", "test")] == [3, 1, 1]


@pytest.mark.parametrize("count", [1, 3])
def test_few_graphs_share_no_label_between_splits(tmp_path: Path, count: int) -> None:
    y = torch.arange(40) % 3
    y[30:] = -1
    graphs = [ring(40, y) for _ in range(count)]
    task = OwnTask(save(tmp_path, [*graphs, ring(40)]))
    shown = torch.stack([task.graphs(split).y for split in ("train", "val", "test")])
    assert (shown != -1).sum(1).tolist() == [21 * count, 3 * count, 6 * count]
    assert ((shown != -1).sum(0) == (y != -1).repeat(count)).all()
    assert torch.equal(shown.max(0).values, y.repeat(count))
    assert all(torch.equal(task.graphs(split).x, torch.cat([g.x for g in graphs])) for split in ("train", "test"))
    episode = sample_episode(
        task.graphs("test").select(torch.arange(count)), 3, Sampling.fixed(0.3), torch.Generator().manual_seed(0)
    )
    assert (episode.y[episode.target] == shown[2][episode.target]).all() and episode.target.sum() == 6 * count


def test_labels_too_few_for_a_split(tmp_path: Path) -> None:
    def load(*labels: torch.Tensor | None) -> None:
        OwnTask(save(tmp_path, [ring(20, y) for y in labels])).load()

    y = torch.arange(20) % 2
    load(torch.where(torch.arange(20) < 15, y, -1))
    with pytest.raises(UserError, match=r"14 labelled nodes.*at least 15"):
        load(torch.where(torch.arange(20) < 14, y, -1))
    with pytest.raises(UserError, match="1 labelled node,"):
        load(torch.where(torch.arange(20) == 1, y, -1), torch.where(torch.arange(20) == 2, y, -1))
    with pytest.raises(UserError, match=r"No node in .* has a label"):
        load(None)
    with pytest.raises(UserError, match="class '1'"):
        load(torch.ones(20, dtype=torch.long))


def test_a_missing_path(tmp_path: Path) -> None:
    task = OwnTask(tmp_path / "nowhere")
    assert "nowhere" in str(task.missing())
    with pytest.raises(UserError, match="nowhere"):
        task.load()


def test_a_task_says_what_it_was_given_in_a_line(tmp_path: Path) -> None:
    assert repr(OwnTask(tmp_path, reading={"label_column": "team"})) == (
        f"OwnTask('{tmp_path}', seed=0, label_column='team')"
    )
    assert repr(OwnTask(nx.path_graph(3))) == "OwnTask('Graph', seed=0)"
