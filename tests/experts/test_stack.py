"""Opinions of opinions."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from mpnp.experts.judge import Judge
from mpnp.experts.stack import echoes, stacked, weights_of_all

from .made import both, views

Y = torch.arange(40) % 2
SHOWN = torch.arange(0, 30)
FOLD = SHOWN // 2 % 5


def sure(y: Tensor, of: float = 0.9) -> Tensor:
    return torch.where(torch.nn.functional.one_hot(y, 2).bool(), of, 1 - of).log()


def together(opinions: list[Tensor], shown: Tensor, judge: Judge, fold: Tensor) -> Tensor:
    return stacked(torch.stack(opinions, -1), list(range(len(opinions))), shown, judge, fold)


def test_the_expert_that_is_right_is_followed() -> None:
    judge = Judge(Y[SHOWN], 2)
    noise = torch.randint(2, (40,), generator=torch.Generator().manual_seed(0))
    said = together([sure(noise), sure(Y), sure(1 - Y)], SHOWN, judge, FOLD)
    assert torch.equal(said.argmax(1), Y)
    torch.testing.assert_close(said.exp().sum(1), torch.ones(40))


def test_who_is_not_chosen_has_no_part() -> None:
    judge = Judge(Y[SHOWN], 2)
    loud = torch.full((40, 2), -30.0)
    said = stacked(torch.stack([sure(Y), loud, sure(1 - Y)], -1), [0, 2], SHOWN, judge, FOLD)
    torch.testing.assert_close(said, together([sure(Y), sure(1 - Y)], SHOWN, judge, FOLD))


def test_many_labels_make_the_timid_bold_and_the_bold_timid() -> None:
    many = torch.arange(2000) % 2
    judge = Judge(many, 2)
    timid = together([sure(many, 0.6)], torch.arange(2000), judge, torch.arange(2000) // 2 % 5)
    assert float(timid.exp().max()) > 0.7
    wrong = torch.rand(2000, generator=torch.Generator().manual_seed(0)) < 0.3
    bold = together(
        [sure(torch.where(wrong, 1 - many, many), 0.99)], torch.arange(2000), judge, torch.arange(2000) // 2 % 5
    )
    assert 0.65 < float(bold.exp().max()) < 0.75


def test_a_context_node_does_not_choose_the_weights_it_is_judged_by() -> None:
    """The second expert is right about all nodes of fold 0 and about no other: folds trust it less than it deserves there."""
    judge = Judge(Y[SHOWN], 2)
    helps = torch.where(torch.isin(torch.arange(40), SHOWN[FOLD == 0]), Y, 1 - Y)
    said = together([sure(Y, 0.6), sure(helps)], SHOWN, judge, FOLD)
    again = Judge(torch.where(FOLD == 0, 1 - Y[SHOWN], Y[SHOWN]), 2)  # only labels of fold 0 change
    other = together([sure(Y, 0.6), sure(helps)], SHOWN, again, FOLD)
    torch.testing.assert_close(other[SHOWN[FOLD == 0]], said[SHOWN[FOLD == 0]])


def test_labels_that_stand_alone_choose_nothing() -> None:
    """One label of each class: none can be left out and predicted, so all experts count alike."""
    judge = Judge(torch.tensor([0, 1]), 2)
    said = together([sure(Y), sure(1 - Y)], torch.tensor([0, 1]), judge, torch.tensor([0, 1]))
    torch.testing.assert_close(said.exp(), torch.full((40, 2), 0.5))


def test_names_of_classes_and_the_order_of_experts_do_not_matter() -> None:
    judge, turned = Judge(Y[SHOWN], 2), Judge(1 - Y[SHOWN], 2)
    generator = torch.Generator().manual_seed(0)
    opinions = [torch.randn(40, 2, generator=generator).log_softmax(1) for _ in range(4)]
    said = together(opinions, SHOWN, judge, FOLD)
    torch.testing.assert_close(
        together([o.flip(1) for o in opinions], SHOWN, turned, FOLD).flip(1), said, rtol=1e-4, atol=1e-5
    )
    torch.testing.assert_close(together(opinions[::-1], SHOWN, judge, FOLD), said, rtol=1e-4, atol=1e-5)


def test_an_echo_by_hand() -> None:
    """On the path 0 - 1 - 2 with 0 labelled: 1 hears the mean of a given label and a belief, 0 hears nothing of itself."""
    seen = views(both([(0, 1), (1, 2)]), 4)
    judge = Judge(torch.tensor([0]), 2)
    stack = torch.tensor([[0.3, 0.7], [0.5, 0.5], [0.2, 0.8], [0.6, 0.4]]).log()
    heard = echoes(seen, stack.clone(), torch.tensor([0]), judge)
    torch.testing.assert_close(heard["echo1"][1].exp(), torch.tensor([0.6, 0.4]))
    torch.testing.assert_close(heard["echo1"][2].exp(), torch.tensor([0.5, 0.5]))
    torch.testing.assert_close(heard["echo1"][3].exp(), torch.tensor([0.6, 0.4]))  # alone: its own belief
    for echo in heard.values():
        torch.testing.assert_close(echo[0], stack[0])
    assert heard["echo8"][1, 0] > heard["echo8"][2, 0] > heard["echo8"][2, 1].clamp(max=-10)


def test_folds_solved_at_once_are_solved_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = torch.Generator().manual_seed(0)
    inside = torch.randn(9, 3, 5, generator=generator).log_softmax(1)
    judge = Judge(torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 1]), 3)
    counted = torch.rand(4, 9, generator=generator) < 0.7
    counted[3] = False
    at_once = weights_of_all(inside, judge, counted)
    monkeypatch.setattr("mpnp.experts.stack.FEW_NUMBERS", 0)
    torch.testing.assert_close(at_once, weights_of_all(inside, judge, counted))


def test_very_many_classes_are_weighed_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(140) % 70
    inside = (torch.randn(140, 70, 4, generator=generator) + 2 * torch.eye(70)[y].unsqueeze(-1)).log_softmax(1)
    judge, counted = Judge(y, 70), torch.rand(4, 140, generator=generator) < 0.8
    counted[0], counted[3] = True, False
    monkeypatch.setattr("mpnp.experts.stack.FEW_NUMBERS", 0)
    in_single = weights_of_all(inside, judge, counted)
    monkeypatch.setattr("mpnp.experts.stack.MANY", 100)
    torch.testing.assert_close(in_single, weights_of_all(inside, judge, counted), atol=1e-3, rtol=1e-3)
