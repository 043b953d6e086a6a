"""Opinions of opinions: all experts as one, and what that makes of a node's neighbours."""

from __future__ import annotations

import torch
from torch import Tensor

from .judge import LOWEST, Judge
from .views import Views

CAUTION = 0.2  # of the evidence for an expert, that counts when opinions are averaged
HOLD = 50.0  # precision of the prior on the weights of the stack
NEWTON = 8  # steps


def stacked(opinions: list[Tensor], context: Tensor, judge: Judge) -> Tensor:
    r"""All opinions as one: :math:`p \propto \prod_k p_k^{w_k}`, w the likeliest weights on the context, left one out.

    A normal prior holds w near the weights of model averaging, so that with few labels the best opinions count and with many
    the context decides. Newton's method on a convex function of a few weights.
    """
    log_p = torch.stack(opinions, -1).clamp(min=LOWEST)
    inside = log_p[context].double()
    losses = torch.stack([judge.nll(inside[..., k]) for k in range(inside.size(-1))])
    weights = start = torch.softmax(-CAUTION * (losses - losses.min()), 0)
    counted = judge.countable
    inside, label = inside[counted], judge.y[counted]
    if label.numel():
        picked = inside[torch.arange(label.numel()), label]
        for _ in range(NEWTON):
            p = (inside @ weights).softmax(1).unsqueeze(-1)
            mean = (p * inside).sum(1)
            gradient = (picked - mean).sum(0) - HOLD * (weights - start)
            spread = inside - mean.unsqueeze(1)
            hessian = torch.einsum("nck,ncl->kl", p * spread, spread) + HOLD * torch.eye(
                weights.numel(), dtype=torch.double
            )
            step = torch.linalg.solve(hessian, gradient)
            weights = weights + step * min(1.0, 1.0 / float(step.abs().max().clamp(min=1e-9)))
    return (log_p @ weights.float()).log_softmax(-1)


def echoes(views: Views, stack: Tensor, context: Tensor, judge: Judge) -> dict[str, Tensor]:
    """What the neighbours are believed to be, after one and after eight steps; given labels are believed as given.

    A context node's neighbours have heard of its own label, so it hears no echo: it keeps the opinion of the stack.
    """
    start = stack.exp()
    start[context] = judge.one_hot.float()
    once = views.walks.mean(start)
    flow = start
    for _ in range(8):
        flow = 0.8 * views.walks.mean(flow) + 0.2 * start
        flow[context] = start[context]
    heard = {"echo1": once, "echo8": flow}
    for echo in heard.values():
        echo.clamp_(min=1e-5).log_()
        echo[context] = stack[context]
    return heard
