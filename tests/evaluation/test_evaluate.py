"""An evaluation that no predictor can cheat, and a table that has what it promises."""

from __future__ import annotations

import json
import math

import pytest

from mpnp.errors import UserError
from mpnp.evaluation.answers import episodes
from mpnp.evaluation.evaluate import evaluate
from mpnp.evaluation.tables import ScoreTable
from mpnp.models import configs
from mpnp.models.mode import Mode
from mpnp.tasks.base import Task
from mpnp.tasks.cellular_automata import CellularAutomaton

from .parrot import Parrot

METRICS = ("accuracy", "nll", "brier", "ece", "accuracy_paper")


@pytest.fixture(scope="module")
def task() -> Task:
    return CellularAutomaton("small-world", graphs_total=40)


@pytest.fixture(scope="module")
def dead(task: Task) -> float:
    """The share of class 0: what the parrot gets where it sees nothing."""
    share = float((task.graphs("test").y == 0).double().mean())
    assert 0.2 < share < 0.8
    return share


def test_on_large_graphs_a_part_of_the_context_stands_for_all(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = evaluate(Parrot(True), task, [0.5], draws=1).at(0.5)
    monkeypatch.setattr("mpnp.evaluation.answers.MANY_NODES", 1)
    estimate = evaluate(Parrot(True), task, [0.5], draws=1).at(0.5)
    assert estimate.accuracy == exact.accuracy
    assert estimate.accuracy_paper == pytest.approx(exact.accuracy_paper, abs=0.02)
    assert estimate.accuracy_paper != exact.accuracy_paper


def test_only_so_many_graphs_are_scored(task: Task) -> None:
    few = list(episodes(task, 0.1, seed=0, at_most=3))
    assert sum(episode.num_graphs for episode in few) == 3
    every = evaluate(Parrot(True), task, [0.1], draws=1).at(0.1)
    some = evaluate(Parrot(True), task, [0.1], draws=1, graphs=3).at(0.1)
    assert some.accuracy != every.accuracy


def test_the_table_has_what_it_promises(task: Task) -> None:
    table = evaluate(Mode(), task, ["0.10", "1"], draws=2)
    assert (table.task, table.model, table.draws) == ("ca/small-world", "mode", 2)
    assert list(table.rates) == ["0.10", "1"]  # as written
    for row in table.rates.values():
        assert list(row.to_dict()) == [*METRICS, *(f"{name}_std" for name in METRICS)]
        assert all(math.isfinite(value) for value in row.to_dict().values())
    assert ScoreTable.from_dict(json.loads(table.to_json())) == table
    assert list(evaluate(Mode(), task, draws=1).rates) == [str(rate) for rate in task.rates]


def test_mean_and_spread_are_of_the_draws(task: Task) -> None:
    parts = [evaluate(Mode(), task, [0.1], draws=1, seed=0), evaluate(Mode(), task, [0.1], draws=2, seed=0)]
    first, both = (part.at(0.1) for part in parts)
    second = 2 * both.nll - first.nll
    assert first.spread.nll == 0
    assert both.spread.nll == pytest.approx(abs(first.nll - second) / 2) and both.spread.nll > 0


@pytest.mark.parametrize("rate", ["0.3", "1.0"])
def test_reading_the_own_label_does_not_pay(task: Task, dead: float, rate: str) -> None:
    row = evaluate(Parrot(sees_own_label=True), task, [rate], draws=1).at(rate)
    assert row.accuracy_paper == pytest.approx(dead)  # all targets, none of them from its own label
    assert row.nll == pytest.approx(math.log(2), rel=1e-5)
    assert row.brier == pytest.approx(0.5, rel=1e-5)
    if rate == "1.0":
        assert row.accuracy == pytest.approx(dead)


def test_the_papers_figure_for_predictors_with_a_summary_is_the_direct_one(task: Task, dead: float) -> None:
    rows = evaluate(Parrot(sees_own_label=False), task, ["0.3", "1.0"], draws=1).rates
    assert rows["1.0"].accuracy_paper == 1  # taken at its word that it sees a summary only
    assert rows["1.0"].accuracy == pytest.approx(dead)
    test, hidden, right = task.graphs("test"), 0, 0
    for episode in episodes(task, 0.3, seed=0):
        hidden += int((~episode.context).sum())
        right += int((episode.y[~episode.context] == 0).sum())
    assert rows["0.3"].accuracy == pytest.approx(right / hidden)
    assert rows["0.3"].accuracy_paper == pytest.approx((right + test.num_nodes - hidden) / test.num_nodes)


def test_the_same_seed_gives_the_same_table(task: Task) -> None:
    model = configs.build(configs.config("ampnp", task))
    tables = [evaluate(model, task, [0.1], draws=1, samples=2, seed=seed) for seed in (3, 3, 4)]
    assert tables[0] == tables[1]
    assert tables[0].rates != tables[2].rates


def test_without_any_label_the_prior_answers(task: Task, dead: float) -> None:
    row = evaluate(Mode(), task, ["0"], draws=1).at(0)
    assert (row.accuracy, row.accuracy_paper) == pytest.approx((dead, dead))
    assert row.nll == pytest.approx(math.log(2), rel=1e-5)
    for name in ("ampnp", "mpnp"):
        row = evaluate(configs.build(configs.config(name, task)), task, [0], draws=1, samples=2).at(0)
        assert 0 < row.nll < 5


@pytest.mark.parametrize("rate", ["-0.1", "1.1", "nan", "inf", "many", ""])
def test_bad_rates_are_refused(task: Task, rate: str) -> None:
    with pytest.raises(UserError, match="between 0 and 1"):
        evaluate(Mode(), task, [rate])
