"""PyG, NetworkX, SciPy and pandas in memory, and labels beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from scipy import sparse
from torch_geometric.data import Data

from mpnp import get_task
from mpnp.errors import UserError
from mpnp.tasks.formats import as_graphs

from .sources import EDGES, X, Y, as_csv, as_networkx


def refused(source: Any, labels: Any = None, **options: Any) -> str:
    with pytest.raises(UserError) as error:
        as_graphs(source, labels, **options)
    assert "\n" not in str(error.value) and str(error.value).endswith(".")
    return str(error.value)


def test_pyg(tmp_path: Path) -> None:
    data = Data(x=X, edge_index=EDGES, y=Y)
    for source, graphs in ((data, 1), ([data], 1), ([data, data], 2), ({"x": X, "edge_index": EDGES, "y": Y}, 1)):
        own = as_graphs(source)
        assert len(own.graphs) == graphs and torch.equal(own.graphs[-1].x, X) and torch.equal(own.graphs[-1].y, Y)
    assert "names node 5" in refused(Data(x=X, edge_index=EDGES + 3))


def test_labels_outside_the_training_mask_are_hidden() -> None:
    data = Data(x=X, edge_index=EDGES, y=Y, train_mask=torch.tensor([True, False, False, False]))
    own = as_graphs(data)
    assert own.graphs[0].y.tolist() == [1, -1, -1, -1]
    assert own.notes == ["2 labels outside of train_mask are hidden."]
    assert data.y.tolist() == Y.tolist()  # what was given stays as it is
    splits = torch.tensor([[False, True]] * 4)
    assert as_graphs(Data(x=X, edge_index=EDGES, y=Y, train_mask=splits)).graphs[0].y.tolist() == [-1] * 4


def test_networkx() -> None:
    own = as_graphs(as_networkx())
    assert torch.equal(own.graphs[0].x, X) and torch.equal(own.graphs[0].edge_index, EDGES)
    assert own.graphs[0].y.tolist() == [1, 0, 1, -1] and own.class_names == ["3", "7"]
    assert own.node_names == [["a", "b", "c", "d"]] and own.feature_names == ["p", "q"]
    karate = as_graphs(nx.karate_club_graph(), label_column="club")
    assert karate.class_names == ["Mr. Hi", "Officer"] and karate.graphs[0].edge_weight.max() == 7
    both = as_graphs([nx.path_graph(2), nx.path_graph(3)])
    assert both.node_names == [["0", "1"], ["0", "1", "2"]]
    assert both.graphs[1].edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert "some graphs are directed and some are not" in refused([nx.path_graph(2), nx.DiGraph([(0, 1)])])
    assert "no nodes" in refused(nx.Graph())


def test_scipy() -> None:
    matrix = sparse.csr_array(np.array([[0, 1, 0], [0, 0, 2.5], [0, 0, 0]]))
    own = as_graphs((matrix, X[:3].numpy()))
    assert own.graphs[0].edge_index.tolist() == [[0, 1], [1, 2]] and own.graphs[0].edge_weight.tolist() == [1, 2.5]
    assert torch.equal(own.graphs[0].x, X[:3]) and own.directed
    alone = as_graphs(sparse.eye(3))
    assert alone.graphs[0].get("edge_weight") is None and alone.feature_names == ["constant"]
    assert torch.equal(as_graphs((matrix, sparse.csr_matrix(X[:3].numpy()))).graphs[0].x, X[:3])
    assert "4 rows of features were given for 3 nodes" in refused((matrix, X.numpy()))
    assert "a square one" in refused(sparse.eye(3, 4))
    assert "[nodes, features]" in refused((matrix, [1, 2, 3]))
    assert "no numbers" in refused((matrix, np.array([["a"], ["b"], ["c"]])))
    assert "weight of edge 0 is -1.0" in refused(sparse.csr_array(np.array([[0, -1], [0, 0]])))


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    nodes = pandas.DataFrame(
        {"size": [1, 2, 4], "age": [1.5, None, 2.5], "colour": pandas.Categorical(["r", "b", "r"])},
        index=["u", "v", "w"],
    )
    edges = pandas.DataFrame({"source": ["u", "v"], "target": ["v", "w"], "weight": [1, 2]})
    own = as_graphs((nodes, edges), pandas.Series({"w": "yes", "u": "no"}))
    assert own.feature_names == ["size", "age", "age missing", "colour=b", "colour=r"]
    assert own.graphs[0].x.tolist() == [[1, 1.5, 0, 0, 1], [2, 2, 1, 1, 0], [4, 2.5, 0, 0, 1]]
    assert own.node_names == [["u", "v", "w"]] and own.graphs[0].y.tolist() == [0, -1, 1]
    assert own.graphs[0].edge_weight.tolist() == [1, 1, 2, 2]
    dated = nodes.assign(born=pandas.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"]))
    assert "column 'born'" in refused((dated, edges)) and "is a date" in refused((dated, edges))
    named = as_graphs((sparse.eye(3), nodes))
    assert named.feature_names == own.feature_names and torch.equal(named.graphs[0].x, own.graphs[0].x)
    assert "fewer than two columns" in refused((nodes, edges[["source"]]))
    assert "a list was given as the name of a node" in refused((nodes.assign(id=[[1], [2], [3]]), edges))


@pytest.mark.parametrize(
    "labels",
    [
        [1, -1, 0, None],
        np.array([1.0, np.nan, 0.0, -1.0]),
        torch.tensor([1, -1, 0, -1]),
        {"a": 1, "c": 0},
        {"c": "0", "a": "1", "b": None},
    ],
)
def test_labels_beside_the_graph(labels: Any) -> None:
    own = as_graphs(as_networkx(), labels)
    assert own.graphs[0].y.tolist() == [1, -1, 0, -1] and own.class_names == ["0", "1"]
    assert "The labels given are used in place of those in the source." in own.notes


def test_no_word_of_missing_labels_where_they_are_given_beside_the_graph() -> None:
    graph = nx.path_graph(3)
    assert any("no column of labels" in note for note in as_graphs(graph).notes)
    assert as_graphs(graph, [0, 1, -1]).notes == [note for note in as_graphs(graph).notes if "labels" not in note]


def test_labels_may_be_texts_and_classes_known() -> None:
    own = as_graphs(Data(x=X, edge_index=EDGES), ["b", "a", None, "b"], class_names=["b", "c", "a"])
    assert own.graphs[0].y.tolist() == [0, 2, -1, 0] and own.class_names == ["b", "c", "a"]
    both = as_graphs([nx.path_graph(2), nx.path_graph(3)], [["x", None], {2: "y"}])
    assert [graph.y.tolist() for graph in both.graphs] == [[0, -1], [-1, -1, 1]]


def test_labels_that_do_not_fit() -> None:
    assert "3 labels were given for 4 nodes" in refused(as_networkx(), [1, 2, 3])
    assert "'z', but no node is called so" in refused(as_networkx(), {"z": 1})
    assert "the label '0.5' is a fraction" in refused(as_networkx(), [0.5, 1, 2, 3])
    assert "Several labels per node" in refused(as_networkx(), np.ones((4, 2)))
    assert "As labels a int was given" in refused(as_networkx(), 3)
    assert "given as a dict, a list is expected" in refused([nx.path_graph(2), nx.path_graph(2)], {0: 1})
    assert "Labels of 1 graphs were given for 2" in refused([nx.path_graph(2), nx.path_graph(2)], [[0, 1]])


@pytest.mark.parametrize("source", [3, [], [1, 2], None, ("a", "b"), np.eye(3)])
def test_anything_else_is_refused(source: Any) -> None:
    assert "is expected" in refused(source)


def test_tasks_from_containers(tmp_path: Path) -> None:
    graph = nx.cycle_graph(40)
    nx.set_node_attributes(graph, {node: node % 2 for node in graph}, "label")
    task = get_task(graph)
    assert (task.num_classes, task.name) == (2, "own:graphs")
    assert sum(int((task.graphs(split).y >= 0).sum()) for split in ("train", "val", "test")) == 40
    assert get_task(as_csv(tmp_path)).class_names == ["3", "7"]
    assert get_task(task) is task
    with pytest.raises(UserError, match="nowhere"):
        get_task(tmp_path / "nowhere").load()
    with pytest.raises(UserError, match="No node in the graph has a label"):
        get_task(nx.path_graph(30)).load()
