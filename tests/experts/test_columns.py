"""Columns that are kept from one question to the next."""

from __future__ import annotations

import torch
from torch import Tensor

from mpnp.experts.columns import FAMILIES, Columns

KERNEL = torch.arange(36.0).view(6, 6)


class Maker:
    """Gives columns of :data:`KERNEL`, and notes of which nodes."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def __call__(self, nodes: Tensor) -> Tensor:
        self.asked.append(nodes.tolist())
        return torch.stack([KERNEL[:, nodes], -KERNEL[:, nodes]])


def test_a_column_is_made_once() -> None:
    columns, make = Columns(6), Maker()
    columns.of("kernel", torch.tensor([1, 4]), make, 2)
    columns.of("kernel", torch.tensor([4, 0, 1]), make, 2)
    assert make.asked == [[1, 4], [0]]


def test_products_and_entries_are_those_of_the_kernel() -> None:
    columns, nodes = Columns(6), torch.tensor([4, 0, 1])
    columns.of("kernel", torch.tensor([1, 5]), Maker(), 2)
    family = columns.of("kernel", nodes, Maker(), 2)
    weights = torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]])
    torch.testing.assert_close(family.times(nodes, weights), KERNEL[:, nodes] @ weights)
    torch.testing.assert_close(family.times(nodes, weights, 1), -KERNEL[:, nodes] @ weights)
    torch.testing.assert_close(family.at(torch.tensor([2, 3]), nodes), KERNEL[[2, 3]][:, nodes])
    torch.testing.assert_close(family.own(nodes, 1), -KERNEL.diagonal()[nodes])


def test_those_not_asked_for_longest_make_place() -> None:
    columns, make = Columns(6, room=3 * 6 * FAMILIES), Maker()
    assert columns.holds(torch.arange(3)) and not columns.holds(torch.arange(4)) and not columns.holds(torch.arange(0))
    for nodes in ([0, 1], [2], [0, 3], [0, 2]):
        family = columns.of("kernel", torch.tensor(nodes), make, 2)
    assert make.asked == [[0, 1], [2], [3]]
    torch.testing.assert_close(family.at(torch.arange(6), torch.tensor([0, 2])), KERNEL[:, [0, 2]])
