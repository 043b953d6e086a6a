"""Sums and means over neighbours, and over whole graphs, on PyG's sorted and cached ``EdgeIndex``."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor
from torch_geometric import EdgeIndex
from torch_geometric.data import Data

from ..graphs import plain_edges
from .aggregators import group_max, group_mean

NARROW = 64  # columns below which PyTorch's plain sparse product beats PyG's, which has a fast backward pass


class Neighbours:
    r"""The neighbourhoods of a batch of graphs: :math:`(A h)_i = \sum_{j \to i} h_j`.

    A sum is one sparse product in either direction of the autograd graph; means and normalised sums are the same product
    with rows scaled before and after, so that no edge weights are ever stored.

    Shapes: everything takes and returns [N, …]; all trailing dimensions go through one product.
    """

    def __init__(self, graph: Data) -> None:
        self.edge_index: EdgeIndex = graph.edge_index
        self.edge_type: Tensor | None = graph.get("edge_type")
        self.graph_of: Tensor = graph.batch
        self.num_nodes: int = graph.x.size(0)
        self._relations: dict[tuple[int, int], list[Relations]] = {}

    @cached_property
    def degree(self) -> Tensor:
        """Incoming edges per node, [N]."""
        target = plain_edges(self.edge_index)[1]
        return torch.bincount(target, minlength=self.num_nodes).to(torch.get_default_dtype())

    @cached_property
    def matrix(self) -> Tensor:
        """The adjacency as a sparse matrix, rows for targets; products with it carry no gradient to it or through it."""
        return self.edge_index.to_sparse_csc().t()

    def sum(self, h: Tensor) -> Tensor:
        if self.edge_index.size(1) == 0:
            return torch.zeros_like(h)
        flat = h.flatten(1)
        if flat.size(1) < NARROW and not h.requires_grad:
            return (self.matrix @ flat).view_as(h)
        out: Tensor = self.edge_index.matmul(flat, transpose=True)  # type: ignore[assignment]
        return out.view_as(h)

    def mean(self, h: Tensor) -> Tensor:
        return self.sum(h) / _like(self.degree.clamp(min=1), h)

    def normalised(self, h: Tensor) -> Tensor:
        """D^-1/2 A D^-1/2 h."""
        scale = _like(self.degree.clamp(min=1).rsqrt(), h)
        return self.sum(h * scale) * scale

    def normalised_with_self(self, h: Tensor) -> Tensor:
        """D^-1/2 (A + I) D^-1/2 h, with the degrees of A + I: the propagation of a graph convolution."""
        scale = _like((self.degree + 1).rsqrt(), h)
        scaled = h * scale
        return (self.sum(scaled) + scaled) * scale

    def smoothed(self, h: Tensor, steps: int, keep: float) -> Tensor:
        r"""What is seen from afar, :math:`s \leftarrow \alpha \hat A s + (1 - \alpha) h` (Gasteiger et al., 2019)."""
        seen = h
        for _ in range(steps):
            seen = keep * self.normalised_with_self(seen) + (1 - keep) * h
        return seen

    def whole(self, h: Tensor) -> Tensor:
        """Mean and maximum over all nodes of each graph, [N, h] → [B, 2 h]."""
        graphs = int(self.graph_of.max()) + 1 if self.num_nodes else 0
        return torch.cat([reduce(h, self.graph_of, graphs) for reduce in (group_mean, group_max)], -1)

    def relations(self, types: int, together: int) -> list[Relations]:
        """The neighbourhoods of the edge types 0 to ``types`` − 1, so many of them ``together``; untyped edges are of type 0."""
        key = (types, together)
        if key not in self._relations:
            plain = plain_edges(self.edge_index)
            kind = torch.zeros_like(plain[1]) if self.edge_type is None else self.edge_type
            present = min(types, int(kind.max()) + 1) if kind.numel() else 0
            groups = [range(first, min(first + together, present)) for first in range(0, present, together)]
            self._relations[key] = [Relations(plain, kind, group, self.num_nodes) for group in groups]
        return self._relations[key]


class Relations:
    """The neighbourhoods of several edge types ``kinds`` at once: one sparse product, whose rows are (node, type)."""

    def __init__(self, edges: Tensor, kind: Tensor, kinds: range, num_nodes: int) -> None:
        self.kinds = kinds
        here = (kind >= kinds.start) & (kind < kinds.stop)
        source, target = edges[:, here]
        row, order = (target * len(kinds) + kind[here] - kinds.start).sort(stable=True)
        size = (num_nodes * len(kinds), num_nodes)  # PyG's gradient is for edges by row where a matrix is not square
        self.edge_index = EdgeIndex(torch.stack([row, source[order]]), sparse_size=size, sort_order="row")
        self.degree = torch.bincount(row, minlength=size[0]).clamp(min=1).to(torch.get_default_dtype())

    def means(self, h: Tensor) -> Tensor:
        """Means over the neighbours of each type, side by side: [N, P, h] → [N, P, K·h], K edge types."""
        flat = h.flatten(1)
        if self.edge_index.size(1) == 0:
            around = flat.new_zeros(self.degree.numel(), flat.size(1))
        else:
            around = self.edge_index.matmul(flat) / self.degree.unsqueeze(1)  # type: ignore[operator]
        return around.view(h.size(0), len(self.kinds), *h.shape[1:]).movedim(1, -2).flatten(-2)


def _like(rows: Tensor, h: Tensor) -> Tensor:
    return rows.view(-1, *[1] * (h.dim() - 1))
