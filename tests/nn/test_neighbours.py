"""Sums over neighbours are products with the adjacency matrix, forwards and backwards."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.graphs import GraphSet
from mpnp.nn.neighbours import Neighbours

Operation = Callable[[Neighbours, Tensor], Tensor]

NODES = 5
EDGES: dict[str, list[tuple[int, int]]] = {
    "undirected": [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (3, 4), (4, 3)],
    "directed": [(0, 1), (2, 1), (3, 1), (1, 4), (4, 0)],
    "duplicates": [(0, 1), (0, 1), (0, 1), (1, 0), (3, 2), (3, 2), (2, 4), (4, 3)],
    "self-loops": [(0, 0), (1, 2), (2, 1), (3, 3), (3, 3)],
    "isolated": [(1, 3), (3, 1)],
    "none": [],
}
OPERATIONS: dict[str, Operation] = {
    "sum": Neighbours.sum,
    "mean": Neighbours.mean,
    "normalised": Neighbours.normalised,
}


def as_tensor(edges: list[tuple[int, int]]) -> Tensor:
    return torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()


def neighbours_of(edges: list[tuple[int, int]], edge_type: list[int] | None = None) -> Neighbours:
    graph = Data(x=torch.zeros(NODES, 1), edge_index=as_tensor(edges))
    if edge_type is not None:
        graph.edge_type = torch.tensor(edge_type, dtype=torch.long)
    return Neighbours(GraphSet.from_data_list([graph]).select(torch.tensor([0])))


def dense(edges: list[tuple[int, int]], operation: str = "sum") -> Tensor:
    """The matrix M of h → M h, entry by entry."""
    matrix = torch.zeros(NODES, NODES)
    degree = [max(1, sum(target == node for _, target in edges)) for node in range(NODES)]
    for source, target in edges:
        factor = {"sum": 1, "mean": 1 / degree[target], "normalised": (degree[source] * degree[target]) ** -0.5}
        matrix[target, source] += factor[operation]
    return matrix


@pytest.mark.parametrize("shape", [(3,), (1,), (2, 3), (2, 1, 4)])
@pytest.mark.parametrize("kind", EDGES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_products_and_gradients_are_the_dense_ones(operation: str, kind: str, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    matrix = dense(EDGES[kind], operation)
    h, weight = torch.randn(NODES, *shape, requires_grad=True), torch.randn(NODES, *shape)
    # With h itself beside it, as in a layer: without edges the sum alone depends on nothing.
    out = h + OPERATIONS[operation](neighbours_of(EDGES[kind]), h)
    torch.testing.assert_close(out, h + torch.tensordot(matrix, h, 1))
    (gradient,) = torch.autograd.grad((out * weight).sum(), h)
    torch.testing.assert_close(gradient, weight + torch.tensordot(matrix.t(), weight, 1))


def test_the_gradient_of_a_directed_sum_runs_against_the_edges() -> None:
    h = torch.zeros(NODES, 1, requires_grad=True)
    neighbours_of([(0, 1), (1, 2)]).sum(h)[2].sum().backward()
    assert h.grad is not None
    assert h.grad.flatten().tolist() == [0, 1, 0, 0, 0]


def test_degree_counts_incoming_edges() -> None:
    assert neighbours_of(EDGES["duplicates"]).degree.tolist() == [1, 3, 2, 1, 1]
    assert neighbours_of([]).degree.tolist() == [0] * NODES


def test_each_graph_of_a_batch_keeps_to_itself() -> None:
    torch.manual_seed(0)
    graphs = [Data(x=torch.randn(NODES, 2), edge_index=as_tensor(edges)) for edges in EDGES.values()]
    batch = GraphSet.from_data_list(graphs).select(torch.tensor([4, 0, 5, 1]))
    kinds = list(EDGES)
    blocks = [dense(EDGES[kinds[i]], "mean") @ graphs[i].x for i in (4, 0, 5, 1)]
    torch.testing.assert_close(Neighbours(batch).mean(batch.x), torch.cat(blocks))


@pytest.mark.parametrize("shape", [(2,), (3, 2)])
@pytest.mark.parametrize("together", [1, 2, 3])
def test_relations_split_the_edges_by_type(together: int, shape: tuple[int, ...]) -> None:
    edges, kinds = EDGES["duplicates"], [2, 0, 0, 2, 0, 0, 2, 2]  # no edge of type 1
    h = torch.randn(NODES, *shape, generator=torch.Generator().manual_seed(0)).requires_grad_()
    groups = neighbours_of(edges, kinds).relations(3, together)
    assert [kind for group in groups for kind in group.kinds] == [0, 1, 2]
    assert max(len(group.kinds) for group in groups) == together
    means = torch.cat([group.means(h) for group in groups], -1)
    of_kind = [[edge for edge, k in zip(edges, kinds, strict=True) if k == kind] for kind in range(3)]
    matrices = [dense(some, "mean") for some in of_kind]
    expected = torch.cat([(matrix @ h.flatten(1)).view_as(h) for matrix in matrices], -1)
    torch.testing.assert_close(means, expected)
    weight = torch.randn(means.shape, generator=torch.Generator().manual_seed(1))
    ours, theirs = (torch.autograd.grad((out * weight).sum(), h)[0] for out in (means, expected))
    torch.testing.assert_close(ours, theirs)


def test_relations_beyond_those_asked_for_are_left_out() -> None:
    h = torch.arange(2.0 * NODES).reshape(NODES, 2)
    (group,) = neighbours_of(EDGES["directed"], [0, 1, 2, 1, 0]).relations(2, 8)
    (without,) = neighbours_of([(0, 1), (2, 1), (1, 4), (4, 0)], [0, 1, 1, 0]).relations(2, 8)
    torch.testing.assert_close(group.means(h), without.means(h))


def test_without_types_there_is_one_relation() -> None:
    h = torch.arange(2.0 * NODES).reshape(NODES, 2)
    neighbours = neighbours_of(EDGES["directed"])
    (group,) = neighbours.relations(2, 2)
    torch.testing.assert_close(group.means(h), neighbours.mean(h))
    assert neighbours_of([], []).relations(2, 2) == []


def test_a_graph_as_a_whole_is_its_mean_and_its_maximum() -> None:
    graphs = [
        Data(x=torch.tensor(x), edge_index=torch.zeros(2, 0, dtype=torch.long))
        for x in ([[1.0, -4.0], [3.0, -2.0]], [[5.0, 0.0]])
    ]
    batch = GraphSet.from_data_list(graphs).select(torch.tensor([1, 0]))
    assert Neighbours(batch).whole(batch.x).tolist() == [[5, 0, 5, 0], [2, -3, 3, -2]]
