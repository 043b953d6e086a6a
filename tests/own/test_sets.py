"""Sets of labels from nothing but the labels given."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.own.sets import LabelSets, fewest, sets_from_context, weighted_threshold
from mpnp.prediction import Prediction


def episode_of(y: list[int], context: list[bool]) -> Episode:
    graph = Data(x=torch.ones(len(y), 1), edge_index=torch.zeros(2, 0, dtype=torch.long), y=torch.tensor(y))
    return Episode.from_graphs([graph], torch.tensor(context))


def test_threshold_is_a_quantile_with_the_new_node_counted() -> None:
    true = torch.arange(1, 20, dtype=torch.double) / 20  # 0.05 … 0.95, nineteen of them
    # A new value is as likely to fall into any of 20 gaps: two of them are 10 %, so one value may lie below.
    assert weighted_threshold(true, torch.ones(19), 0.9) == pytest.approx(0.1)
    assert weighted_threshold(true, torch.ones(19), 0.95) == pytest.approx(0.05)


def test_threshold_is_lower_where_the_low_ones_weigh_more() -> None:
    true = torch.tensor([0.2, 0.4, 0.6, 0.8]).repeat(10).double()
    heavy = torch.where(true < 0.3, 10.0, 1.0)
    assert weighted_threshold(true, heavy, 0.6) < weighted_threshold(true, torch.ones(40), 0.6)


@pytest.mark.parametrize(("coverage", "labels"), [(0.5, 1), (0.9, 9), (0.95, 19)])
def test_fewest_labels_of_a_promise(coverage: float, labels: int) -> None:
    assert fewest(coverage) == labels


def test_too_few_labels_leave_every_class_possible_and_say_so() -> None:
    episode = episode_of([0, 0, 1, 1, -1], [True, True, True, True, False])
    sets = sets_from_context(Prediction.certain(torch.tensor([[0.9, 0.1]] * 5)), episode, 0.9)
    assert sets.inside.all()
    assert not sets.kept
    assert "4 labels" in sets.promise and "at least 9" in sets.promise


def test_single_labels_of_a_class_say_nothing() -> None:
    episode = episode_of([0] * 12 + [1, -1], [True] * 13 + [False])
    p = torch.tensor([[0.8, 0.2]] * 14)
    assert sets_from_context(Prediction.certain(p), episode).labels == 12


def test_sets_cover_as_often_as_asked_and_are_never_empty() -> None:
    generator = torch.Generator().manual_seed(0)
    p = torch.softmax(3 * torch.randn(4000, 3, generator=generator), 1)
    y = torch.multinomial(p, 1, generator=generator).squeeze(1)
    episode = episode_of(y.tolist(), [True] * 1000 + [False] * 3000)
    sets = sets_from_context(Prediction.certain(p), episode, 0.9)
    hit = sets.inside[torch.arange(4000), y][1000:].float().mean()
    assert 0.88 < float(hit) < 0.93
    assert bool(sets.inside.any(1).all())
    assert "1000 labels" in sets.promise


def test_labels_given_class_by_class_are_weighed_by_how_common_a_class_is() -> None:
    """Class 1 is rare and hard; half of the labels are of it. Unweighed, it would set the threshold."""
    p0, p1 = [0.9, 0.1], [0.6, 0.4]
    context = [True] * 80 + [False] * 400
    y = [0] * 40 + [1] * 40 + [-1] * 400
    p = torch.tensor([p0] * 40 + [p1] * 40 + [p0] * 400)
    sets = sets_from_context(Prediction.certain(p), episode_of(y, context), 0.8)
    assert sets.inside[80:].sum(1).float().mean() == 1


def test_coverage_is_checked() -> None:
    episode = episode_of([0, 1], [True, True])
    with pytest.raises(UserError, match="between 0 and 1"):
        sets_from_context(Prediction.certain(torch.full((2, 2), 0.5)), episode, 1.5)


def test_a_middling_number_of_labels_is_promised_with_a_grain_of_salt() -> None:
    assert "as far as 12 labels can tell" in LabelSets(torch.ones(1, 1, dtype=torch.bool), 0.9, 12).promise
