r"""Experts that let labels spread along the edges: :math:`\sum_{t \le T} (\kappa \hat A)^t Y` for a few steps T, and for many."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from .context import FOLDS, Context
from .walks import Walks

SPREAD = {"lp1": 1, "lp2": 2, "lp8": 8, "lp50": 50}
BALANCED = "lp50"
KEEP = 0.95  # of what a step passes on
MOST_WALKED = 1e9  # multiplications for letting every context node spread by itself


def spread(context: Context) -> dict[str, Tensor]:
    """Log-probabilities [N, C] by name."""
    edges = context.views.walks.matrix.values().numel()
    alone = context.count * edges * max(SPREAD.values()) <= MOST_WALKED
    return one_by_one(context) if context.exact and alone else folded(context)


def one_by_one(context: Context) -> dict[str, Tensor]:
    """Every label spreads by itself, so that each can be left out exactly."""
    opinions = {}
    for name, total in _arrived(context.views.walks, context.at_landmarks()):
        mass = total @ context.labels
        own = total[context.nodes, torch.arange(context.count)].unsqueeze(1) * context.labels
        opinions[name] = _shared_out(context, mass, (mass[context.nodes] - own).clamp(min=0), name == BALANCED)
    return opinions


def folded(context: Context) -> dict[str, Tensor]:
    """All labels of a class spread together, and the context is predicted in folds, each from the others."""
    nodes, classes = context.views.nodes, context.judge.classes
    shown = context.shown.unsqueeze(1).repeat(1, FOLDS + 1, 1)
    shown[context.nodes, context.fold] = 0
    opinions = {}
    for name, total in _arrived(context.views.walks, shown.flatten(1)):
        table = total.view(nodes, FOLDS + 1, classes)
        left_out = table[context.nodes, context.fold] * FOLDS / (FOLDS - 1)
        opinions[name] = _shared_out(context, table[:, FOLDS], left_out, name == BALANCED)
    return opinions


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
    return context.opinion(judge.shared_out(mass, mean, pinch, exponent).float(), log_p)
