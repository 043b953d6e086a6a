"""Counted by hand, and against torchmetrics on many random answers."""

from __future__ import annotations

import pytest
import torch
from torchmetrics.functional.classification import (
    binary_auroc,
    multiclass_calibration_error,
    multiclass_f1_score,
    multiclass_matthews_corrcoef,
)

from mpnp.evaluation.counts import CalibrationError, area, confusion, f1, matthews


@pytest.mark.parametrize("seed", range(20))
def test_what_torchmetrics_counts(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    classes, nodes = 2 + seed % 5, 30 + 40 * seed
    p = torch.rand(nodes, classes, generator=generator).pow(3).softmax(1).mul(20).round().div(20)  # with ties
    p = p / p.sum(1, keepdim=True)
    true = torch.randint(classes, (nodes,), generator=generator)
    label = p.argmax(1)
    table = confusion(true, label, classes)
    assert f1(table).tolist() == pytest.approx(multiclass_f1_score(label, true, classes, average="none").tolist())
    assert matthews(table) == pytest.approx(float(multiclass_matthews_corrcoef(label, true, classes)), abs=1e-5)
    for c in range(classes):
        assert area(p[:, c], true == c) == pytest.approx(float(binary_auroc(p[:, c], (true == c).long())), abs=1e-5)
    error = CalibrationError()
    for part in torch.arange(nodes).split(17):  # in batches as all at once
        error.add(p[part].amax(1), label[part] == true[part])
    assert error.compute() == pytest.approx(float(multiclass_calibration_error(p, true, classes, n_bins=15)), abs=1e-5)


def test_one_answer_for_all_has_no_correlation() -> None:
    """torchmetrics says 0.42 here: of a guess that looks at nothing, on a class of 36 among 40."""
    true = torch.tensor([0] * 36 + [1] * 4)
    assert matthews(confusion(true, torch.zeros(40, dtype=torch.long), 2)) == 0
    assert matthews(confusion(true, true, 2)) == 1
    assert matthews(confusion(true, 1 - true, 2)) == -1


def test_full_certainty_and_rounding_above_it() -> None:
    error = CalibrationError()
    error.add(torch.tensor([1.0, 1.0 + 2e-7, 1.0, 0.97]), torch.tensor([True, True, False, True]))
    assert error.compute() == pytest.approx((1 + 0.03) / 4, abs=1e-6)
