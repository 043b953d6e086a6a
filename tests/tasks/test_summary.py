"""What was read, in numbers and sentences."""

from __future__ import annotations

import json

import networkx as nx
import torch
from torch_geometric.data import Data

from mpnp.tasks.formats import as_graphs
from mpnp.tasks.summary import summary


def test_counted_by_hand() -> None:
    # a - b - c, d - d (a loop), e alone; a, b, c labelled.
    graph = nx.Graph([("a", "b"), ("b", "c"), ("d", "d")])
    graph.add_node("e")
    nx.set_node_attributes(graph, {"a": "x", "b": "x", "c": "y"}, "label")
    nx.set_node_attributes(graph, {"a": 1, "b": 2, "c": 3, "d": 4}, "size")
    told = summary(as_graphs(graph))
    assert (told.graphs, told.nodes, told.edges, told.components, told.isolated) == (1, 5, 3, 3, 2)
    assert not told.directed and not told.weighted and told.edge_types == ()
    assert told.labelled == 3 and told.classes == {"x": 2, "y": 1}
    assert told.homophily == 0.5
    assert told.features == {"number": 1, "missing": 1}
    assert json.loads(json.dumps(told.to_dict()))["notes"] == list(told.notes)
    assert str(told) == (
        "the graph\n"
        "  graphs      1\n"
        "  nodes       5, 2 of them isolated\n"
        "  edges       3 undirected\n"
        "  components  3\n"
        "  labelled    3 of 5 nodes\n"
        "  classes     2: x 2, y 1\n"
        "  homophily   50 % of edges join the same class\n"
        "  features    1 number, 1 flag of missing values\n"
        "  - Column 'size': 1 of 5 values are missing; the median 2.5 stands in, and 'size missing' is 1 there."
    )


def test_directed_weighted_typed_and_unlabelled() -> None:
    edges = torch.tensor([[0, 1], [1, 2]])
    graph = Data(x=torch.zeros(3, 1), edge_index=edges, edge_weight=torch.ones(2), edge_type=torch.tensor([0, 1]))
    told = summary(as_graphs([graph, graph]))
    assert (told.graphs, told.nodes, told.edges, told.components) == (2, 6, 4, 2)
    assert told.directed and told.weighted and told.edge_types == ("0", "1")
    assert told.homophily is None and told.classes == {} and told.labelled == 0
    assert "4 directed, weighted, 2 types" in str(told) and "classes     none" in str(told)
