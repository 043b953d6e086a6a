"""Metrics of some tasks, against values worked out by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.evaluation.answers import Answers
from mpnp.evaluation.scores import BinaryScore, ClassScore, Score, ShapeScore, TargetAccuracy, shape_miou
from mpnp.prediction import Prediction


def episode(*labels: list[int], context: list[bool], classes: int) -> Episode:
    edges = torch.empty(2, 0, dtype=torch.long)
    graphs = [Data(x=torch.ones(len(y), 1), edge_index=edges, y=torch.tensor(y)) for y in labels]
    return Episode.from_graphs(graphs, torch.tensor(context), classes)


def test_miou_of_shapes_by_hand() -> None:
    true = torch.tensor([0, 0, 0, 1, 0, 1, 1])
    predicted = torch.tensor([0, 0, 1, 1, 0, 1, 1])
    batch = torch.tensor([0, 0, 0, 0, 1, 1, 1])
    # Shape 0: part 0 is 2/3, part 1 is 1/2, part 2 is in neither and counts 1. Shape 1 is all right.
    expected = torch.tensor([(2 / 3 + 1 / 2 + 1) / 3, 1.0])
    torch.testing.assert_close(shape_miou(true, predicted, batch, 3), expected)


def test_given_labels_count_as_given_in_the_papers_miou() -> None:
    given = episode([0, 0, 1, 1], context=[True, False, False, True], classes=2)
    score = ShapeScore()
    score.add(Answers(given, torch.tensor([1, 2]), Prediction.certain(torch.tensor([[0.9, 0.1], [0.6, 0.4]]))))
    # Hidden points: part 0 is 1 of 2, part 1 is 0 of 1. All points: part 0 is 2 of 3, part 1 is 1 of 2.
    assert score.compute() == pytest.approx({"miou": 0.25, "miou_paper": (2 / 3 + 1 / 2) / 2})


def sure(probability: list[float]) -> Prediction:
    """Predictions with the given probabilities of class 1."""
    p = torch.tensor(probability)
    return Prediction.certain(torch.stack([1 - p, p], 1))


def test_f1_and_matthews_correlation_by_hand() -> None:
    score = BinaryScore()
    first = episode([1, 1, 0, 0], context=[False] * 4, classes=2)
    second = episode([1, 0, 0, 0], context=[False] * 4, classes=2)
    every = torch.arange(4)
    score.add(Answers(first, every, sure([0.9, 0.42, 0.7, 0.1])))
    score.add(Answers(second, every, sure([0.8, 0.2, 0.2, 0.3])))
    # True positives 2, false positives 1, false negatives 1, true negatives 4.
    f1, mcc = 2 * 2 / (2 * 2 + 1 + 1), (2 * 4 - 1 * 1) / (3 * 3 * 5 * 5) ** 0.5
    even = {"f1_argmax": f1, "mcc_argmax": mcc}
    assert score.compute() == pytest.approx({"f1": f1, "mcc": mcc, "threshold": 0.5} | even)
    # From 0.4 on all three of class 1 are found, with one false positive still; 0.3 is not above 0.3.
    assert score.best_threshold() == 0.3
    score.threshold = 0.4
    better = {"f1": 2 * 3 / (2 * 3 + 1), "mcc": (3 * 4) / (4 * 3 * 5 * 4) ** 0.5}
    assert score.compute() == pytest.approx(better | even | {"threshold": 0.4})


def test_a_part_of_the_context_stands_for_all_of_it() -> None:
    """Four hidden nodes, three of them right; ten of the context, of which two were asked for and one is right."""
    given = episode([0] * 14, context=[False] * 4 + [True] * 10, classes=2)
    asked = Answers(given, torch.tensor([4, 9]), sure([0.1, 0.8]))
    score = TargetAccuracy()
    score.add(Answers(given, torch.arange(4), sure([0.1, 0.2, 0.3, 0.9]), context=asked))
    assert score.compute() == {"accuracy_paper": pytest.approx((3 + 5) / (4 + 10))}
    nothing = TargetAccuracy()
    nothing.add(Answers(given, torch.zeros(0, dtype=torch.long), sure([])))
    assert math.isnan(nothing.compute()["accuracy_paper"]), "of no node there is no accuracy"


def test_scores_of_hidden_nodes_leave_out_what_was_shown() -> None:
    """At a context rate of 1 every node was shown: there is nothing for F1 and mIoU to count."""
    shown = episode([0, 1], context=[True, True], classes=2)
    for score in (BinaryScore(), ShapeScore()):
        score.add(Answers(shown, torch.arange(2), sure([0.1, 0.9])))
        assert all(math.isnan(value) for name, value in score.compute().items() if name != "threshold")


# --- The common scores -----------------------------------------------------------------------------------------------


def beside(y: list[int], *probabilities: float) -> Answers:
    """Nodes of the labels ``y``, predicted with these probabilities of class 0."""
    return Answers(
        episode(y, context=[False] * len(y), classes=2), torch.arange(len(y)), sure([1 - p for p in probabilities])
    )


def test_score_by_hand() -> None:
    score = Score()
    score.add(beside([0, 0], 0.8, 0.4))
    score.add(beside([1], 0.3))  # in batches as all at once
    got = score.compute()
    assert got["accuracy"] == pytest.approx(2 / 3)
    assert got["nll"] == pytest.approx(-(math.log(0.8) + math.log(0.4) + math.log(0.7)) / 3, rel=1e-5)
    assert got["brier"] == pytest.approx((2 * 0.2**2 + 2 * 0.6**2 + 2 * 0.3**2) / 3, rel=1e-5)


def test_calibration_error_by_hand() -> None:
    """Fifteen bins: 0.88 (right) and 0.92 (wrong) share one, 0.65 (wrong) and 0.75 (right) have their own."""
    score = Score()
    score.add(beside([0, 1, 1, 1], 0.88, 0.92, 0.65, 0.25))
    expected = (2 * abs(0.5 - 0.90) + abs(0 - 0.65) + abs(1 - 0.75)) / 4
    assert score.compute()["ece"] == pytest.approx(expected, rel=1e-5)


def test_a_score_survives_certainty_and_can_be_used_again() -> None:
    score = Score()
    score.add(beside([0, 1], 1.0, 1.0))
    got = score.compute()
    assert (got["accuracy"], got["brier"], got["ece"]) == pytest.approx((0.5, 1.0, 0.5))
    assert math.isfinite(got["nll"]) and got["nll"] > 10
    score.reset()
    assert all(math.isnan(value) for value in score.compute().values())
    score.add(beside([0], 0.9))
    assert score.compute()["accuracy"] == 1


def test_scores_of_classes_by_hand() -> None:
    """Three classes, of which one is never met nor predicted; one node of four is wrong."""
    y = torch.tensor([0, 0, 1, 1])
    p = torch.tensor([[0.9, 0.1, 0.0], [0.4, 0.6, 0.0], [0.2, 0.8, 0.0], [0.3, 0.7, 0.0]])
    graph = Data(x=torch.ones(4, 1), edge_index=torch.empty(2, 0, dtype=torch.long), y=y)
    episode = Episode.from_graphs([graph], torch.zeros(4, dtype=torch.bool), num_classes=3)
    counter = ClassScore(3)
    assert all(value != value for value in counter.compute().values())
    counter.add(Answers(episode, torch.arange(4), Prediction.certain(p)))
    found = counter.compute()
    assert found["f1_macro"] == pytest.approx((2 / 3 + 4 / 5) / 2)
    assert found["mcc"] == pytest.approx(1 / 3**0.5) and found["auc"] == 1
