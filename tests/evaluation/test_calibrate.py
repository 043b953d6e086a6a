"""Calibrating: the temperature, conformal sets."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.errors import UserError
from mpnp.evaluation.calibrate import (
    _nll,
    calibrate,
    calibration_from,
    check_few,
    fit_sets,
    fit_temperature,
    likelihood_gain,
)
from mpnp.evaluation.reliability import Pool, pools_by_rate
from mpnp.models import configs
from mpnp.models.base import LatentModel
from mpnp.models.calibration import Calibration
from mpnp.models.label_propagation import LabelPropagation
from mpnp.models.mode import Mode
from mpnp.prediction import Prediction, tempered

from ..rings import Rings
from .pools import CLASSES, by_hand, honest


def nll(answers: Pool) -> float:
    return -float(answers.true.log().mean())


def covered(sets: Tensor, y: Tensor) -> float:
    return float(sets.gather(1, y.unsqueeze(1)).double().mean())


@pytest.fixture
def model() -> LatentModel:
    torch.manual_seed(0)
    return configs.build(configs.config("ampnp", Rings()))


# --- The temperature -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [0.4, 1.0, 2.5])
def test_the_temperature_undoes_a_known_one(temperature: float) -> None:
    spoiled = [honest(20_000, seed).at(1 / temperature) for seed in (0, 1)]
    assert fit_temperature(spoiled) == pytest.approx(temperature, rel=0.03)
    mended = spoiled[0].at(fit_temperature(spoiled))
    torch.testing.assert_close(mended.probabilities, honest(20_000).probabilities, rtol=0, atol=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_the_likelihood_never_gets_worse_and_no_label_changes(seed: int) -> None:
    given = honest(30, seed)
    mended = given.at(fit_temperature([given]))
    assert nll(mended) <= nll(given)
    assert torch.equal(mended.prediction.label, given.prediction.label)


def test_rates_weigh_alike() -> None:
    """Many nodes that need T = 2 count no more than few that need T = 1 / 2."""
    many, few = honest(40_000).at(0.5), honest(2_000, 1).at(2.0)
    both = fit_temperature([many, few])
    assert both == pytest.approx(fit_temperature([few, many]), rel=1e-3)
    assert both < 0.9 * fit_temperature([Pool.join([many, few])])


def test_a_handful_of_right_answers_does_not_make_cocksure() -> None:
    assert 0.4 < fit_temperature([by_hand([[0.9, 0.1]] * 10, [0] * 10)]) < 1


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_total_stays_aleatoric_plus_epistemic(temperature: float) -> None:
    samples = (3 * torch.randn(16, 200, 5, generator=torch.Generator().manual_seed(0))).double().softmax(-1)
    before, after = Prediction.from_samples(samples), Prediction.from_samples(samples, temperature=temperature)
    torch.testing.assert_close(after.probabilities, tempered(samples.mean(0), temperature))
    assert torch.equal(after.label, before.label)
    # Not by clamping: the mutual information itself is never negative.
    assert (after.total - after.aleatoric >= -1e-9).all() and (after.aleatoric >= 0).all()
    assert ((after.total > before.total).all(), (after.aleatoric.mean() > before.aleatoric.mean()).item()) == (
        (temperature > 1,) * 2
    )


def test_samples_that_agree_stay_without_epistemic_doubt() -> None:
    same = torch.tensor([[0.7, 0.2, 0.1]]).expand(8, 1, 3)
    prediction = Prediction.from_samples(same, temperature=2.0)
    torch.testing.assert_close(prediction.aleatoric, prediction.total)
    torch.testing.assert_close(prediction.deviation, torch.zeros(1), rtol=0, atol=1e-6)


def test_tempered_samples_by_hand() -> None:
    """Samples (1, 0) and (0.5, 0.5): the mean (3/4, 1/4) at T = 1/2 is (9/10, 1/10), so classes weigh 6/5 and 2/5; the
    samples weigh 6/5 and 4/5, and the second says (3/4, 1/4)."""
    samples = torch.tensor([[[1.0, 0.0]], [[0.5, 0.5]]])
    prediction = Prediction.from_samples(samples, temperature=0.5)
    torch.testing.assert_close(prediction.probabilities, torch.tensor([[0.9, 0.1]]))
    quarter = torch.tensor([0.75, 0.25])
    torch.testing.assert_close(prediction.aleatoric, -(quarter * quarter.log()).sum().reshape(1) * 0.4)
    variance = 0.6 * 0.1**2 + 0.4 * 0.15**2
    torch.testing.assert_close(prediction.deviation, torch.tensor([variance**0.5]))


# --- Sets ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.98])
@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_coverage_holds_whatever_the_predictor(coverage: float, temperature: float) -> None:
    val, test = (honest(5_000, seed).at(temperature) for seed in (0, 1))
    sets = fit_sets([val], coverage).sets(test.prediction, 0.1)
    assert covered(sets, test.y) == pytest.approx(coverage, abs=0.015)
    assert float(sets.sum(1).double().mean()) < CLASSES


def test_more_coverage_only_adds_labels() -> None:
    val, test = honest(500), honest(500, 1)
    sets = [fit_sets([val], coverage).sets(test.prediction, 0.1) for coverage in (0.6, 0.8, 0.9, 0.99)]
    for small, large in itertools.pairwise(sets):
        assert (large | ~small).all()
        assert int(large.sum()) > int(small.sum())


def test_thresholds_by_hand() -> None:
    """Of nine true labels' probabilities the lowest lies below a new one's nine times out of ten; of eight, only 0 does."""
    nine = [[p, 1 - p] for p in (0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)]
    assert fit_sets([by_hand(nine, [0] * 9)], 0.9).thresholds == pytest.approx((0.3,))
    assert fit_sets([by_hand(nine, [0] * 9)], 0.8).thresholds == pytest.approx((0.35,))
    few = fit_sets([by_hand(nine[:8], [0] * 8)], 0.9)
    assert few.sets(Prediction.certain(torch.tensor([[1.0, 0.0]])), 0.5).all()


def test_every_rate_has_its_threshold_in_rising_order() -> None:
    dense, sparse = honest(2_000, 0, 4.0, shown=0.5), honest(2_000, 1, 1.0, shown=0.1)
    conformal = fit_sets([dense, sparse], 0.9)
    assert conformal.shown == pytest.approx((0.1, 0.5))
    assert conformal.thresholds[0] == fit_sets([sparse], 0.9).thresholds[0] != conformal.thresholds[1]


@pytest.mark.parametrize("coverage", [0.0, 1.0, -0.5, 1.5, float("nan")])
def test_coverages_that_cannot_be(coverage: float) -> None:
    with pytest.raises(UserError, match="between 0 and 1"):
        fit_sets([honest(10)], coverage)


# --- On a task -------------------------------------------------------------------------------------------------------


def test_splits_without_graphs_or_labels() -> None:
    with pytest.raises(UserError, match="rings has no val graphs"):
        calibrate(Mode(), Rings(val=0))
    one = Rings(labelled=1)
    one.rates = (0.2,)
    with pytest.raises(UserError, match="no label left to predict"):
        calibrate(Mode(), one)


def test_a_model_of_other_features(model: LatentModel) -> None:
    other = Rings()
    for graphs in other.splits.values():
        graphs.x = torch.ones(graphs.num_nodes, 3)
    with pytest.raises(UserError, match="has 3 features per node, but the model is made for 1"):
        calibrate(model, other)


def test_calibrating_again_starts_afresh(model: LatentModel) -> None:
    first = calibrate(model, Rings(), draws=1, samples=2)
    earlier = model.calibration = Calibration(temperature=0.3)
    assert calibrate(model, Rings(), draws=1, samples=2) == first
    assert model.calibration is earlier


def test_a_temperature_that_fits_better_already_stays(model: LatentModel) -> None:
    pools = [pool for _, pool in pools_by_rate(model, Rings(), "val", draws=1, samples=2)]
    best = min((0.5, 0.8, 1.0, 1.3, 1.7, 2.2), key=lambda t: _nll(pools, t))
    found = calibration_from(pools, 0.9, before=best)
    assert _nll(pools, found.temperature) <= _nll(pools, best)


# --- On few labels ---------------------------------------------------------------------------------------------------


def labels_of(graph: Data, count: int) -> Data:
    graph.y = torch.where(torch.arange(graph.num_nodes) < count, graph.y, -1)
    return graph


def blocks(nodes: int = 80) -> Data:
    """Two blocks, each a ring with chords."""
    around = torch.arange(nodes)
    ends = torch.stack([around, (around + 2) % nodes])
    return Data(x=torch.randn(nodes, 2), edge_index=torch.cat([ends, ends.flip(0)], 1), y=around % 2)


def test_few_labels_are_refused_with_their_number() -> None:
    with pytest.raises(UserError, match="20 labelled nodes are there to calibrate by, at least 30"):
        calibrate(LabelPropagation(), labels_of(blocks(), 20))
    assert calibrate(LabelPropagation(), labels_of(blocks(), 40)).conformal is not None


def test_a_temperature_of_chance_is_not_taken() -> None:
    """Where confidence is honest already, a temperature fitted to few labels gains nothing on others."""
    torch.manual_seed(0)
    pool = honest(40)
    assert likelihood_gain(pool, 1.0) < 0.01
    unsure = Pool(tempered(pool.probabilities, 4.0), pool.y, pool.graph, pool.shown)
    assert likelihood_gain(unsure, 1.0) > 0.02


def test_sets_are_empty_only_if_asked_for() -> None:
    graph = labels_of(blocks(), 60)
    filled, raw = (calibrate(LabelPropagation(), graph, 0.5, allow_empty=empty).conformal for empty in (False, True))
    assert filled is not None and raw is not None and filled.thresholds == raw.thresholds
    unsure = Prediction.certain(torch.tensor([[0.5, 0.5]]))
    filled, raw = (replace(one, thresholds=(0.9,)) for one in (filled, raw))
    assert filled.sets(unsure, 0.5).sum() == 1 and raw.sets(unsure, 0.5).sum() == 0


def test_what_calibrating_by_few_labels_mends_is_told_by_others() -> None:
    torch.manual_seed(0)
    pool = honest(200)
    row = check_few(Pool(tempered(pool.probabilities, 0.3), pool.y, pool.graph, pool.shown), 0.8)
    assert row.after.nll < row.before.nll and abs(row.after.coverage - 0.8) < 0.12
