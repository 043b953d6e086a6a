"""What accuracy to expect, now and later."""

from __future__ import annotations

import pytest
import torch

from mpnp.active.forecast import TRUST, Forecast, forecast
from mpnp.prediction import Prediction


def believed(share: float, nodes: int = 100) -> Prediction:
    return Prediction.certain(torch.tensor([[share, 1 - share]]).repeat(nodes, 1))


def labels(zeros: int, ones: int, nodes: int = 100) -> torch.Tensor:
    y = torch.full((nodes,), -1)
    y[:zeros], y[zeros : zeros + ones] = 0, 1
    return y


def test_belief_is_corrected_by_hits() -> None:
    """Everything is taken for class 0 with 0.8: of 30 labels 24 are of it, as many as believed; or only 6."""
    (now,) = forecast(believed(0.8), labels(24, 6), (0,))
    assert now.accuracy == pytest.approx(0.8)
    (worse,) = forecast(believed(0.8), labels(6, 24), (0,))
    assert worse.accuracy == pytest.approx(0.8 * (6 + TRUST) / (24 + TRUST))
    assert now.low < now.accuracy < now.high


def test_hard_labels_of_which_the_model_knew_that_they_are_hard_change_nothing() -> None:
    """Asked were ten nodes about which it thought to be right half of the time, and was."""
    y, left_out = labels(5, 5), torch.tensor([[0.5001, 0.4999]]).repeat(10, 1)
    (found,) = forecast(believed(0.9), y, (0,), left_out=left_out)
    assert found.accuracy == pytest.approx(0.9, abs=1e-3)


def test_more_labels_narrow_the_interval_and_later_widens_it() -> None:
    few, many = forecast(believed(0.8), labels(4, 1), (0,))[0], forecast(believed(0.8), labels(40, 10), (0,))[0]
    assert many.high - many.low < few.high - few.low
    now, soon, late = forecast(believed(0.6), labels(6, 4), (0, 5, 40))
    assert now.accuracy < soon.accuracy < late.accuracy
    assert now.accuracy - now.low < late.accuracy - late.low + 0.2
    (flat,) = forecast(believed(0.6), labels(6, 4), (40,), gain=0.0)
    assert flat.accuracy == pytest.approx(now.accuracy)


def test_of_few_nodes_the_share_that_is_right_varies_by_chance() -> None:
    few, many = (forecast(believed(0.8, nodes), labels(24, 6, nodes), (0,))[0] for nodes in (50, 5000))
    assert few.accuracy == pytest.approx(many.accuracy)
    assert few.low < many.low and many.high < few.high


def test_the_only_label_of_a_class_does_not_count() -> None:
    one = forecast(believed(0.8), labels(5, 0), (0,))[0]
    two = forecast(believed(0.8, 101), labels(5, 1, 101), (0,))[0]  # as many without a label
    assert (one.accuracy, one.low) == pytest.approx((two.accuracy, two.low))


def test_all_or_nothing_labelled() -> None:
    assert forecast(believed(0.8, 5), labels(5, 0, 5), (0, 3)) == [
        Forecast(0, 1.0, 1.0, 1.0),
        Forecast(3, 1.0, 1.0, 1.0),
    ]
    (blank,) = forecast(believed(0.5), labels(0, 0), (0,))
    assert blank.low < 0.5 < blank.high


def test_in_words() -> None:
    assert Forecast(0, 0.8, 0.7, 0.9).sentence == "about 80 % right now (90 %: 70 to 90 %)"
    assert Forecast(1, 0.8, 0.7, 0.9).sentence == "about 80 % right after 1 more label (90 %: 70 to 90 %)"
