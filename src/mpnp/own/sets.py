"""Sets of labels that hold the true one as often as asked for, from nothing but the labels given."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from ..defaults import COVERAGE
from ..episode import Episode
from ..models.calibration import check_coverage
from ..prediction import Prediction

ENOUGH = 30  # labels from which on the promise is worth a number


@dataclass(frozen=True)
class LabelSets:
    """Shapes: ``inside`` [N, C] bool, which labels are in each node's set. ``labels``: how many given labels it stands on;
    ``promise``: what can be said of it, in a sentence."""

    inside: Tensor
    coverage: float
    labels: int

    @property
    def kept(self) -> bool:
        """Whether there were labels enough to promise anything but all classes."""
        return self.labels >= fewest(self.coverage)

    @property
    def promise(self) -> str:
        share = f"{100 * self.coverage:g} %"
        if not self.kept:
            return (
                f"{self.labels} labels of classes with at least two are too few to promise {share}: every class stays "
                f"possible; give at least {fewest(self.coverage)}."
            )
        if self.labels < ENOUGH:
            return f"The sets hold the true label about {share} of the time, as far as {self.labels} labels can tell."
        return (
            f"The sets hold the true label {share} of the time, by {self.labels} labels predicted without themselves."
        )


def fewest(coverage: float) -> int:
    """The fewest labels by which a coverage can be promised."""
    return math.ceil(1 / (1 - coverage) - 1 - 1e-9)


def sets_from_context(prediction: Prediction, episode: Episode, coverage: float = COVERAGE) -> LabelSets:
    r"""Conformal sets of a predictor that predicts context nodes leave-one-out: no label is held back for them.

    A set holds every label whose probability reaches the threshold that the true labels of a ``coverage`` share of the
    context nodes reach. If labels were given class by class, the context is not drawn as the other nodes are; its nodes are
    weighed by how common their class is believed to be among the others, over how common it is in the context
    (conformal prediction under label shift). Context nodes whose class has no other label say nothing and are left out.
    A set is never empty: it holds the likeliest label.
    """
    check_coverage(coverage)
    p, context = prediction.probabilities, episode.context.nonzero().squeeze(1)
    y = episode.y[context]
    count = torch.bincount(y, minlength=episode.num_classes).double()
    told = count[y] > 1
    context, y = context[told], y[told]
    true = p[context, y].double()
    inside = torch.ones_like(p, dtype=torch.bool)
    found = LabelSets(inside, coverage, y.numel())
    if not found.kept:
        return found
    hidden = p[~episode.context]
    believed = hidden.double().mean(0) if hidden.numel() else count / count.sum()
    weight = (believed / count.clamp(min=1))[y]
    threshold = weighted_threshold(true, weight, coverage)
    inside = p >= threshold
    likeliest = p.argmax(1, keepdim=True)
    return LabelSets(inside.scatter(1, likeliest, True), coverage, y.numel())


def weighted_threshold(true: Tensor, weight: Tensor, coverage: float) -> float:
    """The largest threshold that a new node's true label reaches with the probability ``coverage``.

    ``true`` [n] are the probabilities of true labels, each of them counting ``weight`` [n]; the new node itself counts as
    one of mean weight that lies below all of them.
    """
    order, weight = true.argsort(), weight.double()
    share = weight[order] / (weight.sum() + weight.mean())
    below = weight.mean() / (weight.sum() + weight.mean()) + share.cumsum(0) - share
    # below[i]: the share of nodes, the new one among them, under the i-th threshold
    allowed = (below <= 1 - coverage + 1e-9).nonzero().flatten()
    return float(true[order[allowed[-1]]]) if allowed.numel() else 0.0
