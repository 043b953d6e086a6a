"""From a summary of the context to a normal distribution over the latent variable."""

from __future__ import annotations

import torch.nn as nn
from torch import Tensor
from torch.distributions import Normal


class LatentHead(nn.Module):
    r"""z ~ Normal(μ(r), σ(r)) with r first passed through Linear, ReLU.

    .. math:: \sigma = 0.1 + 0.9 \cdot \operatorname{sigmoid}(W_\sigma r)

    The paper names two linear maps; the bounded σ is the convention of the work it cites for its evaluation (Le et al.
    2018), which keeps the KL finite and the sample away from collapse. ``variance``: the same expression is σ², as in the
    paper's diag[σ(r)] read to the letter.

    Shapes: [B, …, in] → Normal over [B, …, z].
    """

    def __init__(self, in_width: int, hidden: int, z_width: int, variance: bool = False) -> None:
        super().__init__()
        self.variance = variance
        self.hidden = nn.Linear(in_width, hidden)
        self.mean = nn.Linear(hidden, z_width)
        self.scale = nn.Linear(hidden, z_width)

    def forward(self, r: Tensor) -> Normal:
        h = self.hidden(r).relu()
        spread = 0.1 + 0.9 * self.scale(h).sigmoid()
        return Normal(self.mean(h), spread.sqrt() if self.variance else spread, validate_args=False)
