"""Which nodes to label next, asked from Python."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data

import mpnp
from mpnp.errors import UserError
from mpnp.models import configs
from mpnp.models.label_propagation import LabelPropagation
from mpnp.models.mode import Mode

from ..rings import Rings


def ring(labels: list[int]) -> Data:
    around = torch.arange(len(labels))
    return Data(x=torch.ones(len(labels), 1), edge_index=torch.stack([around, around.roll(1)]), y=torch.tensor(labels))


def test_unlabelled_nodes_of_every_graph_the_best_first() -> None:
    graphs = [ring([0, 1, *[-1] * 8]), ring([1, -1, 0])]
    found = mpnp.suggest(LabelPropagation(), graphs, count=2)
    assert [one.graph for one in found] == [0, 0, 1]
    assert found[0].score >= found[1].score
    for one in found:
        assert int(graphs[one.graph].y[one.index]) == -1
        assert one.node == str(one.index) and {one.label, one.second} == {"0", "1"}
        assert one.probability >= (one.second_probability or 0)


def test_names_are_those_given() -> None:
    (one,) = mpnp.suggest(
        Mode(), ring([0, 1, -1]), count=1, class_names=["no", "yes"], node_names=[["ann", "bob", "cid"]]
    )
    assert one.node == "cid" and one.index == 2 and {one.label, one.second} == {"no", "yes"}


def test_a_model_names_the_classes_as_it_learned_them() -> None:
    torch.manual_seed(0)
    model = configs.build(configs.config("ampnp", Rings()))
    model.config.class_names = ["low", "high"]
    assert {one.label for one in mpnp.suggest(model, ring([-1] * 4), samples=2)} <= {"low", "high"}


def test_where_no_class_is_known() -> None:
    assert [one.sentence for one in mpnp.suggest(Mode(), ring([-1] * 3), count=1)] == ["no class is known yet"]


def test_what_cannot_be_asked() -> None:
    with pytest.raises(UserError, match="All 2 nodes are labelled"):
        mpnp.suggest(Mode(), ring([0, 1]))
    with pytest.raises(UserError, match="did you mean 'entropy'"):
        mpnp.suggest(Mode(), ring([0, -1]), strategy="entropi")


@pytest.mark.parametrize("given", ["none.csv", 3, ["none.csv"]])
def test_what_is_no_graph_is_refused_in_a_sentence(given: Any) -> None:
    with pytest.raises(UserError, match=r"nothing at none\.csv|a NetworkX graph"):
        mpnp.suggest(Mode(), given)


def test_names_of_any_container_come_back() -> None:
    graph = nx.path_graph(["anna", "bert", "cleo", "dora"])
    graph.nodes["anna"]["label"], graph.nodes["dora"]["label"] = "left", "right"
    found = mpnp.suggest(LabelPropagation(), graph, count=2)
    assert {one.node for one in found} == {"bert", "cleo"}
    assert {one.label for one in found} <= {"left", "right"}


def test_graphs_alone_and_predictors_by_name() -> None:
    path = nx.path_graph(6)
    nx.set_node_attributes(path, {0: "left", 5: "right"}, "label")
    assert {one.node for one in mpnp.suggest(path, count=2)} <= {"1", "2", "3", "4"}
    by_name = mpnp.suggest("label-propagation", path, count=2)
    assert by_name == mpnp.suggest(LabelPropagation(), path, count=2)
    assert mpnp.sample("label-propagation", path, 3)[0].labels.shape == (3, 6)
    assert mpnp.sample(path, count=2)[0].labels.shape == (2, 6)
