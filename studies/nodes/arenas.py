"""The graphs and the questions asked about them: published splits, and a few labels per class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from time import process_time

import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.experts.views import Views
from mpnp.graphs import GraphSet
from mpnp.models.universal import Question
from mpnp.tasks.nodes import NodeTask, Public

PUBLIC = "public"
COUNTS = (1, 3, 5, 10)  # labels per class
DRAWS = 10
FEW = {f"few-{count}": count for count in COUNTS}
SETTINGS = (PUBLIC, *FEW)


@dataclass(frozen=True, eq=False)
class Arena:
    """A graph with all its labels; what does not depend on which of them are shown is computed once."""

    key: str
    public: Public
    classes: int

    @classmethod
    def named(cls, key: str) -> Arena:
        task = NodeTask(key)
        return cls(key, task.public, task.num_classes)

    @property
    def y(self) -> Tensor:
        labels: Tensor = self.public.graph.y
        return labels

    @cached_property
    def opened(self) -> tuple[Views, float]:
        """What the experts see without labels, and the seconds it took."""
        start = process_time()
        views = Views.of(self.public.graph)
        assert views.linear is not None and views.radial is not None  # both are computed when first used
        return views, process_time() - start

    @cached_property
    def bare(self) -> GraphSet:
        """The graph without its features, for predictors that read none."""
        graph = Data(x=torch.zeros(self.y.numel(), 1), edge_index=self.public.graph.edge_index, y=self.y)
        return GraphSet.from_data_list([graph]).select(torch.zeros(1, dtype=torch.long))

    def number_of_cases(self, setting: str) -> int:
        return self.public.train.size(0) if setting == PUBLIC else DRAWS

    def cases(self, setting: str) -> Iterator[Case]:
        for seed in range(self.number_of_cases(setting)):
            yield self.published(seed) if setting == PUBLIC else self.drawn(FEW[setting], seed)

    def published(self, split: int) -> Case:
        train, val, test = (self.public.mask(name, split).nonzero().squeeze(1) for name in ("train", "val", "test"))
        return Case(self, train, test, split, val)

    def drawn(self, count: int, seed: int) -> Case:
        """``count`` labels per class, or all there are, from outside the first test mask; those of fewer are among those of more."""
        test = self.public.mask("test", 0)
        order = torch.randperm(self.y.numel(), generator=torch.Generator().manual_seed(seed))
        order = order[~test[order]]
        chosen = [order[self.y[order] == label][:count] for label in range(self.classes)]
        return Case(self, torch.cat(chosen).sort().values, test.nonzero().squeeze(1), seed)


@dataclass(frozen=True)
class Case:
    """Labels shown at ``context`` [n], asked for at ``test`` [Q]; ``val`` [m]: labels for early stopping and choices, if any."""

    arena: Arena
    context: Tensor
    test: Tensor
    seed: int
    val: Tensor | None = None

    @property
    def shown(self) -> Tensor:
        """The labels of the context, [n]."""
        return self.arena.y[self.context]

    @cached_property
    def asked(self) -> tuple[Question, float]:
        """What the experts say, and the seconds it took."""
        views, _ = self.arena.opened
        start = process_time()
        question = Question.ask(views, self.context, self.shown, self.arena.classes)
        return question, process_time() - start

    @property
    def episode(self) -> Episode:
        nodes = self.arena.y.numel()
        context, targets = torch.zeros(2, nodes, dtype=torch.bool)
        context[self.context] = True
        targets[self.test] = True
        return Episode(self.arena.bare, self.arena.y, context, targets | context, self.arena.classes)
