"""Uncertain at the borders? How much of a model's uncertainty lies where two parts meet.

The paper shows pictures: an MPNP is unsure where parts of a shape meet, which is where the doubt really is, an NP on whole
stretches of it. Here it is measured. A node is on a border if a neighbour has another true label; near one, if a border
node is at most two steps away. A model that is unsure everywhere alike has as much of its uncertainty near borders as
there are nodes there, so the share of nodes is what to compare with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from ..defaults import MANY_SAMPLES
from ..episode import Episode
from ..graphs import UNLABELLED, plain_edges
from ..prediction import Predictor
from ..tasks.base import Split, Task
from .answers import Answers, answer, draw_seeds
from .given import as_task
from .tables import RateTable, Stored

HOPS = 2


def on_border(episode: Episode) -> Tensor:
    """Nodes with a neighbour of another true label, [N] bool; a label that is not known makes no border."""
    source, target = plain_edges(episode.graph.edge_index)
    one, other = episode.y[source], episode.y[target]
    across = (one != other) & (one != UNLABELLED) & (other != UNLABELLED)
    border = torch.zeros_like(episode.context)
    border[source[across]] = border[target[across]] = True
    return border


def near_border(episode: Episode, hops: int = HOPS) -> Tensor:
    """Nodes at most ``hops`` steps from one on a border, [N] bool."""
    source, target = plain_edges(episode.graph.edge_index)
    near = on_border(episode)
    for _ in range(hops):
        step = near.clone()
        step[target[near[source]]] = step[source[near[target]]] = True
        near = step
    return near


@dataclass(frozen=True)
class BorderShares(Stored):
    """Which share of the hidden nodes, of their uncertainty and of the mistakes lies near a border.

    A share of nothing (the epistemic uncertainty of a model without a latent, the mistakes of a perfect one) is NaN.
    ``accuracy``: on all hidden nodes; ``graphs``: how many have a border at all.
    """

    nodes: float
    total: float
    aleatoric: float
    epistemic: float
    mistakes: float
    accuracy: float
    graphs: int


@dataclass(frozen=True, repr=False)
class BorderTable(RateTable[BorderShares]):
    """Shares near a border, at most ``hops`` steps away, by context rate."""

    task: str
    model: str
    split: str
    hops: int
    draws: int
    samples: int
    seed: int
    rates: dict[str, BorderShares]
    made: dict[str, Any] | None = None

    @property
    def title(self) -> str:
        return f"{self.model} on {self.task}: shares of what lies within {self.hops} steps of a border, {self.split} graphs"


def border_shares(
    predictor: Predictor,
    task: Task | Data | Sequence[Data],
    rates: Sequence[float],
    *,
    hops: int = HOPS,
    draws: int = 1,
    samples: int = MANY_SAMPLES,
    seed: int = 0,
    split: Split = "test",
) -> BorderTable:
    """What share of a predictor's uncertainty and of its mistakes lies near a border, over a whole split."""
    task = as_task(task, predictor)
    table = {}
    for rate in rates:
        asked = (
            answer(predictor, task, rate, draw, split, samples=samples, alone=True) for draw in draw_seeds(seed, draws)
        )
        row = shares_of(chain.from_iterable(asked), hops)
        table[str(rate)] = replace(row, graphs=row.graphs // draws)
    return BorderTable(task.name, predictor.name, split, hops, draws, samples, seed, table)


def shares_of(answers: Iterable[Answers], hops: int = HOPS) -> BorderShares:
    """From answers graph by graph: sums over all graphs that have a border, so that a graph counts by its uncertainty."""
    near_sum, all_sum = (torch.zeros(5, dtype=torch.float64) for _ in range(2))
    graphs = 0
    for one in answers:
        near = near_border(one.episode, hops)
        if not bool(near.any()):
            continue
        graphs += 1
        said = one.prediction
        columns = [torch.ones_like(one.right), said.total, said.aleatoric, said.epistemic, ~one.right]
        values = torch.stack([column.double() for column in columns])
        near_sum += values[:, near[one.nodes]].sum(1)
        all_sum += values.sum(1)
    nodes, total, aleatoric, epistemic, mistakes = (near_sum / all_sum).tolist()
    right = 1 - float(all_sum[-1] / all_sum[0])
    return BorderShares(nodes, total, aleatoric, epistemic, mistakes, right, graphs)
