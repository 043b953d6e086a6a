"""``prior/graphs``: an endless source of made-up problems."""

from __future__ import annotations

import numpy as np
import torch
from torch_geometric.data import Data

from ...episode import Episode
from ...errors import UserError
from ...graphs import GraphSet
from ..base import Split, Task
from .problems import Problem, draw

MOST_TARGETS = 100


class PriorTask(Task):
    """Every problem is a graph of its own, with features, classes and labels of its own; no two are the same."""

    name = "prior/graphs"
    num_features = 0
    num_classes = 0
    source = "made up"
    drawn = True
    context = (0.01, 0.75)
    extra = (0.25, 0.99)
    rates = (0.1,)

    def scale(self) -> tuple[int, int]:
        return 1_000_000, 450

    def size(self) -> tuple[int, float]:
        return 1_000_000, 450

    def load(self) -> dict[Split, GraphSet]:
        raise UserError(
            "The problems of prior/graphs are drawn one by one, each with features and classes of its own, so that there is "
            "no set of them to score; train universal on them, and score it on another task, such as node/cora."
        )

    def problem(self, number: int) -> Problem:
        """Problem ``number``: always the same for the same number."""
        return draw(np.random.default_rng(number))

    def draw(self, number: int) -> Episode:
        """Problem ``number`` with a hundred of its hidden nodes as targets, which say as much as all of them would."""
        episode = as_episode(self.problem(number))
        order = torch.rand(episode.num_nodes, generator=torch.Generator().manual_seed(number))
        asked = order.masked_fill(episode.context, 2).argsort()[:MOST_TARGETS]
        episode.target = episode.context.index_fill(0, asked, True)
        return episode


def as_episode(problem: Problem) -> Episode:
    """All labels known, those of the context shown, every node a target."""
    graph = Data(
        x=torch.from_numpy(problem.x).float(),
        edge_index=torch.from_numpy(problem.edges),
        y=torch.from_numpy(problem.y),
    )
    batch = GraphSet.from_data_list([graph]).select(torch.zeros(1, dtype=torch.long))
    context = torch.from_numpy(problem.context)
    return Episode(batch, batch.y, context, torch.ones_like(context), problem.classes)
