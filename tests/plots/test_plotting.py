"""``mpnp.plot``: on a task, or on a graph of one's own."""

from __future__ import annotations

import networkx as nx
import pytest

from mpnp.errors import UserError
from mpnp.models import configs
from mpnp.models.label_propagation import LabelPropagation
from mpnp.models.mode import Mode
from mpnp.plots import plot
from mpnp.tasks.cellular_automata import CellularAutomaton

from ..rings import Rings
from .drawn import lines


@pytest.fixture(scope="module")
def task() -> CellularAutomaton:
    return CellularAutomaton("voronoi", graphs_total=20)  # four of them to test on


def test_by_default_the_first_test_graph_with_a_tenth_of_its_labels(task: CellularAutomaton) -> None:
    drawing = plot(Mode(), task)
    assert drawing.title == "ca/voronoi, test graph 0, 10 % of the labels shown"
    (row,) = drawing.rows
    assert int(row.episode.context.sum()) == round(0.1 * row.episode.num_nodes)
    assert [panel.title.split(":")[0] for panel in row.panels][-2:] == ["mode", "mode"]
    assert drawing._repr_png_().startswith(b"\x89PNG")
    assert plot(Mode(), task, kind="gallery").which == "test graphs 0, 1, 2, 3"


def test_graphs_of_ones_own_show_all_their_labels() -> None:
    drawing = plot([Mode(), LabelPropagation()], lines(12))
    (row,) = drawing.rows
    assert row.episode.context.all() and drawing.title == "the graph, 12 nodes: mode, label-propagation"
    assert len(plot(Mode(), [lines(12), lines(8)], [0, 1], rate=0.5).rows) == 2


def test_a_graph_alone_is_drawn_by_the_model_that_needs_no_training_with_its_names() -> None:
    path = nx.relabel_nodes(nx.path_graph(6), dict(enumerate("abcdef")))
    path.nodes["a"]["label"], path.nodes["f"]["label"] = "left", "right"
    drawing = plot(path)
    (row,) = drawing.rows
    assert list(drawing.class_names) == ["left", "right"] and list(row.names or []) == list("abcdef")
    assert row.panels[0].title == "given: 2 of 6 labels" and "universal" in drawing.title


def test_predictors_may_be_named(task: CellularAutomaton) -> None:
    (row,) = plot(["mode", LabelPropagation()], task, kind="uncertainty").rows
    assert [panel.title.partition(":")[0] for panel in row.panels[1:]] == ["mode", "label-propagation"]
    assert plot({"a": "mode"}, "ca/voronoi").title.startswith("ca/voronoi, test graph 0")
    with pytest.raises(UserError, match="did you mean 'mode'"):
        plot("mod", task)
    with pytest.raises(UserError, match="'mode' was given alone"):
        plot(Mode())


def test_predictors_of_one_name_are_numbered(task: CellularAutomaton) -> None:
    (row,) = plot([Mode(), LabelPropagation(), Mode()], task, kind="uncertainty").rows
    names = [panel.title.partition(":")[0] for panel in row.panels[1:]]
    assert names == ["mode 1", "label-propagation", "mode 2"]


def test_models_of_other_features_are_refused_by_name(task: CellularAutomaton) -> None:
    other = configs.build(configs.config("mpnp", Rings()))
    with pytest.raises(UserError, match="'mpnp' was trained on graphs with 1 features per node, ca/voronoi has 2"):
        plot(other, task)
