"""Graphs in place of a task."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric.data import Data

import mpnp
from mpnp.errors import UserError
from mpnp.evaluation.calibrate import calibrate
from mpnp.evaluation.evaluate import evaluate
from mpnp.evaluation.given import GivenGraphs, as_predictor, as_task, asked, known_classes, reading_of
from mpnp.models import configs
from mpnp.models.base import Network
from mpnp.models.label_propagation import LabelPropagation
from mpnp.models.mode import Mode

from ..rings import Rings


def ring(classes: int = 2) -> Data:
    around = torch.arange(20)
    return Data(x=torch.rand(20, 1), edge_index=torch.stack([around, around.roll(1)]), y=around % classes)


def test_a_task_stays_what_it_is() -> None:
    task = Rings()
    assert as_task(task, Mode()) is task


def test_one_graph_or_several_are_a_task_that_holds_nothing_out() -> None:
    one, several = as_task(ring()), as_task([ring(), ring(3)], Mode())
    assert [len(one.graphs(split)) for split in ("train", "val", "test")] == [1, 1, 1]
    assert (len(several.graphs("test")), several.num_classes, several.num_features) == (2, 3, 1)


def test_classes_of_a_model_stay_possible() -> None:
    torch.manual_seed(0)
    model = configs.build(configs.config("ampnp", Rings()))
    assert (known_classes(model), known_classes(Mode())) == (2, None)
    only = ring()
    only.y = torch.zeros(20, dtype=torch.long)
    assert as_task(only, model).num_classes == 2 and as_task(only, Mode()).num_classes == 1
    assert as_task(ring(5), model).num_classes == 5


def test_predictors_are_scored_and_calibrated_on_graphs() -> None:
    table = evaluate(Mode(), ring(), [0.5], draws=1)
    assert (table.task, table.data) == ("graphs", "given") and 0 <= table.at(0.5).accuracy <= 1
    assert calibrate(Mode(), [ring(), ring()], draws=1).task == "graphs"


@pytest.mark.parametrize("given", [Path("graphs.pt"), "nowhere/graphs.pt", [1, 2], None, {"x": 1}])
def test_anything_else_is_refused(given: Any) -> None:
    with pytest.raises(UserError, match=r"nothing at|no file or folder|was given|a tensor is expected"):
        evaluate(Mode(), given)


def test_graphs_in_any_container_are_scored_alike(tmp_path: Path) -> None:
    import networkx as nx
    import numpy as np
    import pandas as pd
    from scipy import sparse

    y = [0, 1] * 6
    graph = nx.cycle_graph(12)
    nx.set_node_attributes(graph, dict(enumerate(y)), "label")
    nodes = pd.DataFrame({"id": range(12), "label": y})
    edges = pd.DataFrame(list(graph.edges), columns=["source", "target"])
    ends = torch.tensor(list(nx.DiGraph(graph).edges)).t()
    data = Data(x=torch.ones(12, 1), edge_index=ends, y=torch.tensor(y))
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    edges.to_csv(tmp_path / "edges.csv", index=False)
    containers = [data, graph, (nodes, edges), tmp_path, str(tmp_path)]
    scores = [evaluate(LabelPropagation(), given).at(0.9).accuracy for given in containers]
    assert scores == [scores[0]] * len(containers)
    matrix = sparse.csr_array(nx.to_scipy_sparse_array(graph))
    with pytest.raises(UserError, match="0 nodes are labelled"):
        evaluate(LabelPropagation(), (matrix, np.ones((12, 1))))


def test_features_come_in_the_models_order() -> None:
    torch.manual_seed(0)
    model = configs.build(configs.config("gnn", Two()))
    model.feature_names = ["size", "age"]
    import networkx as nx

    graph = nx.path_graph(3)
    for node in graph:
        graph.nodes[node].update(age=node, size=10 * node, label=node % 2)
    task = as_task(graph, model)
    assert isinstance(task, GivenGraphs) and task.store.x.tolist() == [[0, 0], [10, 1], [20, 2]]
    for node in graph:
        graph.nodes[node]["weight"] = graph.nodes[node].pop("size")
    with pytest.raises(UserError, match="the feature 'size', which the model was trained with, is not there"):
        as_task(graph, model)


class Two(Rings):
    num_features = 2


@pytest.mark.parametrize("given", ["mod", "r-mpnp", Path("runs/mine"), None, torch.nn.Linear(1, 1)])
def test_what_is_no_predictor_is_told_so(given: Any) -> None:
    for act in (mpnp.evaluate, mpnp.calibrate, mpnp.suggest, mpnp.plot):
        with pytest.raises(
            UserError, match=r"a predictor is expected|did you mean 'mode'|no trained model at|has to be trained"
        ):
            act(given, ring())


def test_a_predictor_may_be_named_and_graphs_alone_are_asked_of_the_model_that_needs_no_training() -> None:
    assert as_predictor("mode").name == "mode" and as_predictor(Mode()).name == "mode"
    assert evaluate("label-propagation", ring(), draws=1).model == "label-propagation"
    assert evaluate(ring(), draws=1).model == "universal"
    predictor, graphs = asked("mode", "somewhere")
    assert (predictor.name, graphs) == ("mode", "somewhere")
    with pytest.raises(UserError, match="'mode' was given alone; say which graphs"):
        evaluate(Mode())


def test_models_that_read_graphs_alike_can_be_asked_together() -> None:
    def model(*classes: str) -> Network:
        made = configs.build(replace(configs.config("gnn", Rings()), class_names=list(classes)))
        assert isinstance(made, Network)
        return made

    assert reading_of(Mode(), model("a", "b"), model("a", "b")) == {"class_names": ["a", "b"]}
    any_classes = configs.build(replace(configs.config("ampnp", Rings()), class_names=["a", "b"]))
    assert reading_of(any_classes) == {"class_names": ["a", "b"], "more_classes": True}
    assert reading_of(any_classes, model("a", "b")) == {"class_names": ["a", "b"]}
    with pytest.raises(UserError, match="trained on different classes; ask them one by one"):
        reading_of(model("a", "b"), model("b", "c"))
