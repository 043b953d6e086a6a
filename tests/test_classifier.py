"""One graph, a few labels, in the words of scikit-learn."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from mpnp import NodeClassifier, UserError
from mpnp.models import PREDICTORS


@pytest.fixture(scope="module")
def cliques() -> nx.Graph:
    """Two cliques of five, joined by one edge: a … e and f … j."""
    graph = nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(5))
    graph.add_edge(4, 5)
    return nx.relabel_nodes(graph, dict(enumerate("abcdefghij")))


@pytest.fixture(scope="module")
def fitted(cliques: nx.Graph) -> NodeClassifier:
    return NodeClassifier().fit(cliques, labels={"a": "left", "b": "left", "i": "right", "j": "right"})


def test_two_cliques_are_told_apart_by_name(fitted: NodeClassifier) -> None:
    said = dict(zip(fitted.node_names_, fitted.predict(), strict=True))
    assert {said[node] for node in "cd"} == {"left"}
    assert {said[node] for node in "gh"} == {"right"}
    assert list(fitted.classes_) == ["left", "right"]


def test_probabilities_sum_to_one_and_doubt_splits(fitted: NodeClassifier) -> None:
    assert fitted.predict_proba().shape == (10, 2)
    assert np.allclose(fitted.predict_proba().sum(1), 1, atol=1e-5)
    doubt = fitted.uncertainty()
    assert np.allclose(doubt["total"], doubt["aleatoric"] + doubt["epistemic"], atol=1e-5)


def test_score_counts_the_nodes_that_were_not_labelled(fitted: NodeClassifier) -> None:
    truth = {node: "left" if node < "f" else "right" for node in "abcdefghij"}
    right = sum(said == truth[n] for n, said in zip(fitted.node_names_, fitted.predict(), strict=True) if n in "cdefgh")
    assert fitted.score(truth) == pytest.approx(right / 6)
    with pytest.raises(UserError, match="given already"):
        fitted.score({"a": "left"})


def test_sets_hold_every_class_where_nothing_can_be_promised(fitted: NodeClassifier) -> None:
    assert fitted.predict_set() == [["left", "right"]] * 10


def test_suggestions_are_unlabelled_nodes_by_name(fitted: NodeClassifier) -> None:
    assert {one.node for one in fitted.suggest(3)} <= set("cdefgh")


def test_numbers_come_back_as_numbers() -> None:
    graph = Data(
        x=torch.eye(4)[:, :2], edge_index=torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]]), y=torch.tensor([0, -1, 1, -1])
    )
    fitted = NodeClassifier("label-propagation").fit(graph)
    assert fitted.predict().dtype.kind == "i"
    assert fitted.predict()[[1, 3]].tolist() == [0, 1]


def test_labels_of_another_form_give_the_same_answer(cliques: nx.Graph, fitted: NodeClassifier) -> None:
    listed = ["left", "left", *[None] * 6, "right", "right"]
    again = NodeClassifier().fit(cliques, labels=listed)
    assert np.array_equal(again.predict_proba(), fitted.predict_proba())


def test_several_graphs_share_their_labels() -> None:
    """The features tell the class; only the first graph is labelled."""

    def pair(values: list[float], labels: list[int]) -> Data:
        return Data(
            x=torch.tensor([values]).t(), edge_index=torch.zeros(2, 0, dtype=torch.long), y=torch.tensor(labels)
        )

    taught = pair([0.0, 0.1, 0.2, 0.3, 2.0, 2.1, 2.2, 2.3], [0, 0, 0, 0, 1, 1, 1, 1])
    asked = pair([0.15, 2.15], [-1, -1])
    assert NodeClassifier().fit([taught, asked]).predict()[-2:].tolist() == [0, 1]


def test_parameters_as_scikit_learn_wants_them() -> None:
    one = NodeClassifier(coverage=0.8)
    assert one.get_params() == {"model": "universal", "coverage": 0.8, "samples": 16, "seed": 0}
    assert repr(one) == "NodeClassifier(coverage=0.8)"
    assert repr(NodeClassifier()) == "NodeClassifier()"
    assert one.set_params(seed=3).seed == 3
    with pytest.raises(UserError, match="no parameter 'depth'"):
        one.set_params(depth=3)


def test_predictors_without_sets_say_what_to_do(cliques: nx.Graph) -> None:
    plain = NodeClassifier(PREDICTORS["label-propagation"]()).fit(cliques, labels={"a": "x", "j": "y"})
    with pytest.raises(UserError, match="calibrate"):
        plain.predict_set()


def test_reading_comes_first() -> None:
    with pytest.raises(UserError, match="fit"):
        NodeClassifier().predict()


def test_a_graph_without_labels_is_told_so(cliques: nx.Graph) -> None:
    with pytest.raises(UserError, match="label at least one"):
        NodeClassifier().fit(cliques)


def test_a_picture(fitted: NodeClassifier, tmp_path: Path) -> None:
    assert fitted.plot(tmp_path / "cliques.png").stat().st_size > 5_000


def test_the_column_of_labels_can_be_named(cliques: nx.Graph) -> None:
    graph = cliques.copy()
    nx.set_node_attributes(graph, {"a": "left", "b": "left", "i": "right", "j": "right"}, "side")
    assert list(NodeClassifier().fit(graph, label_column="side").classes_) == ["left", "right"]
    with pytest.raises(UserError, match="name the column that holds the labels"):
        NodeClassifier().fit(graph)


def test_a_class_that_no_label_was_given_of_counts_as_missed(fitted: NodeClassifier) -> None:
    said = dict(zip(fitted.node_names_, fitted.predict(), strict=True))
    assert fitted.score({"c": said["c"], "d": "middle"}) == 0.5
    assert fitted.score({"d": "middle"}) == 0


def test_what_scikit_learn_itself_checks(fitted: NodeClassifier) -> None:
    base = pytest.importorskip("sklearn.base")
    checks, validation = import_module("sklearn.utils.estimator_checks"), import_module("sklearn.utils.validation")
    one = NodeClassifier(coverage=0.8)
    assert base.clone(one).get_params() == one.get_params() and base.is_classifier(one)
    for name in (
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_get_params_invariance",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_set_params",
    ):
        getattr(checks, name)("NodeClassifier", one)
    validation.check_is_fitted(fitted)
    with pytest.raises(import_module("sklearn.exceptions").NotFittedError):
        validation.check_is_fitted(one)
