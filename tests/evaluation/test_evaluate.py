"""Scores by hand, cross-fitting, and an evaluation that no predictor can cheat."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.evaluation.evaluate import cross_fit, episodes, evaluate
from mpnp.evaluation.scores import Score
from mpnp.models import configs
from mpnp.models.mode import Mode
from mpnp.prediction import Prediction
from mpnp.tasks.base import Task
from mpnp.tasks.cellular_automata import CellularAutomaton

METRICS = ("accuracy", "nll", "brier", "ece", "accuracy_paper")


@dataclass
class Parrot:
    """Repeats the label of every node that shows one and knows nothing of the others (so says class 0, at even odds)."""

    sees_own_label: bool
    name: str = "parrot"
    asked: list[tuple[Tensor, Tensor]] = field(default_factory=list)  # context and queried nodes of every call

    def predict(self, episode: Episode, *, samples: int = 16, seed: int = 0, nodes: Tensor | None = None) -> Prediction:
        shown = episode.shown()
        even = torch.full_like(shown, 1 / episode.num_classes)
        assert nodes is not None
        self.asked.append((episode.context, nodes))
        return Prediction.certain(torch.where(shown.sum(1, keepdim=True) > 0, shown, even)).at(nodes)


@pytest.fixture(scope="module")
def task() -> Task:
    return CellularAutomaton("small-world", graphs_total=40)


@pytest.fixture(scope="module")
def dead(task: Task) -> float:
    """The share of class 0: what the parrot gets where it sees nothing."""
    share = float((task.graphs("test").y == 0).double().mean())
    assert 0.2 < share < 0.8
    return share


def sure(*probabilities: float) -> Prediction:
    """Two classes, from the probability of the first."""
    first = torch.tensor(probabilities)
    return Prediction.certain(torch.stack([first, 1 - first], 1))


# --- Score -----------------------------------------------------------------------------------------------------------


def test_score_by_hand() -> None:
    score = Score(2)
    score.add(sure(0.8, 0.4), torch.tensor([0, 0]))
    score.add(sure(0.3), torch.tensor([1]))  # in batches as all at once
    got = score.compute()
    assert got["accuracy"] == pytest.approx(2 / 3)
    assert got["nll"] == pytest.approx(-(math.log(0.8) + math.log(0.4) + math.log(0.7)) / 3, rel=1e-5)
    assert got["brier"] == pytest.approx((2 * 0.2**2 + 2 * 0.6**2 + 2 * 0.3**2) / 3, rel=1e-5)


def test_calibration_error_by_hand() -> None:
    """Fifteen bins: 0.88 (right) and 0.92 (wrong) share one, 0.65 (wrong) and 0.75 (right) have their own."""
    score = Score(2)
    score.add(sure(0.88, 0.92, 0.65, 0.25), torch.tensor([0, 1, 1, 1]))
    expected = (2 * abs(0.5 - 0.90) + abs(0 - 0.65) + abs(1 - 0.75)) / 4
    assert score.compute()["ece"] == pytest.approx(expected, rel=1e-5)


def test_a_score_survives_certainty_and_can_be_used_again() -> None:
    score = Score(2)
    score.add(sure(1.0, 1.0), torch.tensor([0, 1]))
    got = score.compute()
    assert (got["accuracy"], got["brier"], got["ece"]) == pytest.approx((0.5, 1.0, 0.5))
    assert math.isfinite(got["nll"]) and got["nll"] > 10
    score.reset()
    assert all(math.isnan(value) for value in score.compute().values())
    score.add(sure(0.9), torch.tensor([0]))
    assert score.compute()["accuracy"] == 1


# --- Cross-fitting ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.02, 0.3, 1.0])
def test_every_context_node_is_predicted_once_without_its_label_from_most_others(task: Task, rate: float) -> None:
    episode = next(episodes(task, rate, seed=0))
    parrot = Parrot(sees_own_label=True)
    prediction, nodes = cross_fit(parrot, episode, torch.Generator().manual_seed(0))
    assert torch.equal(nodes.sort().values, episode.context.nonzero().squeeze(1))
    assert prediction.probabilities.shape == (nodes.numel(), 2)
    assert (prediction.probabilities == 0.5).all()  # the parrot saw none of the labels it was asked for
    count = torch.bincount(episode.batch[episode.context], minlength=episode.num_graphs)
    for context, asked in parrot.asked:
        assert not context[asked].any() and not (context & ~episode.context).any()
        left = torch.bincount(episode.batch[context], minlength=episode.num_graphs)
        graphs = episode.batch[asked]
        assert (left[graphs] >= 0.8 * (count[graphs] - 1)).all()


def test_fewer_folds_predict_a_part_of_the_context(task: Task) -> None:
    episode = next(episodes(task, 0.5, seed=3))
    _, nodes = cross_fit(Parrot(True), episode, torch.Generator().manual_seed(0), folds=2)
    whole = int(episode.context.sum())
    assert episode.context[nodes].all()
    assert 0.15 * whole < nodes.numel() < 0.3 * whole


def test_on_large_graphs_a_part_of_the_context_stands_for_all(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = evaluate(Parrot(True), task, [0.5], draws=1)["rates"]["0.5"]
    monkeypatch.setattr("mpnp.evaluation.evaluate.MANY_NODES", 1)
    estimate = evaluate(Parrot(True), task, [0.5], draws=1)["rates"]["0.5"]
    assert estimate["accuracy"] == exact["accuracy"]
    assert estimate["accuracy_paper"] == pytest.approx(exact["accuracy_paper"], abs=0.02)
    assert estimate["accuracy_paper"] != exact["accuracy_paper"]


def test_only_so_many_graphs_are_scored(task: Task) -> None:
    few = list(episodes(task, 0.1, seed=0, at_most=3))
    assert sum(episode.num_graphs for episode in few) == 3
    every = evaluate(Parrot(True), task, [0.1], draws=1)["rates"]["0.1"]
    some = evaluate(Parrot(True), task, [0.1], draws=1, graphs=3)["rates"]["0.1"]
    assert some["accuracy"] != every["accuracy"]


def test_predictions_belong_to_the_nodes_they_come_with() -> None:
    class Number:
        name, sees_own_label = "number", True

        def predict(
            self, episode: Episode, *, samples: int = 16, seed: int = 0, nodes: Tensor | None = None
        ) -> Prediction:
            return Prediction.certain(episode.graph.x).at(nodes)

    x = torch.rand(25, 2)
    data = Data(x=x, edge_index=torch.empty(2, 0, dtype=torch.long), y=torch.randint(-1, 2, (25,)))
    prediction, nodes = cross_fit(Number(), Episode.from_graphs([data], num_classes=2), torch.Generator())
    assert torch.equal(prediction.probabilities, x[nodes])


def test_a_single_context_node_is_predicted_from_nothing() -> None:
    data = Data(x=torch.ones(3, 1), edge_index=torch.empty(2, 0, dtype=torch.long), y=torch.tensor([-1, 1, -1]))
    parrot = Parrot(sees_own_label=True)
    prediction, nodes = cross_fit(parrot, Episode.from_graphs([data], num_classes=2), torch.Generator())
    ((context, asked),) = parrot.asked
    assert nodes.tolist() == asked.tolist() == [1] and not context.any()
    assert prediction.probabilities.tolist() == [[0.5, 0.5]]


def test_an_empty_context_leaves_nothing_to_cross_fit() -> None:
    data = Data(x=torch.ones(3, 1), edge_index=torch.empty(2, 0, dtype=torch.long))
    prediction, nodes = cross_fit(Parrot(True), Episode.from_graphs([data], num_classes=4), torch.Generator())
    assert nodes.numel() == 0 and prediction.probabilities.shape == (0, 4)


# --- Evaluation ------------------------------------------------------------------------------------------------------


def test_the_table_has_what_it_promises(task: Task) -> None:
    table = evaluate(Mode(), task, ["0.10", "1"], draws=2)
    assert (table["task"], table["model"], table["draws"]) == ("ca/small-world", "mode", 2)
    assert list(table["rates"]) == ["0.10", "1"]  # as written
    for row in table["rates"].values():
        assert set(row) == {*METRICS, *(f"{name}_std" for name in METRICS)}
        assert all(math.isfinite(value) for value in row.values())
    assert json.loads(json.dumps(table)) == table
    assert list(evaluate(Mode(), task, draws=1)["rates"]) == [str(rate) for rate in task.rates]


def test_mean_and_spread_are_of_the_draws(task: Task) -> None:
    parts = [evaluate(Mode(), task, [0.1], draws=1, seed=0), evaluate(Mode(), task, [0.1], draws=2, seed=0)]
    first, both = (part["rates"]["0.1"] for part in parts)
    second = 2 * both["nll"] - first["nll"]
    assert first["nll_std"] == 0
    assert both["nll_std"] == pytest.approx(abs(first["nll"] - second) / 2) and both["nll_std"] > 0


@pytest.mark.parametrize("rate", ["0.3", "1.0"])
def test_reading_the_own_label_does_not_pay(task: Task, dead: float, rate: str) -> None:
    row = evaluate(Parrot(sees_own_label=True), task, [rate], draws=1)["rates"][rate]
    assert row["accuracy_paper"] == pytest.approx(dead)  # all targets, none of them from its own label
    assert row["nll"] == pytest.approx(math.log(2), rel=1e-5)
    assert row["brier"] == pytest.approx(0.5, rel=1e-5)
    if rate == "1.0":
        assert row["accuracy"] == pytest.approx(dead)


def test_the_papers_figure_for_predictors_with_a_summary_is_the_direct_one(task: Task, dead: float) -> None:
    rows = evaluate(Parrot(sees_own_label=False), task, ["0.3", "1.0"], draws=1)["rates"]
    assert rows["1.0"]["accuracy_paper"] == 1  # taken at its word that it sees a summary only
    assert rows["1.0"]["accuracy"] == pytest.approx(dead)
    test, hidden, right = task.graphs("test"), 0, 0
    for episode in episodes(task, 0.3, seed=0):
        hidden += int((~episode.context).sum())
        right += int((episode.y[~episode.context] == 0).sum())
    assert rows["0.3"]["accuracy"] == pytest.approx(right / hidden)
    assert rows["0.3"]["accuracy_paper"] == pytest.approx((right + test.num_nodes - hidden) / test.num_nodes)


def test_the_same_seed_gives_the_same_table(task: Task) -> None:
    model = configs.build(configs.config("ampnp", task))
    tables = [evaluate(model, task, [0.1], draws=1, samples=2, seed=seed) for seed in (3, 3, 4)]
    assert tables[0] == tables[1]
    assert tables[0]["rates"] != tables[2]["rates"]


def test_without_any_label_the_prior_answers(task: Task, dead: float) -> None:
    row = evaluate(Mode(), task, ["0"], draws=1)["rates"]["0"]
    assert (row["accuracy"], row["accuracy_paper"]) == pytest.approx((dead, dead))
    assert row["nll"] == pytest.approx(math.log(2), rel=1e-5)
    for name in ("ampnp", "mpnp"):
        row = evaluate(configs.build(configs.config(name, task)), task, [0], draws=1, samples=2)["rates"]["0"]
        assert 0 < row["nll"] < 5


@pytest.mark.parametrize("rate", ["-0.1", "1.1", "nan", "inf", "many", ""])
def test_bad_rates_are_refused(task: Task, rate: str) -> None:
    with pytest.raises(UserError, match="between 0 and 1"):
        evaluate(Mode(), task, [rate])
