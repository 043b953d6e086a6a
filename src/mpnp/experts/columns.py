"""Columns that belong to a node and depend on no label: kept from one question about a graph to the next."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

ROOM = 2**26  # numbers that all columns of a graph may take
FAMILIES = 8  # columns of a node, about: four of spreading labels, three of radial kernels, one of shared neighbours


class Columns:
    """Columns [N] by name and node. A new label adds its own; all others are there already.

    Room is bounded: of more than :attr:`most` nodes nothing is kept, and those not asked for longest make place.
    """

    def __init__(self, nodes: int, room: int = ROOM) -> None:
        self.nodes, self.most = nodes, min(nodes, room // (FAMILIES * max(nodes, 1)))
        self._families: dict[str, Family] = {}

    def holds(self, nodes: Tensor) -> bool:
        return 0 < nodes.numel() <= self.most

    def of(self, name: str, nodes: Tensor, make: Callable[[Tensor], Tensor], reads: int = 1) -> Family:
        """The columns of ``nodes`` [m]; ``make`` gives those of the missing [k] as [reads, N, k]."""
        family = self._families.setdefault(name, Family(self.nodes, self.most, reads))
        family.fill(nodes, make)
        return family


class Family:
    """Columns of one kind, ``reads`` for every node, as rows of a table [most, reads, N]."""

    def __init__(self, nodes: int, most: int, reads: int) -> None:
        self.table = torch.empty(most, reads, nodes)  # takes memory only where it is written
        self.row: dict[int, int] = {}  # by node, the one asked for longest ago first

    def fill(self, nodes: Tensor, make: Callable[[Tensor], Tensor]) -> None:
        asked = nodes.tolist()
        there = {node: self.row.pop(node) for node in asked if node in self.row}
        missing = [node for node in asked if node not in there]
        if missing:
            new = make(torch.tensor(missing))
            for i, node in enumerate(missing):
                free = len(self.row) + len(there)
                if free >= self.table.size(0):
                    free = self.row.pop(next(iter(self.row)))
                self.table[free] = new[..., i]
                there[node] = free
        self.row |= there

    def times(self, nodes: Tensor, weights: Tensor, read: int = 0) -> Tensor:
        """The columns of ``nodes`` [m] times ``weights`` [m, W]: [N, W]."""
        everyone = weights.new_zeros(len(self.row), weights.size(1)).index_add_(0, self._rows(nodes), weights)
        return (everyone.t() @ self.table[: len(self.row), read]).t()  # in the order of the table: a sixth of the time

    def at(self, places: Tensor, nodes: Tensor, read: int = 0) -> Tensor:
        """What the columns of ``nodes`` [m] are at ``places`` [n]: [n, m]."""
        return self.table[self._rows(nodes).unsqueeze(0), read, places.unsqueeze(1)]

    def own(self, nodes: Tensor, read: int = 0) -> Tensor:
        """What the column of each of ``nodes`` [m] is at that node, [m]."""
        return self.table[self._rows(nodes), read, nodes]

    def _rows(self, nodes: Tensor) -> Tensor:
        return torch.tensor([self.row[node] for node in nodes.tolist()])
