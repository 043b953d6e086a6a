"""How raw values become probabilities, and which of several sharpnesses is the right one."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from .ridge import LAMBDAS, Fit

TEMPERATURES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
PINCHES = (1e-3, 1e-2, 1e-1, 1.0)  # of the class shares, in mean masses, added to what has arrived
EXPONENTS = (0.5, 1.0, 2.0)
LOWEST = -12.0  # log-probability


class Judge:
    """Turns an expert's raw values into probabilities: the sharpness and the λ that predict the context best, left one out."""

    def __init__(self, y: Tensor, classes: int) -> None:
        self.y, self.classes = y, classes
        self.counts = torch.bincount(y, minlength=classes).double()
        self.shares = (self.counts + 1) / (self.counts.sum() + classes)
        self.one_hot = F.one_hot(y, classes).double()
        self.countable = self.counts[y] > 1 if y.numel() else torch.zeros(0, dtype=torch.bool)

    @property
    def centred(self) -> Tensor:
        return self.one_hot - self.shares

    def nll(self, log_p: Tensor) -> Tensor:
        """Sums over countable context nodes, [..., n, C] → [...]."""
        index = self.y.view(*[1] * (log_p.dim() - 2), -1, 1).expand(*log_p.shape[:-1], 1)
        picked = log_p.gather(-1, index).squeeze(-1).clamp(min=LOWEST)
        return -(picked * self.countable).sum(-1)

    def choose(self, fit: Fit) -> tuple[int, float, Tensor]:
        """λ's place, temperature, and log-probabilities of the context [n, C]."""
        logits = (fit.left_out + self.shares).unsqueeze(1) * torch.tensor(TEMPERATURES).view(1, -1, 1, 1)
        log_p = logits.clamp(-60, 60).log_softmax(-1)
        loss = self.nll(log_p) + _RIDGE_PRIOR
        at = int(loss.argmin())
        lam, temperature = divmod(at, len(TEMPERATURES))
        return lam, TEMPERATURES[temperature], log_p[lam, temperature]

    def sharpen(self, left_out: Tensor) -> tuple[float, Tensor]:
        """The temperature for values between -1 and 1, and log-probabilities of the context [n, C]."""
        log_p = (left_out * torch.tensor(TEMPERATURES).view(-1, 1, 1)).log_softmax(-1)
        loss = self.nll(log_p) + 0.5 * (torch.tensor(TEMPERATURES, dtype=torch.double) / 8).log().square()
        at = int(loss.argmin())
        return TEMPERATURES[at], log_p[at]

    def spread(self, mass: Tensor, mean: Tensor) -> tuple[Tensor, float, float]:
        """Log-probabilities of the context [n, C] from own-label-free ``mass`` [n, C]; the pinch and the exponent."""
        log_p = torch.stack(
            [torch.stack([self.shared_out(mass, mean, pinch, e) for e in EXPONENTS]) for pinch in PINCHES]
        )
        loss = self.nll(log_p) + _SPREAD_PRIOR
        pinch, exponent = divmod(int(loss.argmin()), len(EXPONENTS))
        return log_p[pinch, exponent], PINCHES[pinch], EXPONENTS[exponent]

    def shared_out(self, mass: Tensor, mean: Tensor, pinch: float, exponent: float) -> Tensor:
        filled = mass.double() + pinch * mean * self.shares
        return (filled.clamp(min=1e-30).log() * exponent).log_softmax(-1)


_RIDGE_PRIOR = 0.5 * (
    torch.tensor(LAMBDAS, dtype=torch.double).log10().add(1).square().unsqueeze(1)
    + (torch.tensor(TEMPERATURES, dtype=torch.double) / 8).log().square().unsqueeze(0)
)
_SPREAD_PRIOR = 0.5 * (
    torch.tensor(PINCHES, dtype=torch.double).log10().add(1).square().unsqueeze(1)
    + torch.tensor(EXPONENTS, dtype=torch.double).log().square().unsqueeze(0)
)
