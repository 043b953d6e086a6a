"""One contract for every summary of the context."""

from __future__ import annotations

import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from mpnp.nn.aggregators import Aggregator

CLASSES, WIDTH = 3, 2
# Graph 0: all classes but 1. Graph 1: an empty context. Graph 2: class 1 alone.
BATCH = torch.tensor([0, 0, 0, 0, 1, 1, 2, 2])
LABEL = torch.tensor([0, 2, 2, -1, -1, -1, 1, -1])
VALUES = torch.tensor([[1.0, 2], [3, -4], [5, 0], [9, 9], [9, 9], [9, 9], [-6, 7], [9, 9]])
CONTRACT = pytest.mark.parametrize(
    ("reduction", "by_class"), [("mean", False), ("mean", True), ("max", False), ("max", True)]
)


def one_hot(label: Tensor) -> Tensor:
    return F.one_hot(label.clamp(min=0), CLASSES) * (label >= 0).unsqueeze(1).float()


def aggregator(reduction: str, by_class: bool) -> Aggregator:
    module = Aggregator(WIDTH, CLASSES, by_class, reduction)
    module.absent = nn.Parameter(-1.0 - torch.arange(module.absent.numel()).view_as(module.absent).float())
    return module


@pytest.mark.parametrize(
    ("reduction", "by_class", "expected"),
    [
        ("mean", False, [[3, -2 / 3], [-1, -2], [-6, 7]]),
        ("max", False, [[5, 2], [-1, -2], [-6, 7]]),
        ("mean", True, [[1, 2, -3, -4, 4, -2], [-1, -2, -3, -4, -5, -6], [-1, -2, -6, 7, -5, -6]]),
        ("max", True, [[1, 2, -3, -4, 5, 0], [-1, -2, -3, -4, -5, -6], [-1, -2, -6, 7, -5, -6]]),
    ],
)
def test_by_hand_with_stand_ins_for_what_is_absent(reduction: str, by_class: bool, expected: list[list[float]]) -> None:
    module = aggregator(reduction, by_class)
    out = module(VALUES, one_hot(LABEL), BATCH, 3)
    assert out.size(1) == module.out_width
    torch.testing.assert_close(out, torch.tensor(expected, dtype=torch.float))


@CONTRACT
def test_the_order_of_nodes_does_not_matter(reduction: str, by_class: bool) -> None:
    torch.manual_seed(0)
    module, r = aggregator(reduction, by_class), torch.randn(40, WIDTH)
    batch, label = torch.arange(4).repeat_interleave(10), torch.randint(-1, CLASSES, (40,))
    order = torch.randperm(40)
    out = module(r, one_hot(label), batch, 4)
    torch.testing.assert_close(module(r[order], one_hot(label[order]), batch[order], 4), out)


@CONTRACT
def test_a_graph_alone_is_a_graph_in_a_batch(reduction: str, by_class: bool) -> None:
    module = aggregator(reduction, by_class)
    together = module(VALUES, one_hot(LABEL), BATCH, 3)
    for graph in range(3):
        mine = graph == BATCH
        alone = module(VALUES[mine], one_hot(LABEL[mine]), torch.zeros_like(BATCH[mine]), 1)
        torch.testing.assert_close(together[graph : graph + 1], alone)


@CONTRACT
def test_only_context_nodes_count(reduction: str, by_class: bool) -> None:
    module = aggregator(reduction, by_class)
    hidden = LABEL < 0
    out = module(VALUES, one_hot(LABEL), BATCH, 3)
    assert torch.equal(module(VALUES + 100 * hidden.unsqueeze(1), one_hot(LABEL), BATCH, 3), out)
    assert not torch.equal(module(VALUES + 100 * ~hidden.unsqueeze(1), one_hot(LABEL), BATCH, 3), out)


@CONTRACT
def test_stand_ins_learn_where_something_is_absent(reduction: str, by_class: bool) -> None:
    module, r = aggregator(reduction, by_class), VALUES.clone().requires_grad_()
    module(r, one_hot(LABEL), BATCH, 3).sum().backward()
    assert module.absent.grad is not None and r.grad is not None
    # Class 0 is absent from graphs 1 and 2, class 1 from 0 and 1, class 2 from 1 and 2.
    assert module.absent.grad[:, 0].tolist() == ([2, 2, 2] if by_class else [1])
    assert (r.grad[LABEL < 0] == 0).all()
    assert r.grad.sum() == WIDTH * (4 - 1 if by_class else 3 - 1)  # one for every group that is not absent


def test_a_class_may_keep_its_share_of_the_context() -> None:
    """Three context nodes of class 0, one of class 1: their means weigh 3/4 and 1/4, and the absent class 2 its stand-in."""
    r = torch.tensor([[3.0], [6.0], [9.0], [8.0], [100.0]])
    label = torch.eye(3)[[0, 0, 0, 1, 1]] * torch.tensor([[1.0], [1.0], [1.0], [1.0], [0.0]])
    module = Aggregator(1, 3, by_class=True, keep_share=True)
    module.absent.data.fill_(-5.0)
    summary = module(r, label, torch.zeros(5, dtype=torch.long), 1)
    torch.testing.assert_close(summary, torch.tensor([[6.0 * 3 / 4, 8.0 / 4, -5.0]]))
