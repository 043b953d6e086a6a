r"""When to stop: the accuracy to expect now, and after some more labels, with an interval.

The model itself believes that it is right about :math:`\bar p` of the nodes without a label, the mean of their highest probabilities. How far
that can be trusted shows on the given labels, each predicted as if it were not known: it was right about h of them and
believed to be right about e. Labels that were asked for because they are hard lower both alike, so the ratio still holds elsewhere:

.. math::
    a \sim Beta(s \hat a, s (1 - \hat a)), \qquad \hat a = \bar p \, \frac{h + m}{e + m}, \qquad \frac1s = \frac1{s_0 + s_1 n} + \frac1N

m keeps the ratio near 1 with few labels; :math:`s_0, s_1` make the 90 % interval hold on made-up graphs, and the N nodes without a label
are a sample themselves: of few of them the share that is right varies by chance. With k more labels the share of mistakes is expected to
fall as a power of the labels, at the rate which looking one answer ahead finds; the interval widens, since the rate is a guess.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from ..graphs import UNLABELLED
from ..prediction import Prediction

TRUST = 20.0  # m: labels for which the model's own account of itself counts
FIRST, EACH = 6.0, 0.3  # s₀ and s₁
RATE = 0.35  # by which mistakes fall as a power of the labels, where one answer ahead says nothing
STEEPEST = 1.0
LEVEL = 0.9  # of the interval


@dataclass(frozen=True)
class Forecast:
    """The accuracy on nodes without a label to expect with ``more`` labels than now, and its interval of ``level``."""

    more: int
    accuracy: float
    low: float
    high: float
    level: float = LEVEL

    @property
    def sentence(self) -> str:
        when = "now" if not self.more else f"after {self.more} more {'label' if self.more == 1 else 'labels'}"
        figures = (round(100 * value) for value in (self.accuracy, self.low, self.high))
        return "about {} % right {} (90 %: {} to {} %)".format(next(figures), when, *figures)


def forecast(
    prediction: Prediction,
    y: Tensor,
    more: tuple[int, ...] = (0, 10, 50),
    *,
    left_out: Tensor | None = None,
    gain: float | None = None,
) -> list[Forecast]:
    """One forecast for every number of labels in ``more``.

    ``y`` [N]: the labels given, -1 where there is none. ``left_out`` [n, C]: what is believed of the labelled nodes, in rising
    order, as if their own label were not known; by default what ``prediction`` says of them, which is that of ``universal``.
    ``gain``: how many nodes the best next answer is expected to set right, as 'expected' scores it.
    """
    labelled = (y != UNLABELLED).nonzero().squeeze(1)
    hidden = (y == UNLABELLED).nonzero().squeeze(1)
    if not hidden.numel():
        return [Forecast(k, 1.0, 1.0, 1.0) for k in more]
    belief = float(prediction.probabilities[hidden].amax(1).mean())
    said = prediction.probabilities[labelled] if left_out is None else left_out
    counts = torch.bincount(y[labelled], minlength=said.size(1))
    countable = counts[y[labelled]] > 1  # the only label of its class cannot be known without itself
    right = float((said.argmax(1) == y[labelled])[countable].sum())
    thought = float(said.amax(1)[countable].sum())
    now = belief * (right + TRUST) / (thought + TRUST)
    strength = FIRST + EACH * float(countable.sum())
    rate = RATE
    if gain is not None and labelled.numel():
        rate = min(max(gain, 0.0) * labelled.numel() / max((1 - min(now, 0.999)) * hidden.numel(), 1e-9), STEEPEST)
    return [_one(k, now, strength, rate, labelled.numel(), max(hidden.numel() - k, 1)) for k in more]


def _one(more: int, now: float, strength: float, rate: float, labels: int, hidden: int) -> Forecast:
    growth = (labels + 1 + more) / (labels + 1)
    mean = min(max(1 - (1 - min(now, 1.0)) * growth**-rate, 1e-3), 1 - 1e-3)
    weight = 1 / ((1 + math.log(growth)) / strength + 1 / hidden)
    from scipy import stats  # slow to import

    spread = stats.beta(weight * mean, weight * (1 - mean))
    tail = (1 - LEVEL) / 2
    return Forecast(more, mean, float(spread.ppf(tail)), float(spread.ppf(1 - tail)))
