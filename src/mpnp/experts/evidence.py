"""All experts' opinions of every node, and how far each could be trusted on the context."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .around import around, everything, shared_neighbours
from .clumps import clumps
from .context import Context
from .judge import LOWEST, Judge
from .regression import linear, radial, spanned
from .spreading import SPREAD, spread
from .stack import echoes, stacked
from .views import Views

LINEAR = ("x", "ax", "a2x", "pprx", "hx", "h2x")
RADIAL = ("x_rbf", "ax_rbf", "struct", "nbr_rbf", "cat")
CLUMPS = {"x": "x_clump", "a2x": "a2x_clump", "pprx": "pprx_clump"}
SINGLE = (*LINEAR, *RADIAL, "nbr", "adj", *CLUMPS.values(), *SPREAD)
EXPERTS = (*SINGLE, "stack", "echo1", "echo8")


@dataclass(frozen=True)
class Evidence:
    """What every expert says, and how well it said it.

    Shapes: ``log_p`` [N, C, E] every expert's log-probabilities, of context nodes leave-one-out; ``present`` [E] which
    experts have anything to go by; ``skill``, ``accuracy`` [E] on the context, leave-one-out, against guessing the class
    shares; ``shares`` [C] of the classes in the context, smoothed; ``counts`` [C] labels per class. ``countable``: how many
    context nodes are of a class with another label.
    """

    log_p: Tensor
    present: Tensor
    skill: Tensor
    accuracy: Tensor
    shares: Tensor
    counts: Tensor
    countable: int


@torch.no_grad()
def evidence(views: Views, context: Tensor, y: Tensor, classes: int) -> Evidence:
    """Ask every expert. ``context`` [n] node numbers, ``y`` [n] their labels."""
    judge = Judge(y, classes)
    shape = (views.nodes, classes)
    opinions: dict[str, Tensor] = {}
    if y.numel():
        given = Context(views, context, judge)
        opinions = single(given)
        opinions["stack"] = stacked(list(opinions.values()), context, judge, given.fold)
        opinions |= echoes(views, opinions["stack"], context, judge)
    flat = judge.shares.log().expand(shape)
    log_p = torch.stack([opinions.get(name, flat).float() for name in EXPERTS], -1).clamp(min=LOWEST)
    left_out = log_p[context].double()
    guess = judge.nll(flat[context])
    countable = int(judge.countable.sum())
    losses = torch.stack([judge.nll(left_out[..., e]) for e in range(len(EXPERTS))])
    right = (left_out.argmax(1) == y.unsqueeze(1)) & judge.countable.unsqueeze(1)
    return Evidence(
        log_p,
        torch.tensor([name in opinions for name in EXPERTS]),
        ((guess - losses) / max(countable, 1)).float(),
        right.double().sum(0).div(max(countable, 1)).float(),
        judge.shares.float(),
        judge.counts.float(),
        countable,
    )


def single(context: Context) -> dict[str, Tensor]:
    """The experts by name that have anything to go by: log-probabilities [N, C], of context nodes leave-one-out."""
    views, opinions = context.views, {}
    for name, basis in views.linear.items():
        opinions[name] = linear(context, basis)
        if name in CLUMPS:
            opinions[CLUMPS[name]] = clumps(context, basis)
    for name, places in views.radial.items():
        opinions[name] = radial(context, places)
    if views.walks.matrix.values().numel():
        labels = around(context)
        opinions["nbr"] = linear(context, labels)
        opinions["nbr_rbf"] = radial(context, labels)
        opinions["cat"] = radial(context, everything(context, labels))
        opinions["adj"] = spanned(context, shared_neighbours(context))
        opinions |= spread(context)
    return opinions
