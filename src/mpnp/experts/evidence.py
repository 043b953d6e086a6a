"""All experts' opinions of every node, and how far each could be trusted on the context."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from ..errors import UserError
from ..progress import counted, stage
from .around import around, everything, few_shared_neighbours, shared_neighbours
from .clumps import clumps
from .columns import Columns
from .context import Context
from .judge import LOWEST, Judge
from .parts import PART
from .regression import linear, radial, spanned_by
from .spreading import SPREAD, spread
from .stack import echoes, stacked
from .views import Views

LINEAR = ("x", "ax", "a2x", "pprx", "farx", "hx", "h2x")
RADIAL = ("x_rbf", "ax_rbf", "pprx_rbf", "amount", "struct", "nbr_rbf", "cat")
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
def evidence(views: Views, context: Tensor, y: Tensor, classes: int, columns: Columns | None = None) -> Evidence:
    """Ask every expert. ``context`` [n] node numbers, ``y`` [n] their labels; ``columns``: kept between questions."""
    _check_room(views.nodes, classes)
    judge = Judge(y, classes)
    flat = judge.shares.log().expand(views.nodes, classes)
    log_p = flat.float().unsqueeze(-1).repeat(1, 1, len(EXPERTS))  # the one table of all: it is large with many classes
    asked: list[int] = []  # in the order they were asked

    def heard(name: str, opinion: Tensor) -> None:
        asked.append(EXPERTS.index(name))
        log_p[..., asked[-1]] = opinion

    if y.numel():
        given = Context(views, context, judge, columns)
        with stage(f"asking experts about {views.nodes:,} nodes"):
            for name, opinion in counted(single(given), len(EXPERTS)):
                heard(name, opinion)
        stack = stacked(log_p, asked, context, judge, given.fold)
        heard("stack", stack)
        for name, opinion in echoes(views, stack, context, judge).items():
            heard(name, opinion)
    log_p.clamp_(min=LOWEST)
    guess = judge.nll(flat[context])
    countable = int(judge.countable.sum())
    losses, right = [], []
    inside = log_p[context].permute(2, 0, 1)  # [E, n, C]
    for some in inside.split(max(1, PART // max(inside[0].numel(), 1))):
        losses.append(judge.nll(some.double()))
        right.append((some.argmax(-1) == y) & judge.countable)
    return Evidence(
        log_p,
        torch.tensor([e in asked for e in range(len(EXPERTS))]),
        ((guess - torch.cat(losses)) / max(countable, 1)).float(),
        torch.cat(right).double().sum(1).div(max(countable, 1)).float(),
        judge.shares.float(),
        judge.counts.float(),
        countable,
    )


def _check_room(nodes: int, classes: int) -> None:
    """Refuse what can only end with memory running out, before it is begun."""
    needed = 4 * nodes * classes * len(EXPERTS)
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else needed
    if needed > there:
        raise UserError(
            f"{classes:,} classes of {nodes:,} nodes take {needed / 2**30:.0f} GB of memory, this machine has "
            f"{there / 2**30:.0f}; give fewer classes, or a part of the graph."
        )


def single(context: Context) -> Iterator[tuple[str, Tensor]]:
    """The experts by name that have anything to go by: log-probabilities [N, C], of context nodes leave-one-out."""
    views = context.views
    for name, basis in views.linear.items():
        yield name, linear(context, basis)
        if name in CLUMPS:
            yield CLUMPS[name], clumps(context, basis)
    for name, places in views.radial.items():
        yield name, radial(context, places, name)
    if views.walks.matrix.values().numel():
        labels = around(context)
        yield "nbr", linear(context, labels)
        yield "nbr_rbf", radial(context, labels)
        mixed = everything(context, labels)
        del labels
        yield "cat", radial(context, mixed)
        del mixed
        shared = (partial(kind, context) for kind in (shared_neighbours, few_shared_neighbours))
        yield "adj", spanned_by(context, "adj", *shared)
        yield from spread(context)
