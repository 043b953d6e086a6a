"""Experts that let nodes gather around the classes."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from .context import FOLDS, Context

MOST_GATHERED = 20_000  # nodes whose clumps are looked for
GATHERINGS = 10  # steps of it
SHARP = 20.0  # how soft the clumps are


def clumps(context: Context, basis: Tensor) -> Tensor:
    r"""Soft k-means on the sphere, seeded by the labels, which stay where they are: ``basis`` [N, d] → log-probabilities [N, C].

    Fitted once with all labels and once without those of each fold, on a part of the nodes where there are very many.
    """
    judge = context.judge
    place = F.normalize(basis - basis.mean(0), dim=1)
    given = context.labels.repeat(FOLDS + 1, 1, 1)  # [folds + 1, n, C]
    given[context.fold, torch.arange(context.count)] = 0
    known = given.sum(2, keepdim=True)
    seen = place if place.size(0) <= MOST_GATHERED else place[:: -(-place.size(0) // MOST_GATHERED)]
    mine, seeds = place[context.nodes], given.transpose(1, 2) @ place[context.nodes]  # [folds + 1, C, d]
    middle = F.normalize(seeds, dim=2)
    for _ in range(GATHERINGS):
        near = _near(seen @ middle.transpose(1, 2))
        lent = _near(mine @ middle.transpose(1, 2)) * known  # those whose label is told apart
        middle = F.normalize(near.transpose(1, 2) @ seen - (lent - given).transpose(1, 2) @ mine, dim=2)
    middle = torch.where(judge.counts.view(1, -1, 1) > 0, middle, torch.zeros_like(middle))
    left_out = (mine.unsqueeze(1) @ middle[context.fold].transpose(1, 2)).squeeze(1).double()
    temperature, log_p = judge.sharpen(left_out)
    return context.opinion((temperature * (place @ middle[FOLDS].t())).log_softmax(-1), log_p)


def _near(cosine: Tensor) -> Tensor:
    """A softmax over few classes of values between -1 and 1, several times faster than PyTorch's."""
    weight = torch.exp_(SHARP * cosine)
    return weight / weight.sum(-1, keepdim=True)
