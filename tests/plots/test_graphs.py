"""Graphs in the plane: the right panels, nodes and edges where they belong."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from matplotlib.colors import to_hex
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.models.mode import Mode
from mpnp.plots import CLASS_COLOURS, UNKNOWN, episode_figure, graphs, layout, save
from mpnp.plots.graphs import edges_of

from .drawn import colours, episode, graph, lines, sure


def test_mistakes_are_ringed_and_counted() -> None:
    """In graph 1 the label 1 of node 2 is hidden and its graph without context, so the mode says 0."""
    figure = episode_figure(episode(), Mode().predict(episode()), graph=1, title="a title")
    assert len(figure.axes) == 4 + 1  # and the colour bar
    shown, _, predicted, _ = figure.axes[:4]
    assert "0 of 3" in shown.get_title()
    assert "50.0 %" in predicted.get_title()  # node 1 right, node 2 wrong, node 0 without a label
    assert predicted.get_legend() is not None
    assert len(predicted.collections[2].get_offsets()) == 1


def test_nodes_have_the_colours_of_their_labels() -> None:
    told = Episode.from_graphs([lines(4)], torch.tensor([True, False, False, True]), num_classes=2)
    shown, true, *_ = episode_figure(told, sure(told)).axes
    blue, amber = CLASS_COLOURS[:2]
    assert colours(shown.collections[1]) == [blue, UNKNOWN, UNKNOWN, amber]
    assert colours(true.collections[1]) == [blue, blue, amber, amber]


def test_every_edge_is_drawn_once_whichever_way_it_goes() -> None:
    one_way = Episode.from_graphs([graph(2, []), graph(4, [(3, 0), (0, 3), (2, 1), (1, 1)])])
    assert edges_of(one_way, 1).tolist() == [[0, 3], [1, 2]]
    assert edges_of(one_way, 0).shape == (0, 2)


@pytest.mark.parametrize("data", [graph(1, []), graph(4, []), graph(4, [(1, 1)])], ids=["one node", "no edges", "loop"])
def test_odd_graphs_can_be_drawn(tmp_path: Path, data: Data) -> None:
    everything = Episode.from_graphs([data], num_classes=2)
    save(episode_figure(everything, Mode().predict(everything)), tmp_path / "odd.png")
    assert (tmp_path / "odd.png").stat().st_size > 0


def test_nodes_lie_at_their_own_positions_in_the_plane() -> None:
    plane, space = torch.rand(6, 2), torch.rand(6, 3)
    flat = Episode.from_graphs([graph(3, [(0, 1)], pos=plane[:3]), graph(3, [], pos=plane[3:])])
    assert torch.equal(torch.from_numpy(layout(flat, 1)), plane[3:].double())
    assert layout(Episode.from_graphs([graph(6, [(0, 1)], pos=space)])).shape == (6, 2)


def test_very_many_nodes_are_a_density(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(graphs, "MANY", 5)
    place = torch.tensor([[0.0, 0.0], [0.001, 0.0], [0.0, 0.001], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    y = torch.tensor([0, 0, 1, 1, 1, 0])
    line = lines(6, pos=place)
    line.y = y
    told = Episode.from_graphs([line], torch.zeros(6, dtype=torch.bool), num_classes=2)
    figure = episode_figure(told, sure(told))
    image = figure.axes[1].images[0].get_array()
    assert to_hex(image[0, 0, :3]).upper() == CLASS_COLOURS[0]  # two of three there
    assert to_hex(image[0, -1, :3]).upper() == CLASS_COLOURS[1]
    assert image[0, 0, 3] == 1 and 0 < image[0, -1, 3] < 1  # one node is pale beside three
    assert image[5, 5, 3] == 0
    assert figure.axes[3].images[0].get_array().count() == 4  # cells with a doubt
