"""The door to the models: any predictor, or one that opens a graph once."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.experts.evidence import EXPERTS
from mpnp.models import find_predictor
from mpnp.prediction import Prediction
from mpnp.studio.belief import EXPERTS as SOURCES
from mpnp.studio.belief import Belief, Incremental, Stale, Whole, default_model, open_graph, strategies
from mpnp.studio.scene import Scene

Y = torch.tensor([0, -1, -1, -1, -1, 1])


class Opened:
    """A session that gives every class the same share and counts how often it is asked; two experts have an opinion."""

    def __init__(self, data: Data) -> None:
        self.nodes, self.asked = data.x.size(0), 0

    def ask(self, y: Tensor, classes: int) -> SimpleNamespace:
        self.asked += 1
        log_p = torch.full((self.nodes, classes, len(EXPERTS)), -12.0)
        present, skill = torch.zeros(len(EXPERTS), dtype=torch.bool), torch.zeros(len(EXPERTS))
        for expert, share, weight in (("x", 0.8, 0.99), ("x_rbf", 0.2, 0.0)):
            i = EXPERTS.index(expert)
            log_p[:, 0, i], log_p[:, 1, i] = math.log(share), math.log(1 - share)
            present[i], skill[i] = True, weight
        return SimpleNamespace(classes=classes, evidence=SimpleNamespace(log_p=log_p, present=present, skill=skill))

    def answer(self, question: SimpleNamespace) -> Prediction:
        return Prediction.certain(torch.full((self.nodes, question.classes), 1 / question.classes))


class Opening:
    name, sees_own_label = "opening", False

    def open(self, data: Data) -> Opened:
        self.opened = Opened(data)
        return self.opened


@pytest.fixture
def whole(scene: Scene) -> Belief:
    return open_graph("label-propagation", scene.data)


def test_labels_spread_to_the_near_side(whole: Belief) -> None:
    prediction = whole.believe(Y, 2)
    assert prediction.label.tolist() == [0, 0, 0, 1, 1, 1]
    assert prediction.probabilities.sum(1).tolist() == pytest.approx([1] * 6)


def test_no_label_is_ignorance(whole: Belief) -> None:
    prediction = whole.believe(torch.full((6,), -1), 4)
    assert (prediction.probabilities == 0.25).all()
    assert prediction.epistemic.tolist() == pytest.approx(prediction.total.tolist())


def test_a_class_without_a_label_is_unlikely(whole: Belief) -> None:
    assert float(whole.believe(Y, 3).probabilities[:, 2].max()) < 0.1


def test_labelled_nodes_are_predicted_without_their_own(whole: Belief) -> None:
    y = torch.tensor([0, 0, 1, -1, 1, 1])  # node 2 lies among the zeros
    out = whole.left_out(y, 2, lambda: False)
    assert out.shape == (5, 2)
    assert out[2].argmax() == 0  # its own label speaks for 1
    assert out[3:].argmax(1).tolist() == [1, 1]


def test_an_answer_no_longer_wanted_is_given_up(whole: Belief) -> None:
    with pytest.raises(Stale):
        whole.left_out(Y, 2, lambda: True)


def test_evidence_comes_from_neighbours_features_and_structure(whole: Belief) -> None:
    found = whole.evidence(Y, 2, 1)
    assert set(found) == {"neighbours", "features", "structure"}
    assert found["neighbours"] == [1, 0]  # its labelled neighbour is node 0
    assert found["features"][0] > 0.5  # node 0 has its feature, node 5 has the other
    assert found["structure"] == pytest.approx([0.5, 0.5])  # both are corners as it is
    assert whole.evidence(Y, 2, 3)["neighbours"] == [0, 1]


def test_a_nodes_own_label_is_no_evidence(whole: Belief) -> None:
    assert whole.evidence(Y, 2, 0)["neighbours"] == [0, 0]


def test_neighbours_and_nearest_labels(whole: Belief) -> None:
    around, nearest = whole.near(Y, 2)
    assert around == [0, 1, 3]
    assert nearest == [(0, 1), (5, 2)]


def test_questions_leave_out_what_is_labelled_or_skipped(whole: Belief) -> None:
    skipped = torch.tensor([False, True, False, False, False, False])
    for strategy in strategies():
        nodes = [node for node, _ in whole.questions(strategy, Y, whole.believe(Y, 2), skipped, 10)]
        assert sorted(nodes) == [2, 3, 4]
    everything = torch.zeros(6, dtype=torch.long)
    assert whole.questions("spread", everything, whole.believe(everything, 2), skipped, 10) == []


def test_a_predictor_that_opens_a_graph_is_opened_once(scene: Scene) -> None:
    model = Opening()
    belief = open_graph(model, scene.data)  # type: ignore[arg-type]
    assert isinstance(belief, Incremental)
    y = torch.tensor([0, -1, -1, -1, -1, 2])  # no label of class 1
    prediction = belief.believe(y, 4)
    assert prediction.probabilities[3].tolist() == [0.25] * 4
    assert belief.left_out(y, 4, lambda: False).shape == (2, 4)
    assert model.opened.asked == 1  # the same labels need no second thought
    assert belief.believe(torch.full((6,), -1), 4).probabilities.sum() == pytest.approx(6)
    assert model.opened.asked == 1  # without labels it is not even asked


def test_what_is_imagined_replaces_no_belief(scene: Scene) -> None:
    model = Opening()
    belief = open_graph(model, scene.data)  # type: ignore[arg-type]
    belief.believe(Y, 2)
    assert belief.imagine(torch.tensor([0, 1, -1, -1, -1, 1]), 2, lambda: False).probabilities.shape == (6, 2)
    assert model.opened.asked == 2
    belief.believe(Y, 2)
    assert belief.evidence(torch.tensor([0, 1, -1, -1, -1, 1]), 2, 1)["features"]  # a click on a node asks nobody
    assert model.opened.asked == 2


def test_what_is_imagined_is_given_up_between_two_experts(scene: Scene) -> None:
    belief, looks = open_graph("universal", scene.data), iter([False, False, True])
    with pytest.raises(Stale):
        belief.imagine(Y, 2, lambda: next(looks))
    assert next(looks, None) is None  # at the third look, of dozens
    assert belief.believe(Y, 2).label.tolist() == [0, 0, 0, 1, 1, 1]  # and the next question finds all in order


def test_a_look_ahead_is_given_up_between_two_questions(scene: Scene) -> None:
    belief, looks = open_graph("universal", scene.data), iter([False, False, True])
    prediction, nobody = belief.believe(Y, 2), torch.zeros(6, dtype=torch.bool)
    with pytest.raises(Stale):
        belief.questions("expected", Y, prediction, nobody, 4, lambda: next(looks))


def test_experts_are_told_by_where_their_evidence_comes_from(scene: Scene) -> None:
    found = open_graph(Opening(), scene.data).evidence(Y, 2, 1)  # type: ignore[arg-type]
    first = (0.8 * 1.0 + 0.2 * 0.01) / 1.01  # the expert without skill hardly counts
    assert found["features"] == pytest.approx([first, 1 - first])
    assert found["neighbours"] == found["structure"] == [0, 0]  # nobody there has an opinion


def test_every_expert_but_those_who_see_all_has_a_source() -> None:
    assert set(EXPERTS) - set(SOURCES) == {"cat", "stack", "echo1", "echo8"}
    assert set(SOURCES) <= set(EXPERTS)


class Counting:
    """Label propagation that counts what it is asked."""

    name, sees_own_label = "counting", True

    def __init__(self) -> None:
        self.asked, self.inner = 0, find_predictor("label-propagation")[0]

    def predict(self, episode: Episode, **options: Any) -> Prediction:
        self.asked += 1
        return self.inner.predict(episode, **options)


def test_a_model_looks_ahead_by_itself_until_its_answer_is_no_longer_wanted(scene: Scene) -> None:
    model = Counting()
    belief = open_graph(model, scene.data)
    prediction, nobody = belief.believe(Y, 2), torch.zeros(6, dtype=torch.bool)
    before = model.asked
    assert belief.questions("expected", Y, prediction, nobody, 3)
    assert model.asked > before
    with pytest.raises(Stale):
        belief.questions("expected", Y, prediction, nobody, 3, lambda: True)


def test_models_by_name(scene: Scene) -> None:
    assert isinstance(open_graph(default_model(), scene.data), Whole | Incremental)
    with pytest.raises(UserError, match="no-such"):
        open_graph("no-such", scene.data)


def test_the_belief_depends_on_no_label_of_the_data(scene: Scene) -> None:
    """The graph's own labels are where a labelling starts; from then on only what was painted counts."""
    painted: Any = torch.tensor([-1, 1, -1, -1, 0, -1])
    one = open_graph("label-propagation", scene.data).believe(painted, 2)
    other = Data(x=scene.data.x, edge_index=scene.data.edge_index)
    assert torch.equal(one.probabilities, open_graph("label-propagation", other).believe(painted, 2).probabilities)
