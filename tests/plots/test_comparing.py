"""Models side by side: the graph decides how it is drawn."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.models.label_propagation import LabelPropagation
from mpnp.models.mode import Mode
from mpnp.plots import canvas_of, compare, figure_of
from mpnp.plots.automata import BoardCanvas, SphereCanvas
from mpnp.plots.clouds import CloudCanvas
from mpnp.plots.comparing import Drawing
from mpnp.plots.graphs import FlatCanvas
from mpnp.tasks.cellular_automata import CellularAutomaton

from .drawn import board, cloud, graph, lines, points, sphere


@pytest.fixture(scope="module")
def task() -> CellularAutomaton:
    return CellularAutomaton("voronoi", graphs_total=20)  # four of them to test on


TWO = {"mode": Mode(), "label-propagation": LabelPropagation()}


def test_the_graph_decides_how_it_is_drawn() -> None:
    assert isinstance(canvas_of(cloud()), CloudCanvas)
    assert isinstance(canvas_of(sphere()), SphereCanvas)
    assert isinstance(canvas_of(board()), BoardCanvas)
    assert isinstance(canvas_of(Episode.from_graphs([lines(16)])), FlatCanvas)  # as many nodes as a board, other edges
    assert isinstance(canvas_of(Episode.from_graphs([lines(16, pos=points(16)[:, :2])])), FlatCanvas)


@pytest.mark.parametrize(
    ("kind", "titles"),
    [
        ("truth", ["shown", "true labels"]),
        ("prediction", ["true labels", "mode", "label-propagation"]),
        ("uncertainty", ["true labels", "mode: uncertainty", "label-propagation: uncertainty"]),
        ("gallery", ["true labels", "mode: uncertainty", "label-propagation: uncertainty"]),
        (
            "auto",
            ["shown", "true labels", "mode", "mode: uncertainty", "label-propagation", "label-propagation: uncert"],
        ),
    ],
)
def test_panels_of_each_kind(task: CellularAutomaton, kind: str, titles: list[str]) -> None:
    rows = compare(TWO, task, [2, 0], kind=kind)
    for row in rows:
        assert len(row.panels) == len(titles)
        assert all(panel.title.startswith(title) for panel, title in zip(row.panels, titles, strict=True))
    bars = 2 if "uncert" in titles[-1] else 0
    assert len(figure_of(rows).axes) == 2 * len(titles) + bars


def test_a_graph_has_the_same_context_whatever_it_is_drawn_with(task: CellularAutomaton) -> None:
    alone, (_, second) = compare(TWO, task, [3], rate=0.2)[0], compare(TWO, task, [1, 3], rate=0.2)
    assert torch.equal(alone.episode.context, second.episode.context)
    nodes = alone.episode.num_nodes
    assert int(alone.episode.context.sum()) == round(0.2 * nodes)
    assert not torch.equal(alone.episode.context, compare(TWO, task, [3], rate=0.2, seed=1)[0].episode.context)


def test_what_does_not_exist(task: CellularAutomaton, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no graph 4: ca/voronoi has test graphs 0 to 3"):
        compare(TWO, task, [4])
    with pytest.raises(UserError, match="no graph -1"):
        compare(TWO, task, [-1])
    with pytest.raises(UserError, match="did you mean 'truth'"):
        compare(TWO, task, kind="truths")
    with pytest.raises(UserError, match=r"'picture.gif'.*\.html"):
        Drawing(compare(TWO, task)).save(tmp_path / "picture.gif")


def test_class_names_make_a_legend(task: CellularAutomaton, tmp_path: Path) -> None:
    rows = compare({}, task, kind="truth")
    legend = figure_of(rows, "a title", ["dead", "alive"]).legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["dead", "alive"]
    assert Drawing(rows).save(tmp_path / "picture.svg").read_text().startswith("<?xml")


def test_a_graph_without_labels_can_be_drawn(tmp_path: Path) -> None:
    bare = graph(3, [(0, 1)])
    bare.y = torch.full((3,), -1)
    from mpnp.plots.panels import Row, panels_of

    episode = Episode.from_graphs([bare], num_classes=2)
    row = Row(canvas_of(episode), panels_of(episode, {"mode": Mode().predict(episode)}, "auto"), episode)
    assert [panel.title for panel in row.panels] == ["shown: 0 of 3 labels", "true labels", "mode", "mode: uncertainty"]
    Drawing([row]).save(tmp_path / "bare.png")
