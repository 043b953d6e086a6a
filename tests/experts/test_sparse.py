"""Sparse matrices, and that nothing is said about them."""

from __future__ import annotations

import subprocess
import sys

import torch

from mpnp.experts.sparse import coo, csr, pattern

MATRIX = coo(torch.tensor([0, 0, 2]), torch.tensor([1, 1, 0]), torch.tensor([1.0, 2.0, 5.0]), (3, 3))


def test_entries_named_twice_add_up() -> None:
    assert MATRIX.to_dense().tolist() == [[0, 3, 0], [0, 0, 0], [5, 0, 0]]
    assert torch.equal(csr(MATRIX).to_dense(), MATRIX.to_dense())
    assert pattern(csr(MATRIX)).to_dense().tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]


QUIET = """
import torch
from torch_geometric.data import Data
from mpnp.experts.evidence import evidence
from mpnp.experts.views import Views
words = (torch.rand(300, 400) < 0.02).float()
views = Views.of(Data(x=words, edge_index=torch.randint(300, (2, 900))))
evidence(views, torch.arange(20), torch.arange(20) % 2, 2)
"""


def test_asking_the_experts_makes_no_remarks() -> None:
    """In a process of its own: torch says such things once."""
    done = subprocess.run([sys.executable, "-c", QUIET], capture_output=True, text=True, check=True)
    assert "Sparse" not in done.stderr
