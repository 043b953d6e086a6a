"""A prediction: class probabilities with the uncertainty split into its two sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from .defaults import SAMPLES
from .episode import Episode

SMALLEST = 1e-12  # a probability that still has a logarithm


def entropy(probabilities: Tensor) -> Tensor:
    """Entropy in nats over the last dimension."""
    return torch.special.entr(probabilities).sum(-1)


def tempered(probabilities: Tensor, temperature: float) -> Tensor:
    r""":math:`p^{1/T}`, made to sum to one again, [..., C]: T > 1 takes confidence back, T < 1 adds some; no order changes."""
    if temperature == 1:
        return probabilities
    return (probabilities.clamp(min=SMALLEST).log() / temperature).softmax(-1)


@dataclass(repr=False)
class Prediction:
    r"""Class probabilities averaged over samples of the latent variable, and the uncertainty they leave.

    .. math::
        \underbrace{H[\tfrac1K \sum_k p_k]}_{total} =
        \underbrace{\tfrac1K \sum_k H[p_k]}_{aleatoric} + \underbrace{I}_{epistemic}

    ``deviation`` is the predicted standard deviation, the root of its mean square over classes; ``None`` where the predictor
    draws no samples.

    Shapes: ``probabilities`` [N, C]; ``label``, ``total``, ``aleatoric``, ``epistemic`` [N], the last three in nats;
    ``deviation`` [N].
    """

    probabilities: Tensor
    aleatoric: Tensor
    deviation: Tensor | None = None

    @classmethod
    def from_samples(cls, probabilities: Tensor, scale: Tensor | None = None, temperature: float = 1.0) -> Prediction:
        r"""From the class probabilities under each of K latent samples, [K, N, C].

        ``scale`` [K, N, C] is the standard deviation of the likelihood itself, if it has one: the variances add up.

        ``temperature`` tempers the mean :math:`\bar p`, so that no label changes. All samples' classes are weighed by the same
        :math:`\bar p_T / \bar p`: what speaks for a sample once the label is known stays, and the split of total stays exact.
        """
        mean, weight = probabilities.mean(0), probabilities.new_ones(1, 1, 1)
        if temperature != 1:
            after = tempered(mean, temperature)
            joint = probabilities * (after / mean.clamp(min=SMALLEST))
            weight = joint.sum(-1, keepdim=True).clamp(min=SMALLEST)  # of each sample at each node, 1 on the mean
            mean, probabilities = after, joint / weight
        variance = (weight * (probabilities - mean).square()).mean(0)
        if scale is not None:
            variance = variance + (weight * scale.square()).mean(0)
        return cls(mean, (weight.squeeze(-1) * entropy(probabilities)).mean(0), variance.mean(-1).sqrt())

    @classmethod
    def certain(cls, probabilities: Tensor) -> Prediction:
        """From one set of probabilities [N, C], as of a predictor without a latent variable: nothing is epistemic."""
        return cls(probabilities, entropy(probabilities))

    def __repr__(self) -> str:
        nodes, classes = self.probabilities.shape
        if not nodes:
            return f"{type(self).__name__}(nodes=0, classes={classes})"
        sure, doubt = float(self.probabilities.amax(-1).mean()), float(self.total.mean())
        return f"{type(self).__name__}(nodes={nodes}, classes={classes}, mean confidence={sure:.3f}, mean doubt={doubt:.3f} nats)"

    def to(self, device: torch.device | str) -> Prediction:
        deviation = None if self.deviation is None else self.deviation.to(device)
        return replace(
            self, probabilities=self.probabilities.to(device), aleatoric=self.aleatoric.to(device), deviation=deviation
        )

    @property
    def label(self) -> Tensor:
        return self.probabilities.argmax(-1)

    @property
    def total(self) -> Tensor:
        return entropy(self.probabilities)

    @property
    def epistemic(self) -> Tensor:
        return (self.total - self.aleatoric).clamp(min=0)

    def at(self, nodes: Tensor | None) -> Prediction:
        """The rows ``nodes`` [Q] of this prediction; all of them for ``None``."""
        if nodes is None:
            return self
        deviation = None if self.deviation is None else self.deviation[nodes]
        return Prediction(self.probabilities[nodes], self.aleatoric[nodes], deviation)

    @classmethod
    def join(cls, parts: Sequence[Prediction], classes: int) -> Prediction:
        """Predictions for several sets of nodes, one after the other."""
        if not parts:
            return cls(torch.zeros(0, classes), torch.zeros(0))
        deviations = [p.deviation for p in parts if p.deviation is not None]
        return cls(
            torch.cat([p.probabilities for p in parts]),
            torch.cat([p.aleatoric for p in parts]),
            torch.cat(deviations) if len(deviations) == len(parts) else None,
        )

    def where(self, mask: Tensor, other: Prediction) -> Prediction:
        """This prediction on the nodes of ``mask`` [N], ``other`` elsewhere."""
        one, two = self.deviation, other.deviation
        return Prediction(
            torch.where(mask.unsqueeze(-1), self.probabilities, other.probabilities),
            torch.where(mask, self.aleatoric, other.aleatoric),
            None if one is None or two is None else torch.where(mask, one, two),
        )


class Predictor(Protocol):
    """Anything that turns an episode into a prediction, learned or not.

    ``sees_own_label``: whether a context node's prediction may depend on its own label by another road than a summary
    of the whole context; evaluation then cross-fits the context nodes.
    """

    @property
    def name(self) -> str: ...

    @property
    def sees_own_label(self) -> bool: ...

    def predict(
        self, episode: Episode, *, samples: int = SAMPLES, seed: int = 0, nodes: Tensor | None = None
    ) -> Prediction:
        """Predict every node of the episode, or only ``nodes`` [Q]; ``samples`` latent draws, reproducible by ``seed``."""
        ...
