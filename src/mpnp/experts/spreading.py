r"""Experts that let labels spread along the edges: :math:`\sum_{t \le T} (\kappa \hat A)^t Y` for a few steps T, and for many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from .columns import Family
from .context import FOLDS, Context
from .parts import parts
from .walks import Walks

SPREAD = {"lp1": 1, "lp2": 2, "lp8": 8, "lp50": 50}
BALANCED = "lp50"
KEEP = 0.95  # of what a step passes on
MANY = 64  # classes from which on labels may be fewer than classes in folds
MOST_WALKED = 1e9  # multiplications for letting every context node spread by itself


def spread(context: Context) -> dict[str, Tensor]:
    """Log-probabilities [N, C] by name."""
    edges = context.views.walks.matrix.values().numel()
    alone = context.exact and context.count * edges * max(SPREAD.values()) <= MOST_WALKED
    classes = context.judge.classes
    fewer = classes > MANY and context.count <= (FOLDS + 1) * classes  # columns than in folds
    return one_by_one(context) if alone or fewer else folded(context)


def one_by_one(context: Context) -> dict[str, Tensor]:
    """Every label spreads by itself, so that each can be left out exactly."""
    if (kept := _kept(context)) is not None:
        at, labels = context.nodes, context.labels
        return _alone(context, ((name, kept.times(at, labels, i), kept.own(at, i)) for i, name in enumerate(SPREAD)))
    nodes, y = context.views.nodes, context.judge.y
    mass = {name: torch.zeros(nodes, context.judge.classes) for name in SPREAD}
    own = {name: torch.zeros(context.count) for name in SPREAD}
    for part in parts(context.count, nodes):
        column = torch.arange(part.stop - part.start)
        units = torch.zeros(nodes, column.numel())
        units[context.nodes[part], column] = 1
        for name, total in _arrived(context.views.walks, units):
            own[name][part] = total[context.nodes[part], column]
            if column.numel() == context.count:
                mass[name] = total @ context.labels
            else:
                mass[name].index_add_(1, y[part], total)
    return _alone(context, ((name, mass.pop(name), own[name]) for name in SPREAD))


def _alone(context: Context, masses: Iterable[tuple[str, Tensor, Tensor]]) -> dict[str, Tensor]:
    """From what has arrived everywhere [N, C], and at every context node from itself [n]."""
    opinions = {}
    for name, arrived, own in masses:
        others = arrived[context.nodes] - own.unsqueeze(1) * context.labels
        opinions[name] = _shared_out(context, arrived, others.clamp(min=0), name == BALANCED)
    return opinions


def folded(context: Context) -> dict[str, Tensor]:
    """All labels of a class spread together, and the context is predicted in folds, each from the others."""
    nodes, classes = context.views.nodes, context.judge.classes
    found: dict[str, list[tuple[Tensor, Tensor]]] = {name: [] for name in SPREAD}
    kept = _kept(context)
    for part in parts(classes, nodes * (FOLDS + 1)):
        given = context.labels[:, part].unsqueeze(1).repeat(1, FOLDS + 1, 1)
        given[torch.arange(context.count), context.fold] = 0
        told: Iterable[tuple[str, Tensor, Tensor]]
        if kept is None:
            start = torch.zeros(nodes, given[0].numel()).index_copy_(0, context.nodes, given.flatten(1))
            arrived = _arrived(context.views.walks, start)
            tables = ((name, total.view(nodes, FOLDS + 1, -1)) for name, total in arrived)
            told = ((name, table[:, FOLDS].clone(), table[context.nodes]) for name, table in tables)
        else:
            told = _times(kept, context.nodes, given)
        for name, everywhere, inside in told:
            left_out = inside[torch.arange(context.count), context.fold] * FOLDS / (FOLDS - 1)
            found[name].append((everywhere, left_out))
    opinions = {}
    for name in SPREAD:
        mass, left_out = (torch.cat(tables, 1) for tables in zip(*found.pop(name), strict=True))
        opinions[name] = _shared_out(context, mass, left_out, name == BALANCED)
    return opinions


def _kept(context: Context) -> Family | None:
    """What spreads from every single context node, in the order of :data:`SPREAD`, where it can be kept."""
    if context.columns is None or not context.columns.holds(context.nodes):
        return None

    def make(nodes: Tensor) -> Tensor:
        return torch.stack([total.clone() for _, total in _arrived(context.views.walks, context.units(nodes))])

    return context.columns.of("spread", context.nodes, make, len(SPREAD))


def _times(kept: Family, nodes: Tensor, given: Tensor) -> Iterator[tuple[str, Tensor, Tensor]]:
    """What arrives of all that is ``given`` to ``nodes``, [n, folds + 1, k]: everywhere with all labels [N, k], and at these
    nodes without those of each fold, [n, folds + 1, k]; folds are looked at nowhere else."""
    for i, name in enumerate(SPREAD):
        inside = kept.at(nodes, nodes, i) @ given.flatten(1)
        yield name, kept.times(nodes, given[:, FOLDS], i), inside.view_as(given)


def _arrived(walks: Walks, start: Tensor) -> Iterator[tuple[str, Tensor]]:
    """What has arrived everywhere [N, k] after as many steps as each expert waits."""
    flow, total = start, torch.zeros_like(start)
    names = {steps: name for name, steps in SPREAD.items()}
    for step in range(1, max(names) + 1):
        flow = KEEP * walks.normalised(flow)
        total += flow
        if step in names:
            yield names[step], total


def _shared_out(context: Context, mass: Tensor, left_out: Tensor, balanced: bool) -> Tensor:
    """From what has arrived everywhere [N, C], and at context nodes from others [n, C]; ``balanced``: where a class has
    more than its share of all nodes, each of them counts less."""
    judge = context.judge
    if balanced:
        faint = 1e-6 * mass.sum(1).mean() * judge.shares.float()
        filled = mass + faint
        taken = (filled / filled.sum(1, keepdim=True)).mean(0) / judge.shares.float()
        mass, left_out = mass / taken, left_out / taken
    mean = mass.sum(1).mean().double()
    log_p, pinch, exponent = judge.spread(left_out, mean)
    everywhere = [judge.shared_out(mass[part], mean, pinch, exponent).float() for part in parts(*mass.shape)]
    return context.opinion(torch.cat(everywhere), log_p)
