"""Metrics of some tasks, against values worked out by hand."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.evaluation.scores import BinaryScore, ShapeScore, TargetAccuracy, shape_miou
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
    score.add(given, torch.tensor([1, 2]), Prediction.certain(torch.tensor([[0.9, 0.1], [0.6, 0.4]])))
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
    score.add(first, every, sure([0.9, 0.42, 0.7, 0.1]))
    score.add(second, every, sure([0.8, 0.2, 0.2, 0.3]))
    # True positives 2, false positives 1, false negatives 1, true negatives 4.
    f1, mcc = 2 * 2 / (2 * 2 + 1 + 1), (2 * 4 - 1 * 1) / (3 * 3 * 5 * 5) ** 0.5
    even = {"f1_argmax": f1, "mcc_argmax": mcc}
    assert score.compute() == pytest.approx({"f1": f1, "mcc": mcc, "threshold": 0.5} | even)
    # From 0.4 on all three of class 1 are found, with one false positive still; 0.3 is not above 0.3.
    assert score.best_threshold() == 0.3
    score.threshold = 0.4
    better = {"f1": 2 * 3 / (2 * 3 + 1), "mcc": (3 * 4) / (4 * 3 * 5 * 4) ** 0.5}
    assert score.compute() == pytest.approx(better | even | {"threshold": 0.4})


def test_a_part_stands_for_the_whole_group() -> None:
    score = TargetAccuracy()
    score.add(torch.tensor([True, True, True, False]))
    score.add(torch.tensor([True, False]), standing_for=10)
    score.add(torch.tensor([], dtype=torch.bool), standing_for=0)
    assert score.compute() == pytest.approx((3 + 5) / (4 + 10))
    assert TargetAccuracy().compute() != TargetAccuracy().compute(), "of no node there is no accuracy"
