r"""Experts that let labels spread along the edges: :math:`\sum_{t \le T} (\kappa \hat A)^t Y` for a few steps T, and for many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from .columns import Family
from .context import FOLDS, Context
from .parts import parts
from .walks import Walks

SPREAD = {"lp1": 1, "lp2": 2, "lp8": 8, "lp50": 50}
BALANCED = "lp50"
KEEP = 0.95  # of what a step passes on
MANY = 64  # classes from which on labels may be fewer than classes in folds
LARGE = 2**23  # numbers on their way, from which on they go part by part
MOST_WALKED = 1e9  # multiplications for letting every context node spread by itself
CACHED = 2**21  # numbers on their way at a time, where they are many: they stay in the cache, and in memory used before


def spread(context: Context) -> Iterator[tuple[str, Tensor]]:
    """Log-probabilities [N, C] by name, one after the other: with very many classes each is large."""
    edges = context.views.walks.matrix.values().numel()
    alone = context.exact and context.count * edges * max(SPREAD.values()) <= MOST_WALKED
    classes = context.judge.classes
    fewer = classes > MANY and context.count <= (FOLDS + 1) * classes  # columns than in folds
    return one_by_one(context) if alone or fewer else folded(context)


def one_by_one(context: Context) -> Iterator[tuple[str, Tensor]]:
    """Every label spreads by itself, so that each can be left out exactly."""
    if (kept := _kept(context)) is not None:
        at, labels = context.nodes, context.labels
        return _alone(context, ((name, kept.times(at, labels, i), kept.own(at, i)) for i, name in enumerate(SPREAD)))
    if context.count * context.views.nodes < LARGE:
        at, labels, column = context.nodes, context.labels, torch.arange(context.count)
        found = _arrived(context.views.walks, context.units(at))
        return _alone(context, [(name, total @ labels, total[at, column]) for name, total in found])
    return _alone(context, _in_parts(context))


def _in_parts(context: Context) -> Iterator[tuple[str, Tensor, Tensor]]:
    """What has arrived everywhere [N, C], and at every context node from itself [n]; class by class, part by part."""
    nodes, order = context.views.nodes, context.judge.y.argsort(stable=True)
    mass = {name: torch.zeros(nodes, context.judge.classes) for name in SPREAD}
    own = {name: torch.zeros(context.count) for name in SPREAD}
    for part in parts(context.count, nodes, CACHED):
        here = order[part]
        at, kind, column = context.nodes[here], context.judge.y[here], torch.arange(here.numel())
        first = int(kind[0])
        labels = F.one_hot(kind - first).float()  # of the few classes in this part, which are neighbours
        for name, total in _arrived(context.views.walks, context.units(at), context.views.walks.convolution):
            own[name][here] = total[at, column]
            mass[name][:, first : first + labels.size(1)] += total @ labels
    return ((name, mass.pop(name), own[name]) for name in SPREAD)


def _alone(context: Context, masses: Iterable[tuple[str, Tensor, Tensor]]) -> Iterator[tuple[str, Tensor]]:
    """From what has arrived everywhere [N, C], and at every context node from itself [n]."""
    for name, arrived, own in masses:
        others = arrived[context.nodes] - own.unsqueeze(1) * context.labels
        yield name, _shared_out(context, arrived, others.clamp(min=0), name == BALANCED)


def folded(context: Context) -> Iterator[tuple[str, Tensor]]:
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
    for name in SPREAD:
        mass, left_out = (torch.cat(tables, 1) for tables in zip(*found.pop(name), strict=True))
        yield name, _shared_out(context, mass, left_out, name == BALANCED)


def _kept(context: Context) -> Family | None:
    """What spreads from every single context node, in the order of :data:`SPREAD`, where it can be kept."""
    if context.columns is None or not context.columns.holds(context.nodes):
        return None

    def make(nodes: Tensor) -> Tensor:
        walks = context.views.walks
        return torch.stack([total.clone() for _, total in _arrived(walks, context.units(nodes), walks.convolution)])

    return context.columns.of("spread", context.nodes, make, len(SPREAD))


def _times(kept: Family, nodes: Tensor, given: Tensor) -> Iterator[tuple[str, Tensor, Tensor]]:
    """What arrives of all that is ``given`` to ``nodes``, [n, folds + 1, k]: everywhere with all labels [N, k], and at these
    nodes without those of each fold, [n, folds + 1, k]; folds are looked at nowhere else."""
    for i, name in enumerate(SPREAD):
        inside = kept.at(nodes, nodes, i) @ given.flatten(1)
        yield name, kept.times(nodes, given[:, FOLDS], i), inside.view_as(given)


def _arrived(walks: Walks, start: Tensor, matrix: Tensor | None = None) -> Iterator[tuple[str, Tensor]]:
    """What has arrived everywhere [N, k] after as many steps as each expert waits; ``matrix`` of a step, where there is one."""
    flow, total = start, torch.zeros_like(start)
    names = {steps: name for name, steps in SPREAD.items()}
    for step in range(1, max(names) + 1):
        flow = (walks.normalised(flow) if matrix is None else matrix @ flow).mul_(KEEP)
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
