"""What there is to see in a graph before any label is given: computed once, used for every context."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch_geometric.data import Data

from .features import LIMIT, read
from .sparse import pattern, scipy_of
from .walks import Walks

RESTART = 0.12  # of the personalised PageRank along which features are smoothed
FARTHER = 0.05  # of one that reaches farther
EXACT = 2e7  # sums of squared degrees up to which triangles are counted one by one


@dataclass(frozen=True)
class Views:
    """A graph's features and structure, as far as they depend on no label.

    Shapes: ``x`` [N, d] prepared features, ``None`` where there are none; ``amount`` [N, 1] how much a node shows, ``None``
    where that says nothing.
    """

    walks: Walks
    x: Tensor | None
    amount: Tensor | None = None

    @classmethod
    def of(cls, graph: Data) -> Views:
        nodes = graph.num_nodes
        x = graph.x if graph.x is not None else torch.zeros(nodes, 0)
        return cls(Walks(graph.edge_index, nodes, graph.get("edge_weight")), *read(x))

    @property
    def nodes(self) -> int:
        return self.walks.nodes

    @cached_property
    def linear(self) -> dict[str, Tensor]:
        """Views for a linear kernel by name: features as they are, smoothed along the edges, and set against the neighbours'."""
        if self.x is None:
            return {}
        once = self.walks.mean(self.x)
        twice = self.walks.mean(once)
        smooth = self._smoothed(self.x, self.x, RESTART)
        return {
            "x": self.x,
            "ax": once,
            "a2x": twice - twice.mean(0),
            "pprx": smooth,
            "farx": self._smoothed(self.x, smooth, FARTHER),
            "hx": self.x - once,
            "h2x": self.x - 2 * once + twice,
        }

    @cached_property
    def radial(self) -> dict[str, Tensor]:
        """Views for a radial kernel by name."""
        views = {"struct": self.structure}
        if self.x is not None:
            views |= {"x_rbf": self.x, "ax_rbf": torch.cat([self.x, self.linear["ax"]], 1)}
            views["pprx_rbf"] = self.linear["pprx"]
        if self.amount is not None:
            views["amount"] = torch.cat([self.amount, self.walks.mean(self.amount)], 1)
        return views

    def _smoothed(self, h: Tensor, start: Tensor, restart: float, steps: int = 10) -> Tensor:
        z = start
        for _ in range(steps):
            z = (1 - restart) * self.walks.normalised(z) + restart * h
        return z

    @cached_property
    def structure(self) -> Tensor:
        """What a node's place in the graph is like, [N, s]: degrees around it, walks, triangles, PageRank; standardised."""
        walks = self.walks
        degree = walks.degree.unsqueeze(1)
        log_degree = torch.log1p(degree)
        mean = walks.mean(log_degree)
        spread = (walks.mean(log_degree.square()) - mean.square()).clamp(min=0).sqrt()
        columns = [log_degree, mean, spread, walks.mean(mean), walks.returns.unsqueeze(1), self._clustering]
        reach = torch.ones(self.nodes, 1)
        for _ in range(4):
            reach = walks.sum(reach)
            reach = reach / reach.max().clamp(min=1e-30)
            columns.append(torch.log(reach + 1e-6))
        rank = torch.full((self.nodes, 1), 1.0 / self.nodes)
        shared = walks.strength.clamp(min=1e-30).unsqueeze(1)
        for _ in range(20):
            rank = 0.15 / self.nodes + 0.85 * walks.sum(rank / shared)
        columns.append(torch.log(rank * self.nodes + 1e-6))
        if walks.directed:
            ones = torch.ones(self.nodes, 1)
            columns += [torch.log1p(walks.backward @ ones), torch.log1p(walks.forward @ ones)]
        table = torch.cat(columns, 1)
        largest = table.abs().amax(0)
        table = table - table.mean(0)
        deviation = table.square().mean(0).sqrt()
        alike = deviation <= 1e-5 * largest  # but for rounding
        return (table / deviation.clamp(min=1e-6)).clamp(-LIMIT, LIMIT).masked_fill(alike, 0)

    @property
    def _clustering(self) -> Tensor:
        """The share of a node's pairs of neighbours that are neighbours themselves, [N, 1]."""
        adjacent = pattern(self.walks.matrix)
        degree = self.walks.degree
        if float(degree.square().sum()) <= EXACT:
            closed = _triangles(adjacent)
        else:  # an estimate by random signs: E[v ∘ A³ v] is the diagonal of A³
            signs = torch.randn(self.nodes, 64, generator=torch.Generator().manual_seed(0)).sign()
            closed = (signs * (adjacent @ (adjacent @ (adjacent @ signs)))).mean(1).clamp(min=0)
        pairs = (degree * (degree - 1)).clamp(min=1)
        return (closed / pairs).clamp(max=1).unsqueeze(1)


def _triangles(adjacent: Tensor) -> Tensor:
    """Twice the number of triangles at every node, [N]: the diagonal of A³."""
    matrix = scipy_of(adjacent)
    return torch.from_numpy((matrix @ matrix).multiply(matrix).sum(1)).float()
