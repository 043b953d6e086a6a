"""Graphs small enough to look through, for tests of the experts."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.experts.views import Views


def both(edges: list[tuple[int, int]]) -> Tensor:
    """An edge index with every edge in both directions."""
    once = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()
    return torch.cat([once, once.flip(0)], 1)


def two_towns(nodes: int = 60, features: int = 5, seed: int = 0) -> Data:
    """Two halves of a graph, whose nodes know mostly their own half and look a little like it; every third label is of a
    third class."""
    generator = torch.Generator().manual_seed(seed)
    town = torch.arange(nodes) % 2
    source = torch.randint(nodes, (3 * nodes,), generator=generator)
    target = torch.randint(nodes // 2, (3 * nodes,), generator=generator) * 2 + town[source]
    strays = torch.rand(3 * nodes, generator=generator) < 0.1
    target = torch.where(strays, (target + 1) % nodes, target)
    edges = torch.stack([source, target])
    x = town.unsqueeze(1) * torch.linspace(0, 1, features) + torch.randn(nodes, features, generator=generator)
    y = torch.where(torch.rand(nodes, generator=generator) < 0.2, 2, town)
    return Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], 1), y=y)


def views(edges: Tensor, nodes: int, x: Tensor | None = None, weight: Tensor | None = None) -> Views:
    return Views.of(Data(x=torch.zeros(nodes, 0) if x is None else x, edge_index=edges, edge_weight=weight))
