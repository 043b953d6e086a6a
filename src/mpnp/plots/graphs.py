"""Graphs in the plane: nodes and edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import torch
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from ..episode import Episode
from ..errors import UserError
from ..graphs import plain_edges
from ..prediction import Prediction
from . import panels
from .panels import Panel, Row, figure_of
from .style import UNCERTAIN, Array, Ints, class_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST = 5_000  # nodes; beyond it a layout takes minutes and shows nothing


class FlatCanvas:
    """Nodes at their own positions in the plane, or where springs along the edges put them."""

    size = (4.0, 4.4)
    starts = False
    view = (0.0, 0.0)

    def __init__(self, episode: Episode) -> None:
        self.place = layout(episode)
        self.edges = edges_of(episode)
        self.points = np.column_stack([self.place, np.zeros(len(self.place))])

    def draw(self, axis: Axes, panel: Panel) -> ScalarMappable | None:
        draw_edges(axis, self.place, self.edges)
        x, y = self.place.T
        scale = None
        if panel.classes is not None:
            fill = class_colours(panel.classes)
            axis.scatter(x, y, c=fill, s=34, linewidths=0.4, edgecolors="white", zorder=2)
        else:
            size = 12 + 70 * panel.share
            scale = axis.scatter(x, y, c=panel.amount, s=size, cmap=UNCERTAIN, vmin=0, vmax=panel.top, zorder=2)
        if panel.ringed is not None and panel.ringed.any():
            ring: dict[str, Any] = {"s": 90, "facecolors": "none", "edgecolors": "#D55E00", "linewidths": 1.6}
            axis.scatter(x[panel.ringed], y[panel.ringed], zorder=3, label=panel.rings, **ring)
        return scale


def episode_figure(episode: Episode, prediction: Prediction, graph: int = 0, title: str = "") -> Figure:
    """One graph four times: what was shown, what is true, what was predicted (mistakes ringed), how unsure it is."""
    start, end = (int(episode.graph.ptr[graph + i]) for i in (0, 1))
    one, said = episode.only(graph), prediction.at(torch.arange(start, end))
    drawn = [panels.shown(one), panels.truth(one), panels.predicted(one, said), panels.unsure(one, said)]
    return figure_of([Row(FlatCanvas(one), drawn, one)], title)


def belief_figure(
    episode: Episode, prediction: Prediction, graph: int = 0, title: str = "", class_names: Sequence[str] = ()
) -> Figure:
    """One graph three times, where the truth is not known: the labels given, what the others are taken for, how unsure it is."""
    start, end = (int(episode.graph.ptr[graph + i]) for i in (0, 1))
    one, said = episode.only(graph), prediction.at(torch.arange(start, end))
    drawn = [panels.shown(one), panels.believed(one, said), panels.unsure(one, said)]
    return figure_of([Row(FlatCanvas(one), drawn, one)], title, class_names)


def layout(episode: Episode, graph: int = 0) -> Array:
    """Where to draw the nodes of one graph [n, 2]: their own positions if they have some in the plane, else a spring layout."""
    start, end = (int(episode.graph.ptr[graph + i]) for i in (0, 1))
    own = episode.graph.get("pos")
    if own is not None and own.size(1) == 2:
        return own[start:end].double().numpy()
    if end - start > LARGEST:
        raise UserError(
            f"The graph has {end - start:,} nodes; up to {LARGEST:,} can be laid out, so give it 'pos' or draw a part of it."
        )
    drawing = nx.Graph()
    drawing.add_nodes_from(range(end - start))
    drawing.add_edges_from(edges_of(episode, graph).tolist())
    ring = nx.circular_layout(drawing)
    place = nx.spring_layout(drawing, pos=ring, seed=0, iterations=60, k=1.6 / max(end - start, 1) ** 0.5)
    return np.array([place[i] for i in range(end - start)])


def edges_of(episode: Episode, graph: int = 0) -> Ints:
    """Each edge of one graph once whatever its direction, no loops, [e, 2], numbered from 0."""
    start, end = (int(episode.graph.ptr[graph + i]) for i in (0, 1))
    source, target = plain_edges(episode.graph.edge_index)
    inside = (source >= start) & (source < end) & (source != target)
    pairs = torch.stack([source[inside], target[inside]], 1).sort(1).values - start
    return pairs.unique(dim=0).numpy()


def draw_edges(axis: Axes, place: Array, edges: Ints) -> None:
    axis.add_collection(LineCollection(place[edges], colors="#BBBBBB", linewidths=0.4, zorder=1))  # type: ignore[arg-type]
