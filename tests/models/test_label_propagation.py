"""Label propagation on graphs small enough to see."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn import LabelPropagation as Propagation

from mpnp.episode import Episode
from mpnp.graphs import plain_edges
from mpnp.models.label_propagation import LabelPropagation


def path(labels: list[int], shown: list[bool]) -> Episode:
    nodes = torch.arange(len(labels))
    edge_index = torch.cat([torch.stack([nodes[:-1], nodes[1:]]), torch.stack([nodes[1:], nodes[:-1]])], 1)
    graph = Data(x=torch.ones(len(labels), 1), edge_index=edge_index, y=torch.tensor(labels))
    return Episode.from_graphs([graph], torch.tensor(shown))


def test_a_node_takes_the_nearest_label() -> None:
    episode = path([0, 0, 0, 1, 1, 1], [True, False, False, False, False, True])
    assert LabelPropagation().predict(episode).label.tolist() == [0, 0, 0, 1, 1, 1]


def test_the_shares_are_those_of_pyg() -> None:
    episode = path([0, 1, 0, 2, 1], [True, False, False, True, True])
    mass: Tensor = Propagation(100, 0.9)(episode.shown(), plain_edges(episode.graph.edge_index))
    got = LabelPropagation().predict(episode).probabilities
    torch.testing.assert_close(got, mass / mass.sum(1, keepdim=True), rtol=0, atol=1e-3)


def test_what_arrives_is_what_pyg_gathers_edge_by_edge() -> None:
    def graph(nodes: int, *edges: tuple[int, int]) -> Data:
        index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T
        return Data(x=torch.ones(nodes, 1), edge_index=index, y=torch.arange(nodes) % 3)

    undirected = graph(5, (0, 1), (1, 0), (1, 2), (2, 1), (3, 1), (1, 3))  # node 4 is isolated
    directed = graph(6, (0, 1), (1, 2), (2, 0), (3, 1), (0, 4), (0, 4), (5, 5))  # a source, a sink twice, a loop
    for graphs in ([undirected, undirected], [directed], [undirected, directed, graph(2)], [graph(3)]):
        episode = Episode.from_graphs(graphs, torch.arange(sum(g.num_nodes for g in graphs)) % 4 != 1)
        edges = plain_edges(episode.graph.edge_index)
        for steps in (1, 2, 100):
            expected: Tensor = Propagation(steps, 0.9)(episode.shown(), edges, post_step=lambda flow: flow)
            torch.testing.assert_close(LabelPropagation(steps).spread(episode), expected, rtol=0, atol=1e-6)


def test_it_has_converged() -> None:
    episode = path([0, 1, 0, 2, 1] * 4, [True, False, False, True, False] * 4)
    more = LabelPropagation(steps=400).predict(episode).probabilities
    torch.testing.assert_close(LabelPropagation().predict(episode).probabilities, more, rtol=0, atol=1e-3)


def test_a_node_nothing_reaches_takes_the_shares_of_the_context() -> None:
    graph = Data(x=torch.ones(4, 1), edge_index=torch.tensor([[0, 1], [1, 0]]), y=torch.tensor([1, 1, 0, 1]))
    episode = Episode.from_graphs([graph], torch.tensor([True, False, True, True]))
    p = LabelPropagation().predict(episode).probabilities
    assert p[1, 1] > 0.99
    torch.testing.assert_close(p[3].sum(), torch.tensor(1.0))
    nothing = Episode.from_graphs([graph], torch.zeros(4, dtype=torch.bool))
    torch.testing.assert_close(LabelPropagation().predict(nothing).probabilities, torch.full((4, 2), 0.5))
