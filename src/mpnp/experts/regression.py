"""Experts that regress labels on what nodes are like: ridge regression with linear, radial and given kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .columns import Columns
from .context import Context
from .judge import log_shares
from .ridge import kernel_ridge, ridge, spanned_ridge

PART = 2**20  # numbers in a block of radial kernel values
LARGE = 2**24  # numbers in columns of which most are zeros, from which on only the others are kept
LARGEST = 60.0  # a score before it becomes a probability


def linear(context: Context, basis: Tensor) -> Tensor:
    """The linear kernel on ``basis`` [N, d]; log-probabilities [N, C], as of all experts here."""
    fit = ridge(basis[context.nodes], context.judge.centred)
    lam, temperature, left_out = context.judge.choose(fit)
    return _opinion(context, basis @ fit.weights(lam).float(), temperature, left_out)


def radial(context: Context, places: Tensor, name: str | None = None) -> Tensor:
    r"""The kernel :math:`\exp(-\|a - b\|^2 / \overline{d^2})` on ``places`` [N, d], with the mean squared distance of two nodes.

    ``name``: of places that depend on no label, whose columns can be kept.
    """
    centred = places - places.mean(0)
    square = centred.square().sum(1, keepdim=True)
    width = 2 * square.mean().clamp(min=1e-12)
    # One product gives -|a - b|² / width: that of (2 a, -|a|², 1) / width and (b, 1, -|b|²).
    rows = torch.cat([2 * centred, -square, torch.ones_like(square)], 1) / width
    marks = torch.cat([centred, torch.ones_like(square), -square], 1)

    def kernel(some: Tensor, nodes: Tensor) -> Tensor:
        return (some @ marks[nodes].t()).clamp_(max=0).exp_()

    if name is not None and context.columns is not None and context.columns.holds(context.landmarks):
        return _kept(context, context.columns, name, lambda nodes: kernel(rows, nodes))
    at = context.landmarks
    size = max(1, PART // max(at.numel(), 1))
    return _spanned(
        context,
        kernel(rows[at], at),
        lambda weights: torch.cat([kernel(some, at) @ weights for some in rows.split(size)]),
        lambda: kernel(rows[context.nodes], at),
    )


def spanned(context: Context, columns: Tensor) -> Tensor:
    """A kernel whose ``columns`` [N, m] at the landmarks are given."""
    return _spanned(
        context, columns[context.landmarks], lambda weights: columns @ weights, lambda: columns[context.nodes]
    )


def spanned_by(
    context: Context, name: str, make: Callable[[Tensor], Tensor], sparse: Callable[[Tensor], Any] | None = None
) -> Tensor:
    """A kernel that depends on no label: ``make`` gives its columns [N, m] at nodes [m], which are kept where there is room;
    ``sparse`` the same as a matrix of SciPy's, for where they are very many, or ``None`` where few of them are zero."""
    if context.columns is not None and context.columns.holds(context.landmarks):
        return _kept(context, context.columns, name, make)
    many = sparse is not None and context.views.nodes * context.landmarks.numel() >= LARGE
    columns = sparse(context.landmarks) if sparse is not None and many else None
    if columns is None:
        return spanned(context, make(context.landmarks))

    def rows(nodes: Tensor) -> Tensor:
        return torch.from_numpy(columns[nodes.numpy()].toarray())

    return _spanned(
        context,
        rows(context.landmarks),
        lambda weights: torch.from_numpy(columns @ weights.numpy()),
        lambda: rows(context.nodes),
    )


def _kept(context: Context, columns: Columns, name: str, make: Callable[[Tensor], Tensor]) -> Tensor:
    marks = context.landmarks
    family = columns.of(name, marks, lambda nodes: make(nodes).unsqueeze(0))
    return _spanned(
        context,
        family.at(marks, marks),
        lambda weights: family.times(marks, weights),
        lambda: family.at(context.nodes, marks),
    )


def _spanned(
    context: Context, among: Tensor, everywhere: Callable[[Tensor], Tensor], at_context: Callable[[], Tensor]
) -> Tensor:
    """``among`` [m, m] the landmarks; ``everywhere``: all nodes' kernel values times weights [m, C]; ``at_context`` [n, m]."""
    judge = context.judge
    if context.exact:
        fit = kernel_ridge(among, judge.centred)
    else:  # Nyström: the landmarks span a space in which regression is linear
        values, vectors = torch.linalg.eigh(among.double())
        half = vectors / values.clamp(min=1e-6 * float(values.max()) + 1e-30).sqrt()
        fit = spanned_ridge(at_context(), half, judge.centred)
    lam, temperature, left_out = judge.choose(fit)
    weights = fit.weights(lam)
    return _opinion(context, everywhere(weights.float()), temperature, left_out)


def _opinion(context: Context, values: Tensor, temperature: float, left_out: Tensor) -> Tensor:
    scores = (values + context.judge.shares.float()) * temperature
    return context.opinion(log_shares(scores.clamp(-LARGEST, LARGEST)), left_out)
