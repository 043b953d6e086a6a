"""Nodes that gather around the classes."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from mpnp.experts import clumps as module
from mpnp.experts.clumps import clumps
from mpnp.experts.context import Context
from mpnp.experts.judge import Judge

from .made import both, views

TURN = torch.arange(30) * (2 * math.pi / 3) + 0.05 * torch.randn(30, generator=torch.Generator().manual_seed(0))
CLOCK = torch.stack([TURN.cos(), TURN.sin()], 1)  # three heaps of ten on a circle
HEAP = torch.arange(30) % 3


def given(nodes: list[int], y: Tensor = HEAP, classes: int = 3) -> Context:
    shown = torch.tensor(nodes)
    return Context(views(both([]), 30), shown, Judge(y[shown], classes))


def test_a_label_or_two_name_a_heap() -> None:
    said = clumps(given([0, 1, 2, 3, 4, 5]), CLOCK)
    assert torch.equal(said.argmax(1), HEAP)
    torch.testing.assert_close(said.exp().sum(1), torch.ones(30))


def test_a_wrong_label_shows() -> None:
    y = HEAP.clone()
    y[0] = 1
    said = clumps(given(list(range(12)), y), CLOCK)
    assert int(said[0].argmax()) == 0


def test_a_class_without_a_label_has_no_clump() -> None:
    said = clumps(given([0, 1, 2, 3, 4, 5], classes=4), CLOCK)
    assert torch.equal(said.argmax(1), HEAP) and said.isfinite().all()


def test_of_very_many_nodes_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_GATHERED", 7)
    assert torch.equal(clumps(given([0, 1, 2, 3, 4, 5]), CLOCK).argmax(1), HEAP)


@pytest.mark.parametrize("basis", [torch.zeros(30, 2), torch.ones(30, 2), CLOCK[:1].expand(30, -1)])
def test_where_all_are_alike_nothing_is_said(basis: Tensor) -> None:
    said = clumps(given([0, 1, 2, 3, 4]), basis)
    torch.testing.assert_close(said.exp(), torch.full((30, 3), 1 / 3), rtol=1e-3, atol=1e-3)
