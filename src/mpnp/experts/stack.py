"""Opinions of opinions: all experts as one, and what that makes of a node's neighbours."""

from __future__ import annotations

import torch
from torch import Tensor

from .judge import LOWEST, Judge
from .views import Views

CAUTION = 0.2  # of the evidence for an expert, that counts when opinions are averaged
HOLD = 50.0  # precision of the prior on the weights of the stack
NEWTON = 8  # steps


def stacked(opinions: list[Tensor], context: Tensor, judge: Judge, fold: Tensor) -> Tensor:
    r"""All opinions as one: :math:`p \propto \prod_k p_k^{w_k}`, w the likeliest weights on the context, left one out.

    Context nodes are judged with weights that the nodes of other folds chose: ``fold`` [n].
    """
    log_p = torch.stack(opinions, -1).clamp(min=LOWEST)
    inside = log_p[context].double()
    together = (log_p @ stack_weights(inside, judge, judge.countable).float()).log_softmax(-1)
    for number in fold.unique():
        mine = fold == number
        weights = stack_weights(inside, judge, judge.countable & ~mine)
        together[context[mine]] = (inside[mine] @ weights).log_softmax(-1).float()
    return together


def stack_weights(inside: Tensor, judge: Judge, counted: Tensor) -> Tensor:
    """The weight of every opinion [K], by what was said ``inside`` the context [n, C, K] of the nodes ``counted`` [n].

    A normal prior holds them near the weights of model averaging, so that with few labels the best opinions count and with
    many the context decides. Newton's method on a convex function of a few weights.
    """
    inside, label = inside[counted], judge.y[counted]
    picked = inside[torch.arange(label.numel()), label]  # [n, K]
    gain = picked.sum(0)
    weights = start = torch.softmax(CAUTION * (gain - gain.max()), 0)
    hold = HOLD * torch.eye(weights.numel(), dtype=torch.double)
    for _ in range(NEWTON if label.numel() else 0):
        p = (inside @ weights).softmax(1).unsqueeze(-1)
        mean = (p * inside).sum(1)
        gradient = (picked - mean).sum(0) - HOLD * (weights - start)
        spread = inside - mean.unsqueeze(1)
        step = torch.linalg.solve(torch.einsum("nck,ncl->kl", p * spread, spread) + hold, gradient)
        weights = weights + step * min(1.0, 1.0 / float(step.abs().max().clamp(min=1e-9)))
    return weights


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
