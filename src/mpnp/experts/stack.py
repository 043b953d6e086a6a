"""Opinions of opinions: all experts as one, and what that makes of a node's neighbours."""

from __future__ import annotations

import torch
from torch import Tensor

from .judge import LOWEST, Judge, log_shares
from .parts import parts
from .views import Views

CAUTION = 0.2  # of the evidence for an expert, that counts when opinions are averaged
HOLD = 50.0  # precision of the prior on the weights of the stack
NEWTON = 8  # steps
AGAIN = 3  # of them, from a place that is near
MANY = 64  # classes from which on single precision has to do
FEW_NUMBERS = 2**18  # said of the context, up to which all folds are solved at once


def stacked(opinions: Tensor, chosen: list[int], context: Tensor, judge: Judge, fold: Tensor) -> Tensor:
    r"""The ``chosen`` of all opinions [N, C, E] as one [N, C]: :math:`p \propto \prod_k p_k^{w_k}`, w the likeliest weights on
    the context, left one out.

    Context nodes are judged with weights that the nodes of other folds chose: ``fold`` [n].
    """
    nodes, width = opinions.size(0), opinions[0].numel()
    inside = opinions[context][..., chosen].clamp(min=LOWEST)
    numbers = fold.unique()
    counted = torch.cat([judge.countable.unsqueeze(0), judge.countable & (fold != numbers.unsqueeze(1))])
    weights = weights_of_all(inside, judge, counted)
    together = opinions.new_empty(opinions.shape[:2])
    weight = opinions.new_zeros(opinions.size(2))  # none of those not chosen: to cut them out takes longer
    weight[chosen] = weights[0].float()
    for part in parts(nodes, width):
        together[part] = log_shares(opinions[part].clamp(min=LOWEST) @ weight)
    for number, chose in zip(numbers, weights[1:], strict=True):
        mine = (fold == number).nonzero().squeeze(1)
        for part in parts(mine.numel(), width):
            some = mine[part]
            together[context[some]] = (inside[some].double() @ chose).log_softmax(-1).float()
    return together


def weights_of_all(inside: Tensor, judge: Judge, counted: Tensor) -> Tensor:
    """:func:`stack_weights` [F, K] for every row of ``counted`` [F, n]; one iteration for all where that is little work."""
    if inside.numel() > FEW_NUMBERS:
        # The function is convex, so that folds may begin where all labels have led, which is near.
        whole = stack_weights(inside, judge, counted[0])
        return torch.stack([whole, *(stack_weights(inside, judge, one, whole, AGAIN) for one in counted[1:])])
    nodes, classes, experts = inside.shape
    inside, counts = inside.double(), counted.double()
    picked = inside[torch.arange(nodes), judge.y]  # [n, K]
    gain = counts @ picked
    weights = start = torch.softmax(CAUTION * (gain - gain.amax(1, keepdim=True)), 1)
    some, flat = counted.any(1, keepdim=True), inside.flatten(0, 1)
    hold = HOLD * torch.eye(experts, dtype=torch.double)
    for _ in range(NEWTON):
        p = (weights @ flat.t()).view(-1, nodes, classes).softmax(-1)
        mean = torch.einsum("fnc,nck->fnk", p, inside)
        slope = torch.einsum("fn,fnk->fk", counts, picked - mean) - HOLD * (weights - start)
        # Σ p (s - m)(s - m)ᵀ = Σ p s sᵀ - m mᵀ
        weighed = (p * counts.unsqueeze(-1)).flatten(1)
        bend = torch.stack([(one.unsqueeze(-1) * flat).t() @ flat for one in weighed])
        bend = bend - (counts.unsqueeze(-1) * mean).transpose(1, 2) @ mean
        step = torch.linalg.solve(bend + hold, slope)
        weights = weights + some * step * (1.0 / step.abs().amax(1, keepdim=True).clamp(min=1e-9)).clamp(max=1.0)
    return weights


def stack_weights(
    inside: Tensor, judge: Judge, counted: Tensor, begin: Tensor | None = None, steps: int = NEWTON
) -> Tensor:
    """The weight of every opinion [K], by what was said ``inside`` the context [n, C, K] of the nodes ``counted`` [n].

    A normal prior holds them near the weights of model averaging, so that with few labels the best opinions count and with
    many the context decides. Newton's method on a convex function of a few weights, from those it would ``begin`` with.
    """
    rows, label = counted.nonzero().squeeze(1), judge.y[counted]
    picked = inside[rows, label].double()  # [n, K]
    gain = picked.sum(0)
    start = torch.softmax(CAUTION * (gain - gain.max()), 0)
    weights = start if begin is None or not label.numel() else begin
    hold = HOLD * torch.eye(weights.numel(), dtype=torch.double)
    newton = _newton if inside.size(1) <= MANY else _newton_of_many
    for _ in range(steps if label.numel() else 0):
        slope, bend = zip(
            *(newton(inside[rows[part]], picked[part], weights) for part in parts(rows.numel(), inside[0].numel())),
            strict=True,
        )
        step = torch.linalg.solve(sum(bend) + hold, sum(slope) - HOLD * (weights - start))
        weights = weights + step * min(1.0, 1.0 / float(step.abs().max().clamp(min=1e-9)))
    return weights


def _newton(inside: Tensor, picked: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient [K] of the log-likelihood, and minus its second derivative [K, K], by nodes ``inside`` [n, C, K]."""
    inside = inside.double()
    p = (inside @ weights).softmax(1).unsqueeze(-1)
    mean = (p * inside).sum(1)
    spread = inside - mean.unsqueeze(1)
    return (picked - mean).sum(0), torch.einsum("nck,ncl->kl", p * spread, spread)


def _newton_of_many(inside: Tensor, picked: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """The same for very many classes in single precision, as Σ p s sᵀ - m mᵀ: one pass over all that was said."""
    p = (inside @ weights.float()).softmax(1)
    mean = torch.bmm(p.unsqueeze(1), inside).squeeze(1).double()
    flat = inside.flatten(0, 1)
    bend = ((p.reshape(-1, 1) * flat).t() @ flat).double() - mean.t() @ mean
    return (picked - mean).sum(0), bend


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
