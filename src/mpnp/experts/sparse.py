"""Sparse matrices, without torch's remarks on how new they are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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


def scipy_of(matrix: Tensor) -> Any:
    """A matrix in compressed rows as SciPy has it, on the same memory."""
    from scipy.sparse import csr_array

    parts = (matrix.values(), matrix.col_indices(), matrix.crow_indices())
    return csr_array(tuple(part.numpy() for part in parts), shape=tuple(matrix.shape))


@contextmanager
def _silence() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Sparse (CSR|invariant).*")
        yield
