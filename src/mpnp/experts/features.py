"""Features of any number, kind and scale as at most 256 well-behaved columns."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from .sparse import coo, csr

MOST = 256  # columns after the reduction
FEW = 32  # columns up to which each counts for itself
LIMIT = 6.0  # robust deviations from the median after which a value says no more
POWER = 5  # iterations of the randomised decomposition


def prepare(x: Tensor) -> Tensor | None:
    """Features [N, F], dense or sparse, → [N, d] with d ≤ 256, or ``None`` where they say nothing that two nodes share.

    Few columns are scaled robustly. Many columns of counts (words) are weighed by their rarity and every row by its length;
    other many columns are scaled and rows made of length one. More than 256 columns go through a truncated decomposition.
    Constant columns, and columns that single nodes have to themselves (as an identity has), are left out.
    """
    return read(x)[0]


def read(x: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """What is prepared of the features, and the amount of them that a node shows (:func:`amount`), as far as either says
    anything."""
    nodes, columns = x.shape
    if nodes < 2 or columns == 0:
        return None, None
    words = _words(x)
    if words is not None:
        z = _weighed(words)
        return (None, None) if z is None else (_reduced(z), amount(words))
    scaled = _scaled(x.to_dense() if x.layout != torch.strided else x)
    if scaled is None:
        return None, None
    if scaled.size(1) > FEW:
        scaled = scaled / scaled.norm(dim=1, keepdim=True).clamp(min=1e-6)
    return _reduced(scaled), None


def amount(words: Tensor) -> Tensor | None:
    """How much a node shows: log(1 + its features that are not zero), standardised, [N, 1]; ``None`` where all show as much.

    A long entry is often of another class than a short one, whatever it says.
    """
    shown = torch.bincount(words.indices()[0], minlength=words.size(0)).float().log1p().unsqueeze(1)
    shown = shown - shown.mean()
    deviation = shown.square().mean().sqrt()
    return (shown / deviation).clamp(-LIMIT, LIMIT) if float(deviation) > 1e-4 else None


def _words(x: Tensor) -> Tensor | None:
    """Columns that are counts of a kind, most of them zero, as a sparse matrix without stored zeros; ``None`` if they are not."""
    if x.size(1) <= FEW:
        return None
    if x.layout == torch.strided:
        if float(x.min()) < 0 or int(torch.count_nonzero(x)) > 0.5 * x.numel():
            return None
        return x.to_sparse_coo()
    x = (x if x.is_sparse else x.to_sparse_coo()).coalesce()
    value = x.values()
    if value.numel() > 0.5 * x.size(0) * x.size(1) or bool((value < 0).any()):
        return None
    there = value != 0
    row, column = x.indices()[:, there]
    return coo(row, column, value[there], (x.size(0), x.size(1)))


def _scaled(x: Tensor) -> Tensor | None:
    """Every column from its median in robust deviations, clamped; constant columns are left out."""
    x = x.double()
    low, middle, high = (
        x.quantile(torch.tensor([0.25, 0.5, 0.75], dtype=torch.double), dim=0)
        if x.size(0) <= 100_000
        else _quantiles(x)
    )
    spread = (high - low) / 1.349
    centred = x - middle
    largest = centred.abs().amax(0)
    deviation = largest * (centred / largest.clamp(min=1e-300)).square().mean(0).sqrt()
    # More than half of the values alike: the plain deviation, around the plain mean.
    flat = spread <= 1e-6 * deviation
    scale = torch.where(flat, deviation, spread)
    middle = torch.where(flat, x.mean(0), middle)
    kept = scale > 1e-12 * x.abs().amax(0).clamp(min=1e-280)
    if not bool(kept.any()) or _private(x):
        return None
    z = ((x[:, kept] - middle[kept]) / scale[kept]).clamp(-LIMIT, LIMIT).float()
    return z - z.mean(0)


def _private(x: Tensor) -> bool:
    """Whether every column is zero but for one node at most, as those of an identity are."""
    return x.size(1) > 1 and bool(((x != 0).sum(0) <= 1).all())


def _quantiles(x: Tensor) -> Tensor:
    """Quartiles of very many values, column by column in time linear in them."""
    places = [round(share * (x.size(0) - 1)) for share in (0.25, 0.5, 0.75)]
    columns = [np.partition(column.numpy(), places)[places] for column in x.unbind(1)]
    return torch.from_numpy(np.stack(columns, 1))


def _weighed(words: Tensor) -> Tensor | None:
    """Counts as log(1 + count) · log(N / nodes that have it), rows of length one, sparse [N, F]; without private columns."""
    nodes, columns = words.shape
    row, column = words.indices()
    value = words.values().double()
    owners = torch.bincount(column, minlength=columns)
    shared = owners[column] > 1
    if not bool(shared.any()):
        return None
    row, column, value = row[shared], column[shared], value[shared]
    mean = torch.zeros(columns, dtype=torch.double).index_add_(0, column, value) / owners.clamp(min=1)
    value = torch.log1p(value / mean[column].clamp(min=1e-300))
    rarity = torch.log((1.0 + nodes) / owners.double().clamp(min=1))
    value = value * rarity[column].sqrt()
    length = torch.zeros(nodes, dtype=torch.double).index_add_(0, row, value.square()).sqrt()
    value = (value / length[row].clamp(min=1e-12)).float()
    kept, place = column.unique(return_inverse=True)
    return coo(row, place, value, (nodes, kept.numel()))


def _reduced(z: Tensor) -> Tensor:
    """At most 256 columns whose inner products are those of ``z``, as nearly as may be: a randomised decomposition.

    Its power iterations keep to the shorter side of ``z``, where a decomposition of theirs costs least.
    """
    if z.size(1) <= MOST:
        return z.to_dense() if z.is_sparse else z
    matrix = csr(z) if z.is_sparse else z
    transposed = csr(z.t().coalesce()) if z.is_sparse else z.t()
    nodes, columns = z.shape
    rank = min(MOST, nodes - 1)
    basis = torch.randn(columns, min(rank + 16, nodes), generator=torch.Generator().manual_seed(0))
    if columns < nodes:
        for _ in range(POWER):
            basis = torch.linalg.qr(transposed @ (matrix @ basis)).Q
        basis = torch.linalg.qr(matrix @ basis).Q
    else:
        basis = torch.linalg.qr(matrix @ basis).Q
        for _ in range(POWER):
            basis = torch.linalg.qr(matrix @ (transposed @ basis)).Q
    small = (transposed @ basis).t()  # [rank + 16, F], small @ small.T is tiny
    values, vectors = torch.linalg.eigh((small @ small.t()).double())
    top = vectors[:, -rank:] * values[-rank:].clamp(min=0).sqrt()
    return basis @ top.float()
