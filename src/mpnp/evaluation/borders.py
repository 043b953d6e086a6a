"""Uncertain at the borders? How much of a model's uncertainty lies where two parts meet.

The paper shows pictures: an MPNP is unsure where parts of a shape meet, which is where the doubt really is, an NP on whole
stretches of it. Here it is measured. A node is on a border if a neighbour has another true label; near one, if a border
node is at most two steps away. A model that is unsure everywhere alike has as much of its uncertainty near borders as
there are nodes there, so the share of nodes is what to compare with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..episode import Episode
from ..graphs import UNLABELLED, plain_edges
from ..prediction import Predictor
from ..tasks.base import Split, Task
from .evaluate import single_graphs

HOPS = 2
SHARES = ("nodes", "total", "aleatoric", "epistemic", "mistakes")


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


def border_shares(
    predictor: Predictor,
    task: Task,
    rates: Sequence[float],
    *,
    hops: int = HOPS,
    draws: int = 1,
    samples: int = 32,
    seed: int = 0,
    split: Split = "test",
) -> dict[str, Any]:
    """What share of the hidden nodes, of their uncertainty and of the mistakes lies near a border, over a whole split.

    Sums over all graphs that have a border at all, so that a graph counts by its uncertainty. A share of nothing (the
    epistemic uncertainty of a model without a latent, the mistakes of a perfect one) is NaN. Per rate also ``accuracy``.
    """
    table = {}
    for rate in rates:
        near_sum, all_sum = (torch.zeros(len(SHARES), dtype=torch.float64) for _ in range(2))
        graphs = 0
        for draw in range(draws):
            for number, episode in enumerate(single_graphs(task, rate, seed * 10_007 + draw, split)):
                near = near_border(episode, hops)
                if not bool(near.any()):
                    continue
                graphs += 1
                nodes = episode.unlabelled_targets.nonzero().squeeze(1)
                said = predictor.predict(episode, samples=samples, seed=number, nodes=nodes)
                wrong = said.label != episode.y[nodes]
                columns = [torch.ones_like(wrong), said.total, said.aleatoric, said.epistemic, wrong]
                values = torch.stack([column.double() for column in columns])
                near_sum += values[:, near[nodes]].sum(1)
                all_sum += values.sum(1)
        row = dict(zip(SHARES, (near_sum / all_sum).tolist(), strict=True))
        right = 1 - float(all_sum[SHARES.index("mistakes")] / all_sum[SHARES.index("nodes")])
        table[str(rate)] = row | {"accuracy": right, "graphs": graphs // draws}
    return {
        "task": task.name,
        "model": predictor.name,
        "split": split,
        "hops": hops,
        "draws": draws,
        "samples": samples,
        "seed": seed,
        "rates": table,
    }
