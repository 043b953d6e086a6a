"""Which model to use for a user's graphs."""

from __future__ import annotations

import torch
from torch_geometric.data import Data

from mpnp.own.advice import advice, telling
from mpnp.tasks.own import as_graphs


def graph(labels: list[int]) -> Data:
    nodes = len(labels)
    ring = torch.stack([torch.arange(nodes), torch.arange(nodes).roll(1)])
    return Data(x=torch.randn(nodes, 2), edge_index=ring, y=torch.tensor(labels))


def test_few_labels_need_no_training() -> None:
    said = advice(as_graphs(graph([0, 1, -1, -1])))
    assert said.model == "universal" and said.command.startswith("mpnp predict")


def test_no_label_is_told_to_ask() -> None:
    said = advice(as_graphs(graph([-1, -1, -1])))
    assert "label one of every class" in said.why and said.command.startswith("mpnp suggest")


def test_many_labelled_graphs_are_worth_training_on() -> None:
    said = advice(as_graphs([graph([0, 1] * 25) for _ in range(60)]))
    assert said.model == "ampnp" and said.command.startswith("mpnp train")


def test_a_column_that_tells_few_labels_may_do_so_by_chance() -> None:
    few, many = (graph([0, 1] * half + [-1]) for half in (2, 10))
    for each in (few, many):
        each.x[:, 1] = torch.arange(each.num_nodes) % 2
    assert telling(as_graphs(few)) == []
    assert [sentence.split("'")[1] for sentence in telling(as_graphs(many))] == ["1"]
    assert telling(as_graphs(graph([0] * 20))) == []
