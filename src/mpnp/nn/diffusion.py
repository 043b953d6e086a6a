"""Context labels spread along the edges: the road that knows where the labels are."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .neighbours import Neighbours


@torch.no_grad()
def diffuse(neighbours: Neighbours, shown: Tensor, reaches: Sequence[int], keep: float = 0.95) -> tuple[Tensor, Tensor]:
    r"""Label diffusion read at several reaches.

    .. math:: F \leftarrow \alpha\, D^{-1/2} A D^{-1/2} F + (1 - \alpha)\, Y, \qquad F_C \leftarrow Y_C

    ``reaches``: the steps at which F is read. Returns the share of every class in what has arrived, and the logarithm of
    how much has arrived (so that a model knows how far the nearest label is; 0 at a label, about -1 where none came).

    Shapes: ``shown`` [N, C] → shares [N, C, R], log-masses [N, R].
    """
    # In terms of D^-1/2 F a step is one sparse product and one fused multiply-add: context nodes keep what they have,
    # the others, whose Y is 0, take α D^-1 A of it.
    root = neighbours.degree.clamp(min=1).sqrt().unsqueeze(-1)
    hidden = (shown.sum(-1, keepdim=True) == 0).to(shown)
    start, passed_on = shown / root, keep * hidden / root.square()
    flow, shares, masses = start, [], []
    for step in range(1, max(reaches) + 1):
        flow = torch.addcmul(start, passed_on, neighbours.sum(flow))
        if step in reaches:
            arrived = flow * root
            mass = arrived.sum(-1, keepdim=True)
            shares.append(torch.where(mass > 1e-12, arrived / mass.clamp(min=1e-12), torch.zeros_like(arrived)))
            masses.append(mass.clamp(min=1e-6, max=1.0).log10().squeeze(-1) / 6)
    return torch.stack(shares, -1), torch.stack(masses, -1)
