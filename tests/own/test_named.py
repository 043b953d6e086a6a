"""A prediction in the user's own names."""

from __future__ import annotations

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data

import mpnp
from mpnp.own.named import OwnPrediction


@pytest.fixture
def said() -> OwnPrediction:
    graph = nx.barbell_graph(6, 0)
    graph = nx.relabel_nodes(graph, {i: f"node {i}" for i in graph})
    return mpnp.predict(graph, labels={"node 0": "left", "node 11": "right", "node 1": "left", "node 10": "right"})


def test_names_come_back(said: OwnPrediction) -> None:
    assert isinstance(said, mpnp.Prediction)
    assert said.class_names == ["left", "right"] and said.node_names[3] == "node 3"
    assert said.label_names[:3] == ["left"] * 3 and said.given_names[:3] == ["left", "left", None]
    assert said.promise is not None and "too few" in said.promise
    assert said.set_names == [["left", "right"]] * 12


def test_a_frame_has_a_row_per_node(said: OwnPrediction) -> None:
    frame = said.to_pandas()
    assert frame.loc["node 8", "label"] == "right" and frame.index.name == "node"
    assert frame[["p_left", "p_right"]].sum(axis=1).tolist() == pytest.approx([1] * 12)


def test_a_graph_carries_what_is_predicted(said: OwnPrediction) -> None:
    graph = said.to_networkx()
    assert graph.number_of_edges() == 31 and graph.nodes["node 8"]["label"] == "right"
    assert "given" not in graph.nodes["node 8"] and graph.nodes["node 0"]["given"] == "left"


def test_weights_and_types_stay_on_the_edges() -> None:
    ends = torch.tensor([[0, 1], [1, 0]])
    data = Data(x=torch.ones(2, 1), edge_index=ends, y=torch.tensor([0, 1]))
    data.edge_weight, data.edge_type = torch.tensor([2.0, 2.0]), torch.tensor([0, 0])
    graphs = mpnp.predict([data, data]).to_networkx()
    assert [graph.edges["0", "1"] for graph in graphs] == [{"weight": 2.0, "type": "0"}] * 2


def test_it_is_told_in_a_line_and_shown_as_a_table(said: OwnPrediction) -> None:
    assert repr(said).startswith("OwnPrediction(nodes=12, classes=2, mean confidence=0.") and "left, right" in repr(
        said
    )
    page = said._repr_html_()
    assert page.count("<tr>") == 11 and "… and 2 more" in page and "tensor" not in page
    said.own.class_names = ["<b>", "right"]
    assert "<b>" not in said._repr_html_()
