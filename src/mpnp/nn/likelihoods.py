"""Decoder outputs to a distribution over labels; every likelihood passes one contract test."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Categorical, Distribution, Independent, Normal


class Likelihood(nn.Module, ABC):
    """``outputs(C)`` numbers per node become a distribution over its label. Shapes: ``out`` [Q, …, outputs], ``y`` [Q]."""

    @staticmethod
    @abstractmethod
    def outputs(classes: int) -> int:
        """How many numbers the decoder gives per node."""

    @abstractmethod
    def forward(self, out: Tensor) -> Distribution: ...

    @abstractmethod
    def log_prob(self, out: Tensor, y: Tensor) -> Tensor:
        """log p(y | out), [Q, …]."""

    @abstractmethod
    def probabilities(self, out: Tensor) -> Tensor:
        """Class probabilities [Q, …, C]."""

    def scale(self, out: Tensor) -> Tensor | None:
        """The standard deviation the decoder itself gives the label [Q, …, C], if it gives one."""
        return None


class CategoricalLikelihood(Likelihood):
    """p(y = c) = softmax(out)_c."""

    @staticmethod
    def outputs(classes: int) -> int:
        return classes

    def forward(self, out: Tensor) -> Categorical:
        return Categorical(logits=out)

    def log_prob(self, out: Tensor, y: Tensor) -> Tensor:
        index = y.view(-1, *[1] * (out.dim() - 1)).expand(*out.shape[:-1], 1)
        return out.log_softmax(-1).gather(-1, index).squeeze(-1)

    def probabilities(self, out: Tensor) -> Tensor:
        return out.softmax(-1)


class GaussianLikelihood(Likelihood):
    """The paper's: the one-hot label ~ Normal(softmax(μ), 0.1 + 0.9 softplus(σ)); class probabilities are the mean.

    ``variance``: 0.1 + 0.9 softplus(σ) is the variance of the label, not its standard deviation.
    """

    def __init__(self, variance: bool = False) -> None:
        super().__init__()
        self.variance = variance

    @staticmethod
    def outputs(classes: int) -> int:
        return 2 * classes

    def forward(self, out: Tensor) -> Independent:
        mean, scale = self._parts(out)
        return Independent(Normal(mean, scale), 1)

    def log_prob(self, out: Tensor, y: Tensor) -> Tensor:
        mean, scale = self._parts(out)
        one_hot = F.one_hot(y, mean.size(-1)).to(mean).view(-1, *[1] * (out.dim() - 2), mean.size(-1))
        density = -0.5 * ((one_hot - mean) / scale) ** 2 - scale.log() - 0.5 * math.log(2 * math.pi)
        return density.sum(-1)

    def probabilities(self, out: Tensor) -> Tensor:
        return self._parts(out)[0]

    def scale(self, out: Tensor) -> Tensor:
        return self._parts(out)[1]

    def _parts(self, out: Tensor) -> tuple[Tensor, Tensor]:
        mean, scale = out.chunk(2, -1)
        spread = 0.1 + 0.9 * F.softplus(scale)
        return mean.softmax(-1), spread.sqrt() if self.variance else spread


LIKELIHOODS: dict[str, type[Likelihood]] = {"categorical": CategoricalLikelihood, "gaussian": GaussianLikelihood}
