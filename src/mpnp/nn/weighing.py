"""How a neural process weighs the opinions of experts: one network for any number of nodes, classes and labels."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Normal

LARGEST = 8.0  # log-odds of an opinion
FEW = 32  # classes that are looked through one by one
SCALE = 3.0  # what log-odds are divided by before they enter a network


def opinions(log_p: Tensor) -> Tensor:
    """What a network reads of log-probabilities: log-odds against all other classes, and against the likeliest of them.

    Shapes: [Q, C, E] → [Q, C, 2E].
    """
    odds = log_p - log_p.exp().clamp_(max=1 - 1e-4).neg_().log1p_()
    if log_p.size(1) == 1:
        lead = torch.zeros_like(log_p)
    else:
        best, second = two_best(log_p)
        lead = log_p - torch.where(log_p >= best, second, best)
    return torch.cat([odds, lead], -1).clamp_(-LARGEST, LARGEST).div_(SCALE)


def two_best(values: Tensor) -> tuple[Tensor, Tensor]:
    """The highest and the second highest over the classes, [Q, C, E] → [Q, 1, E] each; alike where two classes are."""
    if values.size(1) > FEW:
        best = values.amax(1, keepdim=True)
        first = values == best
        second = values.masked_fill(first, -torch.inf).amax(1, keepdim=True)
        return best, torch.where(first.sum(1, keepdim=True) > 1, best, second)
    best = second = torch.full_like(values[:, 0], -torch.inf)
    for one in values.unbind(1):
        best, second = torch.maximum(best, one), torch.maximum(second, torch.minimum(best, one))
    return best.unsqueeze(1), second.unsqueeze(1)


class Weigher(nn.Module):
    r"""Reads (opinion, label) pairs of the context into a summary R and a latent z, and scores every class of every node by

    .. math::
        s_{ic} = w(z, R)^\top [h_{ic} \,\|\, e_{ic}], \qquad h_{ic} = f_R(e_{ic}, \text{pool}_{c'} \, e_{ic'}),

    with the experts' log-odds e. The same weights serve all classes, so that relabelling the classes relabels the scores; z
    enters in the last layer, so that many samples of it cost little more than one.

    ``experts``: how many opinions there are; ``facts``: numbers that describe a whole problem; ``extras``: numbers for a node
    and for a class each; ``trusted``: the opinion that is believed before anything is learned.

    Shapes: Q nodes asked for, n labelled nodes, C classes, E experts, K samples of z.
    """

    def __init__(
        self, experts: int, facts: int, extras: int, width: int, summary: int, z_width: int, trusted: int
    ) -> None:
        super().__init__()
        self.experts, self.width, self.trusted = experts, width, trusted
        self.pair = nn.Sequential(nn.Linear(2 * experts + 1, width), nn.GELU(), nn.Linear(width, width))
        self.summarise = nn.Sequential(
            nn.Linear(facts + 2 * width, summary), nn.GELU(), nn.Linear(summary, summary), nn.GELU()
        )
        self.latent_head = nn.Linear(summary, 2 * z_width)
        self.gate = nn.Linear(summary, 2 * experts)
        self.first, self.first_tuned = nn.Linear(2 * experts + 2 * extras, width), nn.Linear(summary, 2 * width)
        self.second, self.second_tuned = nn.Linear(3 * width, width), nn.Linear(summary, 2 * width)
        self.third = nn.Linear(width, width)
        self.last = nn.Linear(z_width + summary, width + experts)
        with torch.no_grad():  # begin with the trusted opinion, and with all gates half open
            self.gate.weight.mul_(0.1)
            self.last.weight.mul_(0.3)
            self.last.bias.zero_()
            self.last.bias[width + trusted] = 1.5

    def summary(self, facts: Tensor, said: Tensor, y: Tensor) -> Tensor:
        """R from what was ``said`` [n, C, 2E] of labelled nodes, left one out, and what they are, ``y`` [n]: [S].

        A node tells how its true class was spoken of, and the wrong class that the trusted opinion speaks for most.
        """
        if not y.numel():
            return self.summarise(torch.cat([facts, facts.new_zeros(2 * self.width)]))
        row = torch.arange(y.numel(), device=y.device)
        others = said[..., self.trusted].masked_fill(F.one_hot(y, said.size(1)).bool(), -torch.inf)
        true, wrong = said[row, y], said[row, others.argmax(1)]
        marked = torch.stack([F.pad(true, (0, 1), value=1.0), F.pad(wrong, (0, 1), value=0.0)])
        return self.summarise(torch.cat([facts, self.pair(marked).mean(1).flatten()]))

    def latent(self, summary: Tensor) -> Normal:
        """q(z | context), over [z]."""
        mean, scale = self.latent_head(summary).chunk(2, -1)
        return Normal(mean, 0.1 + 0.9 * torch.sigmoid(scale), validate_args=False)

    def score(self, summary: Tensor, z: Tensor, said: Tensor, node: Tensor, kind: Tensor) -> Tensor:
        """Scores [Q, K, C] for samples ``z`` [K, z] of the latent; ``said`` [Q, C, 2E], ``node`` [Q, X], ``kind`` [C, X]."""
        gate = 2 * torch.sigmoid(self.gate(summary))
        weight, bias = _tuned(self.first, self.first_tuned(summary))
        said_by, of_node, of_kind = weight.split([gate.numel(), node.size(1), kind.size(1)], 1)
        h = F.linear(said, said_by * gate)  # [Q, C, w]
        h = F.gelu(h.add_(F.linear(node, of_node).unsqueeze(1)).add_(F.linear(kind, of_kind, bias)))
        weight, bias = _tuned(self.second, self.second_tuned(summary))
        mine, mean, most = weight.chunk(3, 1)
        pool = F.linear(h.mean(1), mean, bias) + F.linear(h.amax(1), most)  # once for all classes
        h = F.gelu(F.linear(h, mine).add_(pool.unsqueeze(1)))
        h = F.gelu(self.third(h)).add_(h)
        read, heard = self.last(torch.cat([z, summary.expand(z.size(0), -1)], -1)).split([self.width, self.experts], 1)
        heard = F.pad(heard, (0, said.size(-1) - self.experts))  # of the first opinions; to cut them out takes longer
        return F.linear(h, read).add_(F.linear(said, heard)).transpose(1, 2)  # [Q, C, K] in memory


def _tuned(layer: nn.Linear, how: Tensor) -> tuple[Tensor, Tensor]:
    """Weight and bias of a layer whose outputs are scaled and shifted, ``how`` [2 w]: no pass over all nodes of its own."""
    scale, shift = how.chunk(2, -1)
    return layer.weight * (1 + scale).unsqueeze(1), layer.bias * (1 + scale) + shift
