"""Does a model know what it does not know? Its uncertainty on graphs of its own kind and of another, as context grows.

Epistemic uncertainty is what more labels, or training on such graphs, would take away. So it should fall as context grows,
and be higher on graphs of a family that the model was not trained on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..prediction import Predictor
from ..tasks.base import Split, Task
from .evaluate import single_graphs

PARTS = ("total", "aleatoric", "epistemic")


def mean_uncertainty(
    predictor: Predictor,
    task: Task,
    rates: Sequence[float],
    *,
    graphs: int | None = None,
    samples: int = 32,
    seed: int = 0,
    split: Split = "test",
) -> dict[str, Any]:
    """Mean uncertainty of the hidden nodes in nats, split, and accuracy, per context rate; NaN where nothing is hidden.

    ``graphs``: only so many of the split's. More ``samples`` than elsewhere: with K of them the epistemic part cannot
    exceed log K, and comes out too small when they are few.
    """
    table = {}
    for rate in rates:
        sums = torch.zeros(2 + len(PARTS), dtype=torch.float64)
        for number, episode in enumerate(single_graphs(task, rate, seed, split, graphs)):
            nodes = episode.unlabelled_targets.nonzero().squeeze(1)
            said = predictor.predict(episode, samples=samples, seed=number, nodes=nodes)
            right = said.label == episode.y[nodes]
            columns = [torch.ones_like(right), right, *(getattr(said, part) for part in PARTS)]
            sums += torch.stack([column.double().sum() for column in columns])
        names = ("accuracy", *PARTS)
        table[str(rate)] = dict(zip(names, (sums[1:] / sums[0]).tolist(), strict=True))
    return {
        "task": task.name,
        "model": predictor.name,
        "split": split,
        "samples": samples,
        "seed": seed,
        "rates": table,
    }
