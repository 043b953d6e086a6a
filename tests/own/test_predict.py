"""Predictions for a user's own graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pytest
import torch
from torch import Tensor

import mpnp
from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.models import configs, from_pretrained
from mpnp.models.base import LatentModel
from mpnp.models.calibration import Calibration, Conformal
from mpnp.models.label_propagation import LabelPropagation
from mpnp.models.mode import Mode
from mpnp.own.predict import episode_of, label_sets, predict
from mpnp.prediction import Prediction
from mpnp.tasks.own import OwnTask
from mpnp.training.fit import fit

from .colours import NODES, ring, write


@pytest.fixture(scope="module", params=["ampnp", "mpnp"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model trained for a moment on graphs with three named classes."""
    place = tmp_path_factory.mktemp("own")
    options = {"width": 16} if request.param == "ampnp" else {}
    task = OwnTask(write(place / "graphs", ring()))
    return fit(task, request.param, out=place / "model", epochs=2, progress=False, options=options).folder


@pytest.fixture(scope="module")
def model(folder: Path) -> LatentModel:
    return from_pretrained(folder)


def check(probabilities: Tensor, nodes: int, classes: int) -> None:
    assert probabilities.shape == (nodes, classes)
    torch.testing.assert_close(probabilities.sum(1), torch.ones(nodes))


def test_every_node_is_predicted(model: LatentModel) -> None:
    prediction = predict(model, ring(), samples=4)
    check(prediction.probabilities, NODES, 3)
    torch.testing.assert_close(prediction.total, prediction.aleatoric + prediction.epistemic, atol=1e-5, rtol=0)
    assert torch.equal(prediction.probabilities, predict(model, ring(), samples=4).probabilities)


def test_the_labels_count(model: LatentModel) -> None:
    other = ring()
    other.y = torch.where(other.y >= 0, (other.y + 1) % 3, -1)
    assert not torch.equal(predict(model, ring()).probabilities, predict(model, other).probabilities)


def test_graphs_are_predicted_alone_as_together(model: LatentModel) -> None:
    data, small = ring(), ring(9)
    both = predict(model, [data, small]).probabilities
    hidden = torch.cat([data.y, small.y]) < 0  # labelled nodes are cross-fitted with other folds
    alone = torch.cat([predict(model, one).probabilities for one in (data, small)])
    torch.testing.assert_close(both[hidden], alone[hidden], atol=1e-5, rtol=0)


def test_a_graph_without_labels_gets_the_prior(model: LatentModel) -> None:
    data = ring()
    data.y = torch.full_like(data.y, -1)
    nothing = predict(model, data).probabilities
    check(nothing, NODES, 3)
    data.y = None
    assert torch.equal(predict(model, data).probabilities, nothing)


def test_classes_that_no_node_shows_stay_possible(model: LatentModel) -> None:
    data = ring()
    data.y = torch.where(data.y == 0, 0, -1)
    probabilities = predict(model, data).probabilities
    check(probabilities, NODES, 3)
    assert (probabilities > 0).all()


def test_more_classes_than_trained_on(model: LatentModel) -> None:
    data = ring()
    data.y[1] = 4
    if model.any_classes:
        check(predict(model, data).probabilities, NODES, 5)
    else:
        with pytest.raises(UserError, match="0 to 2 are expected; 'ampnp'"):
            predict(model, data)


def test_other_features_are_refused(model: LatentModel) -> None:
    with pytest.raises(UserError, match="3 features"):
        predict(model, ring(features=3))


def test_predictors_without_parameters_predict_too() -> None:
    assert predict(Mode(), ring()).probabilities.shape == (NODES, 3)
    assert predict(Mode(), ring(), num_classes=5).probabilities.shape == (NODES, 5)


@pytest.mark.parametrize("name", ["ampnp", "anp"])
def test_a_labels_own_prediction_does_not_depend_on_it(name: str, tmp_path: Path) -> None:
    """Flip a node's label: the others may change, its own prediction stays to the last bit."""
    torch.manual_seed(0)
    network = configs.build(configs.config(name, OwnTask(write(tmp_path, ring()))))
    before, changed = predict(network, ring(), samples=4).probabilities, 0
    for node in (1, 2, 3, 39):
        data = ring()
        data.y[node] = (data.y[node] + 1) % 3
        after = predict(network, data, samples=4).probabilities
        assert torch.equal(after[node], before[node])
        changed += int((after != before).any())
    assert changed == 4


class Even(torch.nn.Module):
    """A network of the user's own that leaves its mode alone, and knows nothing."""

    name, sees_own_label = "even", True

    def predict(self, episode: Episode, *, nodes: Tensor | None = None, **_: int) -> Prediction:
        return Prediction.certain(torch.full((episode.num_nodes, episode.num_classes), 1 / episode.num_classes)).at(
            nodes
        )


@pytest.mark.parametrize("training", [True, False])
def test_whoever_is_training_goes_on_training(training: bool) -> None:
    network = Even().train(training)
    predict(network, ring())
    mpnp.evaluate(network, ring(), [0.5], draws=1)
    mpnp.suggest(network, ring())
    mpnp.calibrate(network, ring(), draws=1)
    mpnp.plot(network, ring())
    assert network.training == training


def test_sets_of_labels_where_a_coverage_was_promised(model: LatentModel) -> None:
    episode = episode_of(model, [ring(), ring(9)])
    model.calibration = None
    said = model.predict(episode, samples=2)
    assert label_sets(Mode(), episode, said) is None and label_sets(model, episode, said) is None
    model.calibration = Calibration(1.0, Conformal(0.9, (0.1, 0.9), (0.3, 0.3)))
    try:
        sets = label_sets(model, episode, said)
        assert sets is not None and torch.equal(sets[0], said.probabilities >= 0.3)
        assert "90 %" in sets[1]
    finally:
        model.calibration = None


@pytest.mark.parametrize("graphs", ["none.pt", Path("none.pt"), [], [ring(), "none.pt"], 3])
def test_what_is_no_graph_is_refused_in_a_sentence(graphs: Any) -> None:
    with pytest.raises(UserError, match=r"none\.pt|is expected|No graph was given|at least one"):
        predict(Mode(), graphs)


def test_graphs_in_any_container_are_predicted_alike() -> None:
    one = ring()
    several = predict("label-propagation", [one])
    assert torch.equal(predict(LabelPropagation(), one).probabilities, several.probabilities)


def test_without_a_predictor_the_model_that_comes_with_the_package_answers() -> None:
    said = predict(ring())
    assert torch.equal(said.probabilities, predict("universal", ring()).probabilities)


@pytest.mark.parametrize("name", ["universal", "label-propagation", "mode"])
def test_without_labels_and_classes_there_is_nothing_to_answer(name: str) -> None:
    bare = nx.path_graph(4)
    with pytest.raises(UserError, match=f"No node of the graph has a label, and '{name}' knows no classes of its own"):
        mpnp.predict(name, bare)
    assert mpnp.predict(name, bare, num_classes=2).probabilities.shape == (4, 2)
