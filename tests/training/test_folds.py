"""Training on few labels: when it stops, how sure it is afterwards, and that it goes on where it was stopped."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch
from scipy.stats import beta
from studies.few_labels import block_model

import mpnp
from mpnp.errors import UserError
from mpnp.models import from_pretrained
from mpnp.prediction import tempered
from mpnp.tasks.own import OwnTask
from mpnp.training import folds
from mpnp.training.fit import fit

from .learning import weights


def test_a_model_of_few_labels_is_nearly_as_sure_as_it_is_right(tmp_path: Path) -> None:
    graph, truth = block_model(300, 40)
    fitted = fit(graph, out=tmp_path / "run", progress=False, options={"width": 8, "epoch_steps": 5, "epochs": 8})
    hidden = graph.y < 0

    def gap() -> tuple[float, float]:
        said = mpnp.predict(fitted.model, graph)
        accuracy = float((said.label == truth)[hidden].float().mean())
        return float(said.probabilities.amax(1)[hidden].mean()) - accuracy, accuracy

    left, accuracy = gap()
    fitted.model.calibration = None
    before, _ = gap()
    assert abs(left) < 0.06 < 0.3 < abs(before)  # measured: 0.041 and 0.381
    said = fitted.metrics["cross_validation"]
    assert (said["nodes"], said["epochs"]) == (32, fitted.metrics["epochs"])
    assert said["low"] < accuracy < said["high"]


def found(right: int, nodes: int) -> folds.Found:
    return folds.Found(1, 5, nodes, right / nodes, 0.0, 1.0, 0.5, 1.0, 0.1, 0.1)


def test_held_out_labels_and_a_second_opinion_are_weighed_by_what_they_are_worth() -> None:
    few, many = (folds.likely_accuracy(found(round(0.9 * nodes), nodes), 0.7) for nodes in (10, 10_000))
    assert 0.7 < few < 0.75 and many == pytest.approx(0.9, abs=0.003)
    # Beta(m o, m (1 - o)) is as wide as the opinion errs, and its mean moves as by Bayes.
    weight = 0.7 * 0.3 / folds.OPINION_ERROR**2 - 1
    assert beta(0.7 * weight, 0.3 * weight).std() == pytest.approx(folds.OPINION_ERROR)
    assert few == pytest.approx(beta(0.7 * weight + 9, 0.3 * weight + 1).mean())
    assert folds.likely_accuracy(found(30, 30), 1.0) == 1.0 and folds.likely_accuracy(found(0, 30), 1.0) < 0.05


def test_a_temperature_makes_as_sure_as_asked_within_bounds() -> None:
    said = torch.randn(200, 3, dtype=torch.double, generator=torch.Generator().manual_seed(0)).mul(2).softmax(1)
    for confidence in (0.5, 0.7, 0.95):
        temperature = folds.as_sure_as(said, confidence)
        assert float(tempered(said, temperature).amax(1).mean()) == pytest.approx(confidence, abs=1e-3)
    assert folds.as_sure_as(said, 1.0) == pytest.approx(math.exp(-folds.MOST_LOG)) and folds.as_sure_as(
        said, 0.1
    ) == pytest.approx(math.exp(folds.MOST_LOG))


TINY = {"width": 8, "epoch_steps": 2, "epochs": 3}


def test_the_run_goes_on_from_what_the_folds_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, _ = block_model(60, 30)
    whole = fit(graph, out=tmp_path / "whole", progress=False, options=TINY)
    assert json.loads((tmp_path / "whole" / folds.FILE).read_text()) == whole.metrics["cross_validation"]
    assert torch.equal(weights(from_pretrained(tmp_path / "whole")), weights(whole.model))
    loaded = from_pretrained(tmp_path / "whole").calibration
    assert loaded == whole.model.calibration and loaded is not None and loaded.conformal is not None

    with monkeypatch.context() as patch:  # killed when the folds are done
        patch.setattr("mpnp.training.fit._train", lambda *_: (_ for _ in ()).throw(RuntimeError("killed")))
        with pytest.raises(RuntimeError, match="killed"):
            fit(graph, out=tmp_path / "again", progress=False, options=TINY)
    monkeypatch.setattr("mpnp.training.fit.try_folds", lambda *_: pytest.fail("the folds are not tried again"))
    again = fit(graph, out=tmp_path / "again", progress=False, options=TINY, resume=True)
    assert torch.equal(weights(again.model), weights(whole.model))
    (tmp_path / "again" / "metrics.json").unlink()
    (tmp_path / "again" / folds.FILE).write_text("{}")
    with pytest.raises(UserError, match=r"folds\.json is damaged"):
        fit(graph, out=tmp_path / "again", progress=False, options=TINY, resume=True)


def test_labels_kept_for_the_test_are_in_no_lesson() -> None:
    task = OwnTask(block_model(60, 30)[0])
    lessons = folds.to_learn_from(task).graphs("train")
    assert int((lessons.y >= 0).sum()) == 24 and not (lessons.y[task.part("test")] >= 0).any()
    assert folds.few_labels(task) and not folds.few_labels(OwnTask(block_model(1500, 1200)[0]))


def test_rare_classes_count_as_much_as_common_ones(tmp_path: Path) -> None:
    graph, _ = block_model(80, 60)
    rare = (graph.y == 0) & (torch.arange(80) % 4 > 0)
    graph.y[rare] = -1
    plain, even = (
        fit(graph, "gnn", out=tmp_path / str(balance), progress=False, options={"epochs": 2}, balance=balance)
        for balance in (False, True)
    )
    assert even.metrics["balance"] and "balance" not in plain.metrics
    share = [mpnp.predict(run.model, graph).probabilities[:, 0].mean() for run in (plain, even)]
    assert share[1] > share[0]
