"""The edges of a graph as operators on node values, whatever the edges' weights and directions."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from ..graphs import plain_edges
from .sparse import coo, csr

LARGE = 2**21  # values from which on it pays to make the matrix of a graph convolution


class Walks:
    r"""An undirected, weighted reading of a graph: :math:`A_{ij} = w_{ij} + w_{ji}`, without loops.

    Both directions of an edge count as one undirected edge: a graph that lists each edge twice gives the same A, up to a factor
    that no operator here sees. ``outgoing`` and ``incoming`` keep the directions where there are any.

    Shapes: all operators take and return [N, …].
    """

    def __init__(self, edge_index: Tensor, nodes: int, weight: Tensor | None = None) -> None:
        source, target = plain_edges(edge_index)
        weight = torch.ones(source.numel()) if weight is None else weight.float().reshape(-1)
        keep = (source != target) & (weight > 0)
        source, target, weight = source[keep], target[keep], weight[keep]
        if weight.numel():
            weight = weight / weight.max()  # sums of huge weights stay finite
        self.nodes = nodes
        self.forward = _matrix(target, source, weight, nodes)
        self.backward = _matrix(source, target, weight, nodes)
        self.directed = not _same(self.forward, self.backward)
        both = (torch.cat([source, target]), torch.cat([target, source]), torch.cat([weight, weight]))
        self.matrix = _matrix(both[1], both[0], both[2], nodes) if self.directed else self.forward

    @cached_property
    def degree(self) -> Tensor:
        """The number of neighbours, [N]."""
        return self.matrix.crow_indices().diff().float()

    @cached_property
    def strength(self) -> Tensor:
        """The sum of the weights of a node's edges, [N]."""
        return self.sum(torch.ones(self.nodes, 1)).squeeze(1)

    def sum(self, h: Tensor) -> Tensor:
        """A h."""
        return self.matrix @ h

    def mean(self, h: Tensor) -> Tensor:
        """P h with P = D⁻¹A; a node without neighbours keeps what it has."""
        total = self.strength.clamp(min=1e-30).unsqueeze(-1)
        return torch.where(self.strength.unsqueeze(-1) > 0, self.sum(h) / total, h)

    def normalised(self, h: Tensor) -> Tensor:
        """D^-1/2 (A + s I) D^-1/2 h, s the mean strength of an edge: the propagation of a graph convolution."""
        if h.numel() >= LARGE:
            return self.convolution @ h
        loop = self._loop
        root = (self.strength + loop).rsqrt().unsqueeze(-1)
        scaled = h * root
        return (self.sum(scaled) + loop * scaled) * root

    @cached_property
    def convolution(self) -> Tensor:
        """The matrix of :meth:`normalised`: one pass over many values instead of five."""
        counts, here = self.matrix.crow_indices().diff(), torch.arange(self.nodes)
        row, column = torch.repeat_interleave(here, counts), self.matrix.col_indices()
        root = (self.strength + self._loop).rsqrt()
        value = torch.cat([self.matrix.values() * root[row] * root[column], self._loop * root.square()])
        return _matrix(torch.cat([row, here]), torch.cat([column, here]), value, self.nodes)

    @cached_property
    def _loop(self) -> float:
        values = self.matrix.values()
        return float(values.mean()) if values.numel() else 1.0

    def outgoing(self, h: Tensor) -> Tensor:
        """The mean over the nodes that a node's edges lead to, 0 where there are none."""
        return _mean(self.backward, h)

    def incoming(self, h: Tensor) -> Tensor:
        """The mean over the nodes whose edges lead to a node, 0 where there are none."""
        return _mean(self.forward, h)

    @cached_property
    def returns(self) -> Tensor:
        """The probability that two steps of a random walk lead back, [N]: 1/d for the centre of a star, 1 for its tips."""
        row = torch.repeat_interleave(torch.arange(self.nodes), self.matrix.crow_indices().diff())
        column, strength = self.matrix.col_indices(), self.strength.clamp(min=1e-30)
        there_and_back = self.matrix.values().square() / (strength[row] * strength[column])
        return torch.zeros(self.nodes).index_add_(0, row, there_and_back)


def _matrix(row: Tensor, column: Tensor, weight: Tensor, nodes: int) -> Tensor:
    """A sparse matrix [N, N]; edges named twice add up."""
    return csr(coo(row, column, weight, (nodes, nodes)))


def _same(one: Tensor, other: Tensor) -> bool:
    parts = ((m.crow_indices(), m.col_indices(), m.values()) for m in (one, other))
    return all(a.shape == b.shape and torch.equal(a, b) for a, b in zip(*parts, strict=True))


def _mean(matrix: Tensor, h: Tensor) -> Tensor:
    total = matrix @ torch.ones(h.size(0), 1)
    return (matrix @ h) / total.clamp(min=1e-30)
