"""The uncertainty of a prediction is split without a remainder."""

from __future__ import annotations

from math import log

import pytest
import torch

from mpnp.prediction import Prediction, entropy


def test_entropy_in_nats() -> None:
    got = entropy(torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]]))
    torch.testing.assert_close(got, torch.tensor([log(2), 0.0, log(3)]))


def test_two_samples_by_hand() -> None:
    """Node 0: the samples contradict each other; node 1: both are undecided; node 2: something between."""
    prediction = Prediction.from_samples(
        torch.tensor([[[1.0, 0.0], [0.5, 0.5], [0.9, 0.1]], [[0.0, 1.0], [0.5, 0.5], [0.6, 0.4]]])
    )
    aleatoric = -(0.9 * log(0.9) + 0.1 * log(0.1) + 0.6 * log(0.6) + 0.4 * log(0.4)) / 2
    total = -(0.75 * log(0.75) + 0.25 * log(0.25))
    torch.testing.assert_close(prediction.probabilities, torch.tensor([[0.5, 0.5], [0.5, 0.5], [0.75, 0.25]]))
    torch.testing.assert_close(prediction.total, torch.tensor([log(2), log(2), total]))
    torch.testing.assert_close(prediction.aleatoric, torch.tensor([0.0, log(2), aleatoric]))
    torch.testing.assert_close(prediction.epistemic, torch.tensor([log(2), 0.0, total - aleatoric]))


def test_the_deviation_by_hand() -> None:
    """Over the samples of one node: 0.9 and 0.5 of the first class; a scale of the likelihood's own adds its variance."""
    samples = torch.tensor([[[0.9, 0.1]], [[0.5, 0.5]]])
    torch.testing.assert_close(Prediction.from_samples(samples).deviation, torch.tensor([0.2]))
    scale = torch.tensor([[[0.1, 0.3]], [[0.5, 0.7]]])
    variance = 0.04 + (0.01 + 0.09 + 0.25 + 0.49) / 4
    torch.testing.assert_close(Prediction.from_samples(samples, scale).deviation, torch.tensor([variance**0.5]))
    assert Prediction.from_samples(samples[:1]).deviation.tolist() == [0]  # type: ignore[union-attr]
    assert Prediction.certain(samples[0]).deviation is None


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_total_is_aleatoric_plus_epistemic(scale: float) -> None:
    logits = scale * torch.randn(16, 200, 5, generator=torch.Generator().manual_seed(0))
    prediction = Prediction.from_samples(logits.softmax(-1))
    torch.testing.assert_close(prediction.total, prediction.aleatoric + prediction.epistemic)
    assert (prediction.epistemic >= 0).all()
    assert (prediction.aleatoric >= 0).all()
    assert (prediction.total <= log(5) + 1e-6).all()


def test_one_set_of_probabilities_has_nothing_epistemic() -> None:
    prediction = Prediction.certain(torch.tensor([[0.2, 0.8], [1.0, 0.0]]))
    assert prediction.epistemic.tolist() == [0, 0]
    torch.testing.assert_close(prediction.total, torch.tensor([-(0.2 * log(0.2) + 0.8 * log(0.8)), 0.0]))


def test_label_is_the_likeliest_class_and_the_first_of_equals() -> None:
    prediction = Prediction.certain(torch.tensor([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8], [0.4, 0.2, 0.4]]))
    assert prediction.label.tolist() == [1, 2, 0]


def test_a_part_of_a_prediction_and_parts_put_together() -> None:
    whole = Prediction.from_samples(torch.rand(3, 6, 2, generator=torch.Generator().manual_seed(0)).softmax(-1))
    assert whole.at(None) is whole
    parts = [whole.at(torch.tensor([4, 1])), whole.at(torch.tensor([0, 5, 2, 3]))]
    joined, order = Prediction.join(parts, 2), torch.tensor([4, 1, 0, 5, 2, 3])
    assert torch.equal(joined.probabilities, whole.probabilities[order])
    assert torch.equal(joined.epistemic, whole.epistemic[order])
    assert torch.equal(joined.deviation, whole.deviation[order])  # type: ignore[arg-type,index]
    assert Prediction.join([*parts, Prediction.certain(whole.probabilities)], 2).deviation is None
    assert Prediction.join([], 5).probabilities.shape == (0, 5)


def test_where_takes_each_node_from_one_of_two() -> None:
    sure = Prediction(torch.tensor([[1.0, 0.0]] * 3), torch.tensor([0.0, 0.0, 0.0]))
    unsure = Prediction(torch.tensor([[0.5, 0.5]] * 3), torch.tensor([0.1, 0.2, 0.3]))
    mixed = sure.where(torch.tensor([False, True, False]), unsure)
    assert mixed.probabilities.tolist() == [[0.5, 0.5], [1, 0], [0.5, 0.5]]
    torch.testing.assert_close(mixed.aleatoric, torch.tensor([0.1, 0.0, 0.3]))
    assert mixed.deviation is None
    sure.deviation, unsure.deviation = torch.zeros(3), torch.tensor([1.0, 2.0, 3.0])
    mixed = sure.where(torch.tensor([False, True, False]), unsure)
    assert mixed.deviation is not None and mixed.deviation.tolist() == [1, 0, 3]
