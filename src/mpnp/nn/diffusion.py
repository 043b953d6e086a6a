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
    context = shown.sum(-1, keepdim=True) > 0
    flow, shares, masses = shown, [], []
    for step in range(1, max(reaches) + 1):
        flow = torch.where(context, shown, keep * neighbours.normalised(flow) + (1 - keep) * shown)
        if step in reaches:
            mass = flow.sum(-1, keepdim=True)
            shares.append(torch.where(mass > 1e-12, flow / mass.clamp(min=1e-12), torch.zeros_like(flow)))
            masses.append(mass.clamp(min=1e-6, max=1.0).log10().squeeze(-1) / 6)
    return torch.stack(shares, -1), torch.stack(masses, -1)
