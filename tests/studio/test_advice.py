"""What to label next, which labels to doubt, when to stop: on figures one can check by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from mpnp.prediction import Prediction
from mpnp.studio import advice
from mpnp.studio.belief import Belief, Stale, open_graph, strategies
from mpnp.studio.scene import Scene

Y = torch.tensor([0, 0, 1, 1, -1])
LEFT_OUT = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.7, 0.3]])


def test_suspects_come_most_doubtful_first() -> None:
    found = advice.suspects(LEFT_OUT, Y)
    assert [(one.node, one.instead) for one in found] == [(1, 1), (3, 0)]
    assert found[0].given == pytest.approx(0.2) and found[0].probability == pytest.approx(0.8)


def test_the_only_label_of_a_class_is_no_suspect() -> None:
    y = torch.tensor([0, 0, 1, -1])
    assert advice.suspects(torch.tensor([[0.9, 0.1], [0.8, 0.2], [1.0, 0.0]]), y) == []


def test_accuracy_counts_labels_that_have_company() -> None:
    right = advice.accuracy(LEFT_OUT, Y)
    assert right is not None and (right.labels, right.right) == (4, 0.5)
    assert right.low < 0.2 and right.high > 0.8
    assert advice.accuracy(torch.tensor([[0.9, 0.1], [0.8, 0.2]]), torch.tensor([0, 1, -1])) is None
    assert advice.accuracy(torch.zeros(0, 2), torch.tensor([-1, -1])) is None


def test_the_interval_narrows_with_labels() -> None:
    assert advice.wilson(0.5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert advice.wilson(1.0, 10)[1] == 1.0 and 0.6 < advice.wilson(1.0, 10)[0] < 0.8
    low, high = advice.wilson(0.5, 1000)
    assert high - low < 0.07


def test_sets_hold_the_true_class_as_often_as_promised() -> None:
    """Of ten labels left out, nine have at least 0.2 for the true class: nine tenths need (10 + 1) 0.9 → the last but none."""
    given = torch.tensor([0.05, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    left_out = torch.stack([given, 1 - given], 1)
    y = torch.zeros(10, dtype=torch.long)
    assert advice.threshold(left_out, y, 0.8) == pytest.approx(0.2)
    assert advice.threshold(left_out, y, 0.9) == pytest.approx(0.05)
    assert advice.threshold(left_out[:8], y[:8], 0.9) == 0  # too few labels: every class stays possible


class Told:
    """Believes 0.6 in class 0 everywhere; once node 0 has a label, 0.9 in that one."""

    def imagine(self, y: Tensor, classes: int, stale: Callable[[], bool]) -> Prediction:
        if stale():
            raise Stale
        best = 0.6 if y[0] < 0 else 0.9
        row = [1 - best, best] if y[0] == 1 else [best, 1 - best]
        return Prediction.certain(torch.tensor(row).repeat(len(y), 1))


def test_gain_is_what_the_others_become_surer_by() -> None:
    y = torch.full((5,), -1)
    told: Belief = Told()  # type: ignore[assignment]
    now = told.imagine(y, 2, lambda: False)
    assert advice.expected_gain(told, y, now, 0, lambda: False) == pytest.approx(4 * 0.3)
    with pytest.raises(Stale):
        advice.expected_gain(told, y, now, 0, lambda: True)


def test_reasons_are_told_in_words(scene: Scene) -> None:
    belief = open_graph("label-propagation", scene.data)
    y, names = scene.data.y, ["red", "blue"]
    prediction = belief.believe(y, 2)
    none = torch.zeros(6, dtype=torch.bool)
    for strategy, says in strategies().items():
        first, *_ = advice.questions(belief, strategy, says, y, prediction, names, none)
        assert "'red'" in first.why or "'blue'" in first.why
        assert first.why.endswith(".")
    blank = torch.full((6,), -1)
    first, *_ = advice.questions(belief, "spread", "x", blank, belief.believe(blank, 2), names, none)
    assert "Nothing is labelled yet" in first.why


def test_when_to_stop() -> None:
    many = advice.Accuracy(30, 0.9, 0.8, 0.95)
    few = advice.Accuracy(4, 1.0, 0.5, 1.0)
    assert advice.verdict(50, 1000, many, 2) == (False, "Go on: another label is expected to settle 50 nodes of 1,000.")
    assert advice.verdict(0.4, 1000, many, 2)[0] is True
    assert advice.verdict(0.4, 1000, few, 2)[0] is False
    assert advice.verdict(0, 1000, many, 2)[1].endswith("settle none of the 1,000 others.")
    assert advice.verdict(0, 1000, few, 2)[1] == "Go on: the labels are too few to judge by."
    assert advice.verdict(50, 1000, None, 1) == (
        False, "Label at least one node of two classes, and the model can begin.")  # fmt: skip
    assert advice.verdict(0, 0, many, 2) == (True, "Every node has a label.")


def test_the_outlook_is_told_once_there_are_labels_to_judge_by() -> None:
    sure = Prediction.certain(torch.tensor([[0.9, 0.1]]).repeat(60, 1))
    y = torch.full((60,), -1)
    assert advice.outlook(sure, y, torch.zeros(0, 2), 1.0) == ""
    y[:20] = 0
    told = advice.outlook(sure, y, sure.probabilities[:20], 1.0)
    assert told.startswith("About 9") and "right now" in told and "after 10 more labels" in told
    assert advice.outlook(sure, torch.zeros(60, dtype=torch.long), sure.probabilities, 0.0) == ""
