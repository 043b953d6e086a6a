"""How values become probabilities."""

from __future__ import annotations

import math

import pytest
import torch

from mpnp.experts.judge import EXPONENTS, LOWEST, PINCHES, TEMPERATURES, Judge, log_shares
from mpnp.experts.ridge import LAMBDAS, Fit


def test_shares_are_smoothed_and_single_labels_cannot_be_counted() -> None:
    judge = Judge(torch.tensor([0, 0, 2]), 4)
    torch.testing.assert_close(judge.shares, torch.tensor([3, 1, 2, 1]).double() / 7)
    assert judge.countable.tolist() == [True, True, False]
    assert judge.centred.sum().item() == pytest.approx(0)


def test_the_loss_is_that_of_countable_nodes_and_bounded() -> None:
    judge = Judge(torch.tensor([0, 0, 1]), 2)
    log_p = torch.tensor([[0.5, 0.5], [0.25, 0.75], [1e-9, 1.0]]).double().log()
    assert judge.nll(log_p).item() == pytest.approx(math.log(2) + math.log(4))
    assert judge.nll(torch.full((3, 2), -1e9).double()).item() == -2 * LOWEST


def test_without_labels_there_is_nothing_to_judge() -> None:
    judge = Judge(torch.zeros(0, dtype=torch.long), 3)
    torch.testing.assert_close(judge.shares, torch.full((3,), 1 / 3).double())
    assert judge.nll(torch.zeros(0, 3)).item() == 0 and judge.countable.numel() == 0


def test_the_fit_that_leaves_out_best_is_chosen_and_made_sharp() -> None:
    y = torch.arange(12) % 2
    judge = Judge(y, 2)
    left_out = torch.zeros(len(LAMBDAS), 12, 2, dtype=torch.double)
    left_out[3] = judge.centred
    place, temperature, log_p = judge.choose(Fit(left_out, lambda _: left_out))
    assert place == 3 and temperature >= 8
    assert (log_p.argmax(1) == y).all()
    place, temperature, _ = judge.choose(Fit(-left_out, lambda _: left_out))
    assert temperature == min(TEMPERATURES) or place != 3  # wrong throughout: not believed


def test_values_between_minus_one_and_one_are_made_sharp_as_the_context_allows() -> None:
    y = torch.arange(20) % 2
    judge = Judge(y, 2)
    assert judge.sharpen(judge.one_hot)[0] >= 8
    assert judge.sharpen(1 - judge.one_hot)[0] == min(TEMPERATURES)


def test_masses_are_shared_out_by_hand() -> None:
    """(1, 0) with half a mean mass for each of two classes: 3 to 1, or 9 to 1 when squared."""
    judge = Judge(torch.tensor([0, 1]), 2)
    mass, mean = torch.tensor([[1.0, 0.0]]), torch.tensor(1.0)
    torch.testing.assert_close(
        judge.shared_out(mass, mean, 1.0, 1.0).exp(), torch.tensor([[0.75, 0.25]]), rtol=1e-6, atol=0
    )
    torch.testing.assert_close(
        judge.shared_out(mass, mean, 1.0, 2.0).exp(), torch.tensor([[0.9, 0.1]]), rtol=1e-6, atol=0
    )
    nowhere = judge.shared_out(0 * mass, 0 * mean, 1.0, 1.0).exp()
    torch.testing.assert_close(nowhere, torch.tensor([[0.5, 0.5]]))


def test_masses_that_are_right_are_trusted() -> None:
    y = torch.arange(20) % 2
    judge = Judge(y, 2)
    _, pinch, exponent = judge.spread(judge.one_hot.float(), torch.tensor(1.0))
    assert pinch == min(PINCHES) or exponent == max(EXPONENTS)
    _, pinch, exponent = judge.spread(1 - judge.one_hot.float(), torch.tensor(1.0))
    assert pinch == max(PINCHES) and exponent == min(EXPONENTS)


def test_shares_of_few_classes_are_a_softmax() -> None:
    for shape in ((7, 3), (2, 4, 7, 3)):
        scores = 20 * torch.randn(shape, generator=torch.Generator().manual_seed(0))
        torch.testing.assert_close(log_shares(scores), scores.log_softmax(-1))
