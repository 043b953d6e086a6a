"""Sparse matrices, without torch's remarks on how new they are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


def coo(row: Tensor, column: Tensor, value: Tensor, shape: tuple[int, int]) -> Tensor:
    """A matrix of ``shape`` with ``value`` [E] at ``row`` and ``column`` [E]; entries named twice add up."""
    with _silence():
        return torch.sparse_coo_tensor(torch.stack([row, column]), value, shape).coalesce()


def csr(matrix: Tensor) -> Tensor:
    """A sparse matrix in compressed rows, in which products are fast."""
    with _silence():
        return matrix.to_sparse_csr()


def pattern(matrix: Tensor) -> Tensor:
    """The same entries, each of them one, in compressed rows."""
    with _silence():
        ones = torch.ones_like(matrix.values())
        return torch.sparse_csr_tensor(matrix.crow_indices(), matrix.col_indices(), ones, matrix.shape)


@contextmanager
def _silence() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Sparse (CSR|invariant).*")
        yield
