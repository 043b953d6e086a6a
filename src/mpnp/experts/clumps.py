"""Experts that let nodes gather around the classes."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from .context import FOLDS, Context
from .judge import log_shares
from .parts import parts

MOST_GATHERED = 20_000  # nodes whose clumps are looked for
MOST_PAIRED = 2_000_000  # and of these with as many classes
GATHERINGS = 10  # steps of it
MANY, FEWER = 256, 4  # classes, with more of which so many steps have to do
SHARP = 20.0  # how soft the clumps are


def clumps(context: Context, basis: Tensor) -> Tensor:
    r"""Soft k-means on the sphere, seeded by the labels, which stay where they are: ``basis`` [N, d] → log-probabilities [N, C].

    Fitted once with all labels and once without those of each fold, on a part of the nodes where there are very many.
    """
    judge, classes = context.judge, context.judge.classes
    place = F.normalize(basis - basis.mean(0), dim=1)
    given = context.labels.t().repeat(FOLDS + 1, 1, 1)  # [folds + 1, C, n]
    given[context.fold, :, torch.arange(context.count)] = 0
    known = given.sum(1, keepdim=True)
    most = max(1, min(MOST_GATHERED, MOST_PAIRED // classes))
    seen = place if place.size(0) <= most else place[:: -(-place.size(0) // most)]
    mine = place[context.nodes]
    middle = F.normalize(given.flatten(0, 1) @ mine, dim=1)  # [(folds + 1) C, d]: one product for all folds
    for _ in range(GATHERINGS if classes <= MANY else FEWER):
        near, lent = _near(middle @ seen.t(), classes), _near(middle @ mine.t(), classes)
        told = lent * known - given  # those whose label is told apart
        middle = F.normalize(near.flatten(0, 1) @ seen - told.flatten(0, 1) @ mine, dim=1)
    middle = middle.view(FOLDS + 1, classes, -1) * (judge.counts > 0).view(1, -1, 1)
    mine_in_parts = parts(context.count, middle[0].numel())
    left_out = torch.cat([_apart(mine[part], middle, context.fold[part]) for part in mine_in_parts])
    temperature, log_p = judge.sharpen(left_out)
    return context.opinion(log_shares(temperature * (place @ middle[FOLDS].t())), log_p)


def _apart(mine: Tensor, middle: Tensor, fold: Tensor) -> Tensor:
    """How near each of ``mine`` [n, d] is to the ``middle`` [folds + 1, C, d] of every class without its own fold, [n, C]."""
    return (mine.unsqueeze(1) @ middle[fold].transpose(1, 2)).squeeze(1).double()


def _near(cosine: Tensor, classes: int) -> Tensor:
    """A softmax over classes of values between -1 and 1, [F C, N] → [F, C, N]: nodes last in memory, which is fast."""
    weight = cosine.mul_(SHARP).exp_().view(-1, classes, cosine.size(1))
    return weight.div_(weight.sum(1, keepdim=True))
