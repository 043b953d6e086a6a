"""What a node's surroundings are like: the labels near it, and the neighbours it shares with labelled nodes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .context import Context
from .sparse import scipy_of
from .walks import Walks

ROUNDING = 1e-5  # what may be left of the own label when it is taken out
FEW = 0.1  # of all nodes, that share neighbours with one


def around(context: Context) -> Tensor:
    """Class shares among the labelled neighbours at one and two hops, own label taken out, [N, 2 (C + 1) or more]."""
    walks, shown, prior = context.views.walks, context.shown, context.judge.shares.float()
    once = walks.mean(shown) * (walks.strength > 0).unsqueeze(1)
    own = walks.returns.unsqueeze(1) * shown
    twice = walks.mean(once) - own
    reads = [once, torch.where(twice > ROUNDING * own, twice, 0)]
    if walks.directed:
        reads += [walks.outgoing(shown), walks.incoming(shown)]
    columns = []
    for read in reads:
        mass = read.sum(1, keepdim=True)
        known = mass > 1e-9
        columns += [
            torch.where(known, read / mass.clamp(min=1e-9) - prior, torch.zeros_like(read)),
            known.float() - known.float().mean(),
        ]
    return torch.cat(columns, 1)


def everything(context: Context, labels_around: Tensor) -> Tensor:
    """Features, their neighbours' mean, structure and the labels around side by side, each block of weight one."""
    views = context.views
    blocks = [views.structure, labels_around]
    if views.x is not None:
        blocks += [views.x, views.linear["ax"]]
    scaled = []
    for block in blocks:
        centred = block - block.mean(0)
        scaled.append(centred.div_(centred.square().sum(1).mean().sqrt().clamp(min=1e-6)))
    return torch.cat(scaled, 1)


def shared_neighbours(context: Context, nodes: Tensor) -> Tensor:
    """D^-1/2 A D^-1 A D^-1/2 at ``nodes`` [m], [N, m]."""
    walks = context.views.walks
    root = _root(walks).unsqueeze(1)
    return root * walks.sum(root.square() * walks.sum(root * context.units(nodes)))


def few_shared_neighbours(context: Context, nodes: Tensor) -> Any:
    """The same as a sparse matrix of SciPy's; ``None`` where not few nodes share neighbours, as those around a hub do."""
    from scipy.sparse import diags_array

    walks = context.views.walks
    if float(walks.sum(walks.degree.unsqueeze(1))[nodes].sum()) > FEW * nodes.numel() * context.views.nodes:
        return None
    root, matrix = _root(walks).numpy(), scipy_of(walks.matrix)
    ends = matrix.T.tocsc()[:, nodes.numpy()]  # A is symmetric
    inner = matrix @ diags_array(root**2) @ ends @ diags_array(root[nodes.numpy()])
    return (diags_array(root) @ inner).tocsr()


def _root(walks: Walks) -> Tensor:
    return walks.strength.clamp(min=1e-30).rsqrt() * (walks.strength > 0)
