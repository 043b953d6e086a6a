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
    """Features [N, F] → [N, d] with d ≤ 256, or ``None`` where they say nothing that two nodes share.

    Few columns are scaled robustly. Many columns of counts (words) are weighed by their rarity and every row by its length;
    other many columns are scaled and rows made of length one. More than 256 columns go through a truncated decomposition.
    Constant columns, and columns that single nodes have to themselves (as an identity has), are left out.
    """
    nodes, columns = x.shape
    if nodes < 2 or columns == 0:
        return None
    words = columns > FEW and _counts(x)
    if words:
        z = _weighed(x)
        if z is None:
            return None
        return _reduced(z)
    scaled = _scaled(x)
    if scaled is None:
        return None
    if scaled.size(1) > FEW:
        scaled = scaled / scaled.norm(dim=1, keepdim=True).clamp(min=1e-6)
    return _reduced(scaled)


def _counts(x: Tensor) -> bool:
    """Whether the columns are counts of a kind, most of them zero."""
    return bool((x >= 0).all()) and int((x != 0).sum()) <= 0.5 * x.numel()


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


def _weighed(x: Tensor) -> Tensor | None:
    """Counts as log(1 + count) · log(N / nodes that have it), rows of length one, sparse [N, F]; without private columns."""
    sparse = x.to_sparse_coo().coalesce()
    row, column = sparse.indices()
    value = sparse.values().double()
    owners = torch.bincount(column, minlength=x.size(1))
    shared = owners[column] > 1
    if not bool(shared.any()):
        return None
    row, column, value = row[shared], column[shared], value[shared]
    biggest = torch.zeros(x.size(1), dtype=torch.double).scatter_reduce_(0, column, value, "amax")
    mean = torch.zeros(x.size(1), dtype=torch.double).index_add_(0, column, value) / owners.clamp(min=1)
    value = torch.log1p(value / mean[column].clamp(min=1e-300)) if bool((biggest > 0).any()) else value
    rarity = torch.log((1.0 + x.size(0)) / owners.double().clamp(min=1))
    value = value * rarity[column].sqrt()
    length = torch.zeros(x.size(0), dtype=torch.double).index_add_(0, row, value.square()).sqrt()
    value = (value / length[row].clamp(min=1e-12)).float()
    kept, place = column.unique(return_inverse=True)
    return coo(row, place, value, (x.size(0), kept.numel()))


def _reduced(z: Tensor) -> Tensor:
    """At most 256 columns whose inner products are those of ``z``, as nearly as may be."""
    if z.size(1) <= MOST:
        return z.to_dense() if z.is_sparse else z
    matrix = csr(z) if z.is_sparse else z
    transposed = csr(z.t().coalesce()) if z.is_sparse else z.t()
    rank = min(MOST, z.size(0) - 1)
    noise = torch.randn(z.size(1), min(rank + 16, z.size(0)), generator=torch.Generator().manual_seed(0))
    basis = torch.linalg.qr(matrix @ noise).Q
    for _ in range(POWER):
        basis = torch.linalg.qr(matrix @ torch.linalg.qr(transposed @ basis).Q).Q
    small = (transposed @ basis).t()  # [rank + 16, F], small @ small.T is tiny
    values, vectors = torch.linalg.eigh((small @ small.t()).double())
    top = vectors[:, -rank:] * values[-rank:].clamp(min=0).sqrt()
    return basis @ top.float()
