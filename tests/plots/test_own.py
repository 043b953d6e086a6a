"""A person's own graph: what is given, what is predicted, by its names."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import pytest

from mpnp.errors import UserError
from mpnp.models.label_propagation import LabelPropagation
from mpnp.models.mode import Mode
from mpnp.plots.own import draw
from mpnp.tasks.formats import OwnGraphs, as_graphs


def path(nodes: int = 6) -> OwnGraphs:
    """A path whose ends are labelled, and a node without edges."""
    graph = nx.path_graph(nodes)
    graph.add_node(nodes)
    nx.relabel_nodes(graph, {i: f"node {i}" for i in graph}, copy=False)
    return as_graphs(graph, {"node 0": "$red$", f"node {nodes - 1}": "<b>"})


def test_labels_given_predictions_and_doubt() -> None:
    drawing = draw({"label-propagation": LabelPropagation()}, path())
    (row,) = drawing.rows
    given, predicted, doubt = row.panels
    assert given.title == "given: 2 of 7 labels" and given.classes is not None and (given.classes >= 0).sum() == 2
    assert predicted.ringed is not None and predicted.ringed.sum() == 2 and predicted.rings == "given"
    assert predicted.classes is not None and predicted.classes[1] == predicted.classes[0] != predicted.classes[4]
    assert doubt.amount is not None and doubt.amount[1] < doubt.amount[6]  # nothing is known of the lonely node
    assert sorted(drawing.class_names) == ["$red$", "<b>"]


def test_models_side_by_side_are_named() -> None:
    drawing = draw({"label-propagation": LabelPropagation(), "mode": Mode()}, path())
    titles = [panel.title for panel in drawing.rows[0].panels]
    assert titles[1:] == ["label-propagation", "label-propagation: uncertainty", "mode", "mode: uncertainty"]


def test_a_page_tells_names_and_probabilities(tmp_path: Path) -> None:
    text = draw({"mode": Mode()}, path()).save(tmp_path / "page.html").read_text(encoding="utf-8")
    row = json.loads(text.partition("const scene = ")[2].partition(";\n")[0])["rows"][0]
    assert row["names"][3] == "node 3" and row["given"] is True
    assert sum(share for _, share in row["panels"][1]["said"]["top"][3]) == pytest.approx(1000, abs=2)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_names_of_every_kind_can_be_drawn(tmp_path: Path, ending: str) -> None:
    assert draw({"mode": Mode()}, path(), title="a $x$").save(tmp_path / f"$a$.{ending}").stat().st_size > 0


def test_a_graph_that_is_not_there() -> None:
    with pytest.raises(UserError, match="no graph 1"):
        draw({"mode": Mode()}, path(), [1])
