r"""Kernel ridge regression on one-hot labels, with exact leave-one-out predictions at the price of one decomposition.

With the kernel :math:`K = U S U^\top` among context nodes and centred labels Y,

.. math::
    \alpha = U (S + \lambda)^{-1} U^\top Y, \qquad h_i = \sum_r U_{ir}^2 \frac{s_r}{s_r + \lambda}, \qquad
    f_i^{-i} = \frac{f_i - h_i y_i}{1 - h_i}.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from .parts import parts

LAMBDAS = (1e-3, 1e-2, 1e-1, 1.0, 10.0)  # relative to the mean of the kernel's diagonal
LARGEST_SHARE = 1 - 1e-4  # of a node in its own fit
BLOCK = 128  # columns that are multiplied at a time
MANY = 64  # classes from which on single precision has to do


@dataclass(frozen=True)
class Fit:
    """Fits for every λ. ``left_out`` [L, n, C]: leave-one-out values of the context; ``weights``: of a λ by its place, [r, C],
    such that values elsewhere are ``columns`` [N, r] times them."""

    left_out: Tensor
    weights: Callable[[int], Tensor]


def ridge(basis: Tensor, y: Tensor) -> Fit:
    """Linear ridge regression of ``y`` [n, C] on ``basis`` [n, d], in whichever of the two spaces is the smaller."""
    basis, y = basis.double(), y.double()
    nodes, width = basis.shape
    if width < nodes:
        values, right = torch.linalg.eigh(basis.t() @ basis)
        values = values.clamp(min=0)
        left = basis @ right / values.clamp(min=1e-12 * float(values.max()) + 1e-300).sqrt()
    else:
        values, left = torch.linalg.eigh(basis @ basis.t())
        values = values.clamp(min=0)
    left_out, alpha = _solve(values, left, y)
    return Fit(left_out, lambda place: basis.t() @ alpha(place))


def kernel_ridge(kernel: Tensor, y: Tensor) -> Fit:
    """Kernel ridge regression of ``y`` [n, C] with ``kernel`` [n, n] among the context nodes; the weights are those of α."""
    values, left = torch.linalg.eigh(kernel.double())
    return Fit(*_solve(values.clamp(min=0), left, y.double()))


def spanned_ridge(columns: Tensor, half: Tensor, y: Tensor) -> Fit:
    """:func:`ridge` of ``y`` [n, C] on ``columns @ half`` [n, m], with fewer landmarks m than nodes: two products of all nodes
    instead of three, part by part. The weights are those of ``columns``."""
    y, width, slices = y.double(), columns.size(1), list(parts(*columns.shape))
    among, told = half.new_zeros(width, width), half.new_zeros(width, y.size(1))
    for part in slices:
        some = columns[part].double()
        for start in range(0, width, BLOCK):  # a symmetric product: what is below the diagonal is above it, too
            among[start : start + BLOCK, start:].addmm_(some[:, start : start + BLOCK].t(), some[:, start:])
        told.addmm_(some.t(), y[part])
    among = among.triu() + among.triu(1).t()
    values, right = torch.linalg.eigh(half.t() @ among @ half)
    values = values.clamp(min=0)
    onto = half @ (right / values.clamp(min=1e-12 * float(values.max()) + 1e-300).sqrt())  # columns @ onto: left
    inverse, inside = _inverse(values, y.size(0)), onto.t() @ told
    left_out = [_left_out(columns[part].double() @ onto, values * inverse, inside, y[part]) for part in slices]

    def weights(place: int) -> Tensor:
        return half @ (half.t() @ (among @ (onto @ (inverse[place].unsqueeze(1) * inside))))

    return Fit(torch.cat(left_out, 1), weights)


def _solve(values: Tensor, left: Tensor, y: Tensor) -> tuple[Tensor, Callable[[int], Tensor]]:
    """Leave-one-out values for every λ [L, n, C], and α [n, C] of one of them; ``values`` [r] and ``left`` [n, r] decompose
    the kernel."""
    inverse, inside = _inverse(values, y.size(0)), left.t() @ y
    return (
        _left_out(left, values * inverse, inside, y),
        lambda place: left @ (inverse[place].unsqueeze(1) * inside),
    )


def _inverse(values: Tensor, nodes: int) -> Tensor:
    """1 / (s + λ) of every λ, [L, r]."""
    scale = values.sum() / nodes
    lambdas = torch.tensor(LAMBDAS, dtype=torch.double) * scale.clamp(min=1e-12)
    return 1 / (values + lambdas.unsqueeze(1))


def _left_out(left: Tensor, share: Tensor, inside: Tensor, y: Tensor) -> Tensor:
    """Leave-one-out values [L, n, C] of nodes with ``left`` [n, r] and ``y`` [n, C]; ``share`` [L, r] of every direction that
    is kept, ``inside`` [r, C] the labels in these. With very many classes values are in single precision: they are sums of
    few, and many."""
    own = (left.square() @ share.t()).t().unsqueeze(2).clamp(max=LARGEST_SHARE)  # [L, n, 1]
    kind = torch.float if y.size(1) > MANY else torch.double
    fitted = left.to(kind) @ (share.unsqueeze(2) * inside).to(kind)
    own = own.to(kind)
    return (fitted - own * y.to(kind)) / (1 - own)
