"""How raw values become probabilities, and which of several sharpnesses is the right one."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from .parts import parts
from .ridge import LAMBDAS, MANY, Fit

TEMPERATURES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
PINCHES = (1e-3, 1e-2, 1e-1, 1.0)  # of the class shares, in mean masses, added to what has arrived
EXPONENTS = (0.5, 1.0, 2.0)
LOWEST = -12.0  # log-probability


def log_shares(scores: Tensor) -> Tensor:
    """log softmax over few classes of many nodes, [..., N, C]: nodes last in memory, several times faster than row by row."""
    if scores.size(-1) > MANY:
        return scores.log_softmax(-1)
    return scores.transpose(-1, -2).contiguous().log_softmax(-2).transpose(-1, -2)


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

    def nll(self, log_p: Tensor, part: slice = slice(None)) -> Tensor:
        """Sums over countable context nodes, all or a ``part`` of them, [..., n, C] → [...]."""
        index = self.y[part].view(*[1] * (log_p.dim() - 2), -1, 1).expand(*log_p.shape[:-1], 1)
        picked = log_p.gather(-1, index).squeeze(-1).clamp(min=LOWEST)
        return -(picked * self.countable[part]).sum(-1)

    def _loss(self, choices: int, log_p: Callable[[slice], Tensor]) -> Tensor:
        """The :meth:`nll` of so many ``choices`` [...], whose ``log_p`` [..., n, C] are made part by part."""
        width = choices * self.classes
        whole = [self.nll(log_p(part), part) for part in parts(self.y.numel(), width)]
        return torch.stack(whole).sum(0) if len(whole) > 1 else whole[0]

    def choose(self, fit: Fit) -> tuple[int, float, Tensor]:
        """λ's place, temperature, and log-probabilities of the context [n, C]."""

        def log_p(left_out: Tensor, temperature: Tensor) -> Tensor:
            """[..., n, C]; nodes last in memory, as in :func:`log_shares`, and so before there are many."""
            values = (left_out + self.shares.to(left_out)).mT.contiguous()
            return (values * temperature).clamp_(-60, 60).log_softmax(-2).mT

        sharp = torch.tensor(TEMPERATURES).view(1, -1, 1, 1)
        loss = self._loss(_RIDGE_PRIOR.numel(), lambda part: log_p(fit.left_out[:, part].unsqueeze(1), sharp))
        lam, temperature = divmod(int((loss + _RIDGE_PRIOR).argmin()), len(TEMPERATURES))
        return lam, TEMPERATURES[temperature], log_p(fit.left_out[lam], sharp.flatten()[temperature])

    def sharpen(self, left_out: Tensor) -> tuple[float, Tensor]:
        """The temperature for values between -1 and 1, and log-probabilities of the context [n, C]."""
        sharp = torch.tensor(TEMPERATURES).view(-1, 1, 1)
        loss = self._loss(len(TEMPERATURES), lambda part: log_shares(left_out[part] * sharp))
        at = int((loss + 0.5 * (torch.tensor(TEMPERATURES, dtype=torch.double) / 8).log().square()).argmin())
        return TEMPERATURES[at], log_shares(left_out * sharp[at])

    def spread(self, mass: Tensor, mean: Tensor) -> tuple[Tensor, float, float]:
        """Log-probabilities of the context [n, C] from own-label-free ``mass`` [n, C]; the pinch and the exponent."""

        def choices(part: slice) -> Tensor:
            return torch.stack(
                [torch.stack([self.shared_out(mass[part], mean, pinch, e) for e in EXPONENTS]) for pinch in PINCHES]
            )

        mass = mass.double()
        loss = self._loss(_SPREAD_PRIOR.numel(), choices) + _SPREAD_PRIOR
        at = divmod(int(loss.argmin()), len(EXPONENTS))
        pinch, exponent = PINCHES[at[0]], EXPONENTS[at[1]]
        return self.shared_out(mass, mean, pinch, exponent), pinch, exponent

    def shared_out(self, mass: Tensor, mean: Tensor, pinch: float, exponent: float) -> Tensor:
        filled = mass + (pinch * mean * self.shares).to(mass)
        return log_shares(filled.clamp(min=1e-30).log() * exponent)


_RIDGE_PRIOR = 0.5 * (
    torch.tensor(LAMBDAS, dtype=torch.double).log10().add(1).square().unsqueeze(1)
    + (torch.tensor(TEMPERATURES, dtype=torch.double) / 8).log().square().unsqueeze(0)
)
_SPREAD_PRIOR = 0.5 * (
    torch.tensor(PINCHES, dtype=torch.double).log10().add(1).square().unsqueeze(1)
    + torch.tensor(EXPONENTS, dtype=torch.double).log().square().unsqueeze(0)
)
