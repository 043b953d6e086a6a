"""A question to all experts: what there is to see on one side, a few labelled nodes on the other."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from .columns import Columns
from .judge import Judge
from .views import Views

MOST_LANDMARKS = 512  # context nodes that span a kernel
MOST_COLUMNS = 1e8  # numbers in a block of kernel columns
FOLDS = 5


class Context:
    """Labelled nodes of a graph, the ``landmarks`` among them that span a kernel, and the folds they are left out in.

    ``exact``: all of them are landmarks; ``columns``: what earlier questions have left, where there is to be another. Shapes: ``nodes`` [n] node numbers, ``labels`` [n, C] one-hot, ``landmarks`` [m].
    """

    def __init__(self, views: Views, nodes: Tensor, judge: Judge, columns: Columns | None = None) -> None:
        self.views, self.nodes, self.judge, self.columns = views, nodes, judge, columns
        self.labels = judge.one_hot.float()
        most = int(min(MOST_LANDMARKS, max(32, MOST_COLUMNS // views.nodes)))
        self.exact = nodes.numel() <= most
        self.landmarks = nodes if self.exact else self.typical(most)

    @property
    def count(self) -> int:
        return self.nodes.numel()

    @cached_property
    def shown(self) -> Tensor:
        """One-hot labels of all nodes, zeros where there is none, [N, C]."""
        table = torch.zeros(self.views.nodes, self.judge.classes)
        table[self.nodes] = self.labels
        return table

    def at_landmarks(self) -> Tensor:
        """A unit vector for every landmark, [N, m]."""
        return self.units(self.landmarks)

    def units(self, nodes: Tensor) -> Tensor:
        """A unit vector for every one of ``nodes`` [m], [N, m]."""
        units = torch.zeros(self.views.nodes, nodes.numel())
        units[nodes, torch.arange(nodes.numel())] = 1
        return units

    def opinion(self, log_p: Tensor, left_out: Tensor) -> Tensor:
        """Log-probabilities of all nodes [N, C], those of the context replaced by what they are ``left_out`` [n, C]."""
        log_p[self.nodes] = left_out.to(log_p)
        return log_p

    @cached_property
    def order(self) -> Tensor:
        """The context by class and by place in the graph, [n]: an order that does not depend on how nodes are numbered.

        Places that are alike but for rounding, as everywhere in a graph without edges, are ordered by features.
        """
        score = self.views.structure[self.nodes].double().sum(1).mul(1e4).round()
        order = torch.arange(self.count)
        if self.views.x is not None:
            x = self.views.x[self.nodes].double()
            order = (x @ x.sum(0)).argsort()
        return order[(self.judge.y.double() * 1e7 + score)[order].argsort(stable=True)]

    @cached_property
    def fold(self) -> Tensor:
        """Folds of the context, [n], labels of a class in as many of them as may be."""
        fold = torch.empty_like(self.order)
        fold[self.order] = torch.arange(self.count) % FOLDS
        return fold

    def typical(self, most: int) -> Tensor:
        """Landmarks: context nodes of every class and place."""
        return self.nodes[self.order[torch.linspace(0, self.count - 1, most).long()]]
