"""Reliability: what is counted, before a calibration and after it."""

from __future__ import annotations

import pytest
import torch

from mpnp.errors import UserError
from mpnp.evaluation.calibrate import calibrate, calibration_from
from mpnp.evaluation.reliability import (
    CalibrationTable,
    check_calibration,
    compare,
    credible_sets,
    pools_by_rate,
    reliability,
)
from mpnp.evaluation.scores import Score
from mpnp.models.calibration import Calibration
from mpnp.models.mode import Mode
from mpnp.plots import honesty_figure, reliability_figure

from ..rings import Rings
from .pools import CLASSES, by_hand, honest


def test_credible_sets_by_hand() -> None:
    p = torch.tensor([[0.1, 0.6, 0.3], [0.95, 0.05, 0.0]])
    assert credible_sets(p, 0.9).tolist() == [[False, True, True], [True, False, False]]
    assert credible_sets(p, 0.5).tolist() == [[False, True, False], [True, False, False]]


def test_reliability_by_hand() -> None:
    """Two nodes of confidence 0.9, one right; one of 0.6, right. Sets hold the true label twice, of four labels in all."""
    answers = by_hand([[0.9, 0.1], [0.1, 0.9], [0.6, 0.4]], [0, 0, 0], graph=[0, 1, 1])
    row = reliability(answers, torch.tensor([[True, True], [False, True], [True, False]]))
    assert [(b.accuracy, b.count) for b in row.bins] == [(1.0, 1), (0.5, 2)]
    assert [b.confidence for b in row.bins] == pytest.approx([0.6, 0.9])
    assert (row.coverage, row.set_size) == (pytest.approx(2 / 3), pytest.approx(4 / 3))
    # Hits miss their mean by 1/3 in the first graph and -2/3 + 1/3 in the second.
    assert row.coverage_error == pytest.approx((2 / 9 * 2) ** 0.5 / 3)
    score = Score()
    score.add(answers)
    assert {key: getattr(row, key) for key in ("accuracy", "nll", "brier", "ece")} == score.compute()


def test_bins_give_the_calibration_error() -> None:
    row = reliability(honest(3_000).at(0.5), torch.ones(3_000, CLASSES, dtype=torch.bool))
    gap = sum(b.count * abs(b.confidence - b.accuracy) for b in row.bins) / 3_000
    assert gap == pytest.approx(row.ece, abs=1e-5) and row.ece > 0.05


def test_calibration_mends_what_was_spoiled() -> None:
    val, test = (honest(5_000, seed).at(0.4) for seed in (0, 1))
    row = compare(calibration_from([val], 0.9), test)
    for key in ("nll", "brier", "ece"):
        assert getattr(row.after, key) < getattr(row.before, key)
    assert row.before.coverage < 0.87 and row.after.coverage == pytest.approx(0.9, abs=0.015)


def test_pictures() -> None:
    row = compare(calibration_from([honest(500)], 0.9), honest(500, 1))
    figure = reliability_figure({"0.1": row, "1.0": row}, "title")
    assert [axis.get_title() for axis in figure.axes[:2]] == ["10 % labelled", "100 % labelled"]
    drawn = {line.get_label().split(":")[0]: line for line in figure.axes[0].get_lines()}
    assert drawn["after"].get_xdata()[-1] == pytest.approx(row.after.bins[-1].confidence)
    assert drawn["after"].get_ydata()[-1] == pytest.approx(row.after.bins[-1].accuracy)
    figure = honesty_figure({"np": {"0.1": row.before, "0.05": row.after}, "mode": {"0.1": row.after}})
    left = figure.axes[0]
    assert [text.get_text() for text in left.get_xticklabels()] == ["5 %", "10 %"]
    assert [len(line[0].get_xdata()) for line in left.containers] == [2, 1]
    assert left.containers[0][0].get_ydata().tolist() == [row.after.ece, row.before.ece]


def test_answers_are_for_the_unlabelled_nodes_of_all_graphs() -> None:
    found = dict(pools_by_rate(Mode(), Rings(), "val", draws=2))
    assert list(found) == [0.2, 0.5, 1.0]
    assert [answers.y.numel() for answers in found.values()] == [2 * 6 * 16, 2 * 6 * 10, 2 * 6 * 20]
    for rate, answers in found.items():
        assert torch.bincount(answers.graph).tolist() == [answers.y.numel() // 6] * 6
        assert answers.shown.tolist() == pytest.approx([rate] * answers.y.numel())


def test_a_split_without_graphs() -> None:
    with pytest.raises(UserError, match="no test graphs"):
        list(pools_by_rate(Mode(), Rings(test=0), "test"))


def test_a_table_of_what_a_calibration_mends() -> None:
    calibration = calibrate(Mode(), Rings(), 0.8, draws=1)
    table = check_calibration(Mode(), Rings(), calibration, draws=1)
    assert list(table.rates) == ["0.2", "0.5", "1.0"]
    assert (table.coverage, table.temperature) == (0.8, calibration.temperature)
    pools = dict(pools_by_rate(Mode(), Rings(), "test", draws=1))
    assert table.at(0.5) == compare(calibration, pools[0.5])
    assert CalibrationTable.from_dict(table.to_dict()) == table
    assert table.at(0.2).before.bins[0].count > 0
    row = table.rows()[0]
    assert repr(table).splitlines()[1].split() == ["rate", "accuracy", "nll", "brier", "ece", "coverage", "set_size"]
    assert f"{table.at(0.2).before.nll:.4f} → {table.at(0.2).after.nll:.4f}" in repr(table)
    assert row["rate"] == 0.2 and row["nll before"] == table.at(0.2).before.nll and "bins before" not in row


def test_a_temperature_alone_promises_no_coverage() -> None:
    with pytest.raises(UserError, match="without a coverage"):
        compare(Calibration(temperature=2.0), honest(10))
