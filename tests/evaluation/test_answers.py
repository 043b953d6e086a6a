"""The one loop: who is asked about what, and with what in view."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.defaults import SAMPLES
from mpnp.episode import Episode
from mpnp.evaluation.answers import Answers, answer, cross_fit, draw_seeds, episodes
from mpnp.models.mode import Mode
from mpnp.prediction import Prediction
from mpnp.tasks.base import Task
from mpnp.tasks.cellular_automata import CellularAutomaton

from ..rings import Rings
from .parrot import Parrot


@pytest.fixture(scope="module")
def task() -> Task:
    return CellularAutomaton("small-world", graphs_total=40)


def path(labels: list[int]) -> Data:
    steps = torch.arange(len(labels) - 1)
    return Data(x=torch.ones(len(labels), 1), edge_index=torch.stack([steps, steps + 1]), y=torch.tensor(labels))


# --- Answers ---------------------------------------------------------------------------------------------------------


def test_answers_stand_beside_the_truth() -> None:
    shown = torch.tensor([True, False, False, True, True])
    episode = Episode.from_graphs([path([0, 1, 1]), path([1, 0])], shown, 2)
    says = Prediction.certain(torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]]))
    answers = Answers(episode, torch.tensor([1, 2, 4]), says)
    assert answers.y.tolist() == [1, 1, 0]
    assert answers.right.tolist() == [False, True, True]
    assert answers.given.tolist() == [False, False, True]
    assert answers.graph.tolist() == [0, 0, 1]
    assert answers.shown.tolist() == pytest.approx([1 / 3, 1 / 3, 1])


def test_answers_take_their_places_in_a_whole_prediction() -> None:
    episode = Episode.from_graphs([path([0, 1, 1, 0])], num_classes=2)
    whole = Prediction(torch.full((4, 2), 0.5), torch.zeros(4), torch.arange(4.0))
    some = Prediction(torch.tensor([[0.9, 0.1], [0.2, 0.8]]), torch.ones(2), torch.tensor([7.0, 8.0]))
    both = Answers(episode, torch.tensor([3, 1]), some).within(whole)
    assert both.probabilities[:, 0].tolist() == pytest.approx([0.5, 0.2, 0.5, 0.9])
    assert both.deviation is not None and both.deviation.tolist() == [0, 8, 2, 7]
    nothing = Answers(episode, torch.zeros(0, dtype=torch.long), Prediction.join([], 2))
    assert nothing.within(whole) is whole


# --- The loop --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", ["hidden", "scored", "targets"])
def test_below_a_hundred_percent_the_unlabelled_are_asked_for(asked: str) -> None:
    (answers,) = answer(Mode(), Rings(), 0.5, asked=asked)  # type: ignore[arg-type]
    assert torch.equal(answers.nodes, answers.episode.unlabelled_targets.nonzero().squeeze(1))
    assert not answers.given.any() and answers.prediction.probabilities.shape == (60, 2)
    assert (answers.context is None) == (asked != "targets")


def test_at_a_hundred_percent_nothing_is_hidden_and_all_is_cross_fitted() -> None:
    (hidden,) = answer(Parrot(True), Rings(), 1.0)
    assert hidden.nodes.numel() == 0 and hidden.prediction.probabilities.shape == (0, 2)
    (scored,) = answer(Parrot(True), Rings(), 1.0, asked="scored")
    assert scored.given.all() and scored.nodes.numel() == 120
    assert (scored.prediction.probabilities == 0.5).all()  # none of them saw its own label


class Shapes(Rings):
    metrics = ("shapes",)


@pytest.mark.parametrize(
    ("task", "sees", "certain"),
    [(Rings(), False, True), (Rings(), True, False), (Shapes(), True, True)],
    ids=["asked directly", "cross-fitted", "as given"],
)
@pytest.mark.parametrize("rate", [0.5, 1.0])
def test_context_nodes_as_they_are_counted(task: Task, sees: bool, certain: bool, rate: float) -> None:
    parrot = Parrot(sees)
    (answers,) = answer(parrot, task, rate, asked="targets")
    context = answers.context
    assert context is not None and context.given.all()
    assert torch.equal(context.nodes.sort().values, answers.episode.context.nonzero().squeeze(1))
    assert context.right.all() == certain
    assert ((context.prediction.probabilities == 0.5).all()) == (not certain)
    if sees:  # not even asked with its own label in view
        assert not any(shown[nodes].any() for shown, nodes in parrot.asked)


def test_graph_by_graph_each_has_noise_of_its_own() -> None:
    class Noisy(Parrot):
        def predict(self, episode: Episode, *, seed: int = 0, **options: object) -> Prediction:  # type: ignore[override]
            seeds.append(seed)
            return super().predict(episode, seed=seed, **options)  # type: ignore[arg-type]

    seeds: list[int] = []
    assert len(list(answer(Noisy(False), Rings(), 0.5, 7))) == 1 and seeds == [7]
    seeds.clear()
    list(answer(Noisy(False), Rings(), 0.5, 7, noise=0))
    assert seeds == [0]
    seeds.clear()
    alone = list(answer(Noisy(False), Rings(), 0.5, 7, alone=True))
    assert seeds == [0, 1, 2, 3, 4, 5]
    (batch,) = answer(Noisy(False), Rings(), 0.5, 7)
    contexts = torch.cat([answers.episode.context for answers in alone])
    assert torch.equal(contexts, batch.episode.context)  # the same draw


def test_every_seed_has_draws_of_its_own() -> None:
    assert list(draw_seeds(0, 3)) == [0, 1, 2]
    assert not set(draw_seeds(0, 10_000)) & set(draw_seeds(1, 10_000))


# --- Cross-fitting ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.02, 0.3, 1.0])
def test_every_context_node_is_predicted_once_without_its_label_from_most_others(task: Task, rate: float) -> None:
    episode = next(episodes(task, rate, seed=0))
    parrot = Parrot(sees_own_label=True)
    answers = cross_fit(parrot, episode, torch.Generator().manual_seed(0))
    prediction, nodes = answers.prediction, answers.nodes
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
    nodes = cross_fit(Parrot(True), episode, torch.Generator().manual_seed(0), folds=2).nodes
    whole = int(episode.context.sum())
    assert episode.context[nodes].all()
    assert 0.15 * whole < nodes.numel() < 0.3 * whole


def test_predictions_belong_to_the_nodes_they_come_with() -> None:
    class Number:
        name, sees_own_label = "number", True

        def predict(
            self, episode: Episode, *, samples: int = SAMPLES, seed: int = 0, nodes: Tensor | None = None
        ) -> Prediction:
            return Prediction.certain(episode.graph.x).at(nodes)

    x = torch.rand(25, 2)
    data = Data(x=x, edge_index=torch.empty(2, 0, dtype=torch.long), y=torch.randint(-1, 2, (25,)))
    answers = cross_fit(Number(), Episode.from_graphs([data], num_classes=2), torch.Generator())
    assert torch.equal(answers.prediction.probabilities, x[answers.nodes])


def test_a_single_context_node_is_predicted_from_nothing() -> None:
    data = Data(x=torch.ones(3, 1), edge_index=torch.empty(2, 0, dtype=torch.long), y=torch.tensor([-1, 1, -1]))
    parrot = Parrot(sees_own_label=True)
    answers = cross_fit(parrot, Episode.from_graphs([data], num_classes=2), torch.Generator())
    ((context, asked),) = parrot.asked
    assert answers.nodes.tolist() == asked.tolist() == [1] and not context.any()
    assert answers.prediction.probabilities.tolist() == [[0.5, 0.5]]


def test_an_empty_context_leaves_nothing_to_cross_fit() -> None:
    data = Data(x=torch.ones(3, 1), edge_index=torch.empty(2, 0, dtype=torch.long))
    answers = cross_fit(Parrot(True), Episode.from_graphs([data], num_classes=4), torch.Generator())
    assert answers.nodes.numel() == 0 and answers.prediction.probabilities.shape == (0, 4)
