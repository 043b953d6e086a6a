"""The edges as operators, against matrices written out."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from mpnp.experts.walks import Walks

# Loops at 3, an edge named twice, one both ways, one of weight 0; node 5 has a loop alone, node 6 nothing.
EDGES = torch.tensor([[0, 0, 1, 2, 3, 3, 4, 5, 4], [1, 1, 0, 1, 3, 4, 0, 5, 2]])
WEIGHT = torch.tensor([1.0, 0.5, 2.0, 4.0, 9.0, 1.0, 3.0, 7.0, 0.0])
NODES = 7
UNDIRECTED = torch.cat([EDGES, EDGES.flip(0)], 1)


def written_out(edges: Tensor, weight: Tensor | None) -> Tensor:
    """W[i, j]: the weight that leads from j to i, relative to the largest of all, without loops."""
    weight = torch.ones(edges.size(1)) if weight is None else weight
    w = torch.zeros(NODES, NODES)
    for (source, target), value in zip(edges.t().tolist(), weight.tolist(), strict=True):
        w[target, source] += value * (source != target)
    return w / weight[edges[0] != edges[1]].max()


CASES = {
    "directed, weighted": (EDGES, WEIGHT),
    "directed": (EDGES, None),
    "undirected, weighted": (UNDIRECTED, torch.cat([WEIGHT, WEIGHT])),
    "undirected": (UNDIRECTED, None),
}


@pytest.mark.parametrize("name", CASES)
def test_operators_are_those_of_the_dense_matrix(name: str) -> None:
    edges, weight = CASES[name]
    walks, w = Walks(edges, NODES, weight), written_out(edges, weight)
    assert walks.directed == name.startswith("directed")
    a = w + w.t() if walks.directed else w
    strength = a.sum(1)
    p = torch.where(strength.unsqueeze(1) > 0, a / strength.clamp(min=1e-9).unsqueeze(1), torch.eye(NODES))
    h = torch.randn(NODES, 3, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(walks.strength, strength)
    torch.testing.assert_close(walks.degree, (a > 0).sum(1).float())
    torch.testing.assert_close(walks.sum(h), a @ h)
    torch.testing.assert_close(walks.mean(h), p @ h)
    hop = a / strength.clamp(min=1e-9).unsqueeze(1)
    torch.testing.assert_close(walks.returns, (hop @ hop).diagonal())
    loop = a[a > 0].mean()
    root = (strength + loop).rsqrt()
    expected = (root[:, None] * (a + loop * torch.eye(NODES)) * root) @ h
    torch.testing.assert_close(walks.normalised(h), expected)
    torch.testing.assert_close(walks.convolution @ h, expected)  # with very many values
    torch.testing.assert_close(walks.incoming(h), w @ h / w.sum(1, keepdim=True).clamp(min=1e-9))
    torch.testing.assert_close(walks.outgoing(h), w.t() @ h / w.t().sum(1, keepdim=True).clamp(min=1e-9))


def test_a_star_by_hand() -> None:
    walks = Walks(torch.tensor([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]]), 5)
    assert walks.degree.tolist() == [3, 1, 1, 1, 0]
    assert walks.mean(torch.tensor([[6.0], [1.0], [2.0], [3.0], [9.0]])).flatten().tolist() == [2, 6, 6, 6, 9]
    torch.testing.assert_close(walks.returns, torch.tensor([1, 1 / 3, 1 / 3, 1 / 3, 0]))


def test_an_edge_named_once_means_what_it_means_named_both_ways() -> None:
    """But for its direction, which is known only then."""
    once = torch.tensor([[0, 1, 2], [1, 2, 3]])
    one, both = Walks(once, 4), Walks(torch.cat([once, once.flip(0)], 1), 4)
    h = torch.arange(8.0).view(4, 2)
    torch.testing.assert_close(one.mean(h), both.mean(h))
    torch.testing.assert_close(one.normalised(h), both.normalised(h))
    assert one.directed and not both.directed
    assert one.outgoing(h)[3].tolist() == [0, 0] and one.incoming(h)[3].tolist() == [4, 5]


def test_without_edges_everyone_keeps_what_they_have() -> None:
    h = torch.randn(3, 2, generator=torch.Generator().manual_seed(0))
    for edges in (torch.empty(2, 0), torch.tensor([[1], [1]])):
        walks = Walks(edges, 3)
        torch.testing.assert_close(walks.mean(h), h)
        torch.testing.assert_close(walks.normalised(h), h)
        assert not walks.sum(h).any() and not walks.returns.any() and not walks.directed


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_the_unit_of_weights_does_not_matter(size: float) -> None:
    h = torch.randn(NODES, 2, generator=torch.Generator().manual_seed(0))
    plain, scaled = Walks(EDGES, NODES, WEIGHT), Walks(EDGES, NODES, size * WEIGHT)
    torch.testing.assert_close(scaled.mean(h), plain.mean(h))
    torch.testing.assert_close(scaled.normalised(h), plain.normalised(h))
    torch.testing.assert_close(scaled.returns, plain.returns)
