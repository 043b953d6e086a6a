"""Features on scales that a network reads easily: standardised, as waves, as logarithms."""

from __future__ import annotations

import torch
import torch.nn as nn
from torch import Tensor


def spread(x: Tensor) -> Tensor:
    """Standard deviation of every column, [N, F] → [F]; 1 of a constant one."""
    found = x.std(0, unbiased=False)
    return torch.where(found > 1e-6, found, torch.ones_like(found))


def waves(x: Tensor, octaves: int) -> Tensor:
    """x and the sines and cosines of 1, 2, 4, … times x, [N, F] → [N, F (1 + 2 octaves)].

    Which part a point belongs to changes within a small step, and a network given bare coordinates learns such functions of
    them slowly (Tancik et al., 2020).
    """
    if not octaves:
        return x
    angles = torch.cat([2.0**k * x for k in range(octaves)], -1)
    return torch.cat([x, angles.sin(), angles.cos()], -1)


class Logs(nn.Module):
    r"""The logarithms of amounts, :math:`\mathrm{asinh}(25 x / s)` with :math:`s` the spread of x, standardised like x itself.

    A few lengths, volumes or counts are many times as large as the others, among which small differences and ratios say most.
    Zero and signs are kept: within a twenty-fifth of a spread this is nearly straight. Shapes: [N, F] → [N, F].
    """

    STEEPNESS = 25

    def __init__(self, features: int) -> None:
        super().__init__()
        for name, value in (("zero", 0.0), ("mean", 0.0), ("scale", 1.0)):
            self.register_buffer(name, torch.full((features,), value))
        self.zero: Tensor
        self.mean: Tensor
        self.scale: Tensor

    def standardise_by(self, x: Tensor, mean: Tensor, scale: Tensor) -> None:
        """Learn from raw features [N, F], which are standardised by ``mean`` and ``scale``, where zero is and how logs spread."""
        self.zero.copy_(-mean / scale)
        bent = (self.STEEPNESS * x / scale).asinh()
        self.mean.copy_(bent.mean(0))
        self.scale.copy_(spread(bent))

    def forward(self, x: Tensor) -> Tensor:
        """Of standardised features."""
        return ((self.STEEPNESS * (x - self.zero)).asinh() - self.mean) / self.scale
