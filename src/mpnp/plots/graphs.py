"""Graphs in the plane: nodes and edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from ..episode import Episode
from ..graphs import plain_edges
from ..prediction import Prediction
from . import panels
from .panels import Panel, Row, figure_of
from .places import force_directed, place, unit
from .style import UNCERTAIN, Array, Ints, class_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MANY = 20_000  # nodes; beyond it single ones are no longer seen, and a picture shows how many of what lie where
CELLS = 240  # of a density, along the longer side
KEPT = 2_000  # nodes from which on a layout is kept on disk


class FlatCanvas:
    """Nodes at their own positions in the plane, or where forces along the edges put them."""

    starts = False
    view = (0.0, 0.0)

    def __init__(self, episode: Episode) -> None:
        self.place = layout(episode)
        self.edges = edges_of(episode)
        self.points = np.column_stack([self.place, np.zeros(len(self.place))])
        side = 4.0 if len(self.place) <= 500 else 5.5
        wide, high = np.maximum(np.ptp(self.place, axis=0), 1e-9) if len(self.place) else (1.0, 1.0)
        self.size = (side, 0.4 + side * float(np.clip(high / wide, 0.45, 1)))
        self.dot = float(np.clip(30_000 / max(len(self.place), 1), 2, 34))

    def draw(self, axis: Axes, panel: Panel) -> ScalarMappable | None:
        draw_edges(axis, self.place, self.edges)
        x, y = self.place.T
        scale = None
        if panel.classes is not None:
            fill, thin = class_colours(panel.classes), min(0.4, self.dot / 40)
            axis.scatter(x, y, c=fill, s=self.dot, linewidths=thin, edgecolors="white", zorder=2)
            if panel.strong is not None and self.dot < 30:  # few among thousands must be seen
                strong = panel.strong & (panel.classes >= 0)
                axis.scatter(x[strong], y[strong], c=fill[strong], s=max(3 * self.dot, 16), linewidths=0, zorder=2)
        else:
            assert panel.amount is not None
            order, size = panel.amount.argsort(), self.dot * (0.4 + 2 * panel.share)
            look: dict[str, Any] = {"cmap": UNCERTAIN, "vmin": 0, "vmax": panel.top, "linewidths": 0, "zorder": 2}
            scale = axis.scatter(x[order], y[order], c=panel.amount[order], s=size[order], **look)
        if panel.ringed is not None and panel.ringed.any():
            mark = max(2.6 * self.dot, 20)
            ring: dict[str, Any] = {"s": mark, "facecolors": "none", "edgecolors": "black", "linewidths": 1.2}
            axis.scatter(x[panel.ringed], y[panel.ringed], zorder=3, label=panel.rings, **ring)
        return scale


class DensityCanvas(FlatCanvas):
    """Very many nodes: in every cell of a grid the commonest class, pale where few nodes lie, or their mean doubt."""

    def draw(self, axis: Axes, panel: Panel) -> ScalarMappable | None:
        low, high = self.place.min(0), self.place.max(0)
        cell = max(float((high - low).max()) / CELLS, 1e-9)
        column, row = ((self.place - low) / cell).astype(np.int64).T
        shape = (int(row.max()) + 1, int(column.max()) + 1)
        at, cells = row * shape[1] + column, shape[0] * shape[1]
        count = np.bincount(at, minlength=cells)
        strength = np.log1p(count) / np.log1p(max(count.max(), 1))
        look: dict[str, Any] = {
            "origin": "lower",
            "extent": (low[0], low[0] + cell * shape[1], low[1], low[1] + cell * shape[0]),
        }
        look["interpolation"] = "nearest"
        if panel.classes is None:
            assert panel.amount is not None
            mean = np.bincount(at, weights=panel.amount, minlength=cells) / np.maximum(count, 1)
            shown = np.ma.masked_array(mean, count == 0).reshape(shape)
            return axis.imshow(shown, cmap=UNCERTAIN, vmin=0, vmax=panel.top, **look)
        known = panel.classes >= 0
        most, commonest = np.zeros(cells), np.full(cells, -1)
        for label in np.unique(panel.classes[known]).tolist():
            here = np.bincount(at[panel.classes == label], minlength=cells)
            commonest = np.where(here > most, label, commonest)
            most = np.maximum(most, here)
        colour = class_colours(commonest)
        colour[:, 3] = np.where(count > 0, 0.25 + 0.75 * strength, 0)
        axis.imshow(colour.reshape(*shape, 4), **look)
        if panel.strong is not None and panel.strong.any() and panel.strong.sum() <= MANY:
            x, y = self.place[panel.strong].T  # given labels are few, and must be seen
            axis.scatter(x, y, c=class_colours(panel.classes[panel.strong]), s=9, linewidths=0.4, edgecolors="black")
        return None


def flat_canvas(episode: Episode) -> FlatCanvas:
    return FlatCanvas(episode) if episode.num_nodes <= MANY else DensityCanvas(episode)


def episode_figure(episode: Episode, prediction: Prediction, graph: int = 0, title: str = "") -> Figure:
    """One graph four times: what was shown, what is true, what was predicted (mistakes ringed), how unsure it is."""
    start, end = (int(episode.graph.ptr[graph + i]) for i in (0, 1))
    one, said = episode.only(graph), prediction.at(torch.arange(start, end))
    drawn = [panels.shown(one), panels.truth(one), panels.predicted(one, said), panels.unsure(one, said)]
    return figure_of([Row(flat_canvas(one), drawn, one)], title)


def layout(episode: Episode, graph: int = 0) -> Array:
    """Where to draw the nodes of one graph [n, 2]: their own positions if they have some in the plane, else where forces along
    the edges put them."""
    start, end = (int(episode.graph.ptr[graph + i]) for i in (0, 1))
    own = episode.graph.get("pos")
    if own is not None and own.size(1) == 2:
        return own[start:end].double().numpy()
    edges = edges_of(episode, graph).T
    return place(edges, end - start) if end - start > KEPT else unit(force_directed(edges, end - start))


def edges_of(episode: Episode, graph: int = 0) -> Ints:
    """Each edge of one graph once whatever its direction, no loops, [e, 2], numbered from 0."""
    start, end = (int(episode.graph.ptr[graph + i]) for i in (0, 1))
    source, target = plain_edges(episode.graph.edge_index)
    inside = (source >= start) & (source < end) & (source != target)
    pairs = torch.stack([source[inside], target[inside]], 1).sort(1).values - start
    return pairs.unique(dim=0).numpy()


def draw_edges(axis: Axes, place: Array, edges: Ints) -> None:
    many = max(len(edges) / 1_000, 1)
    look: dict[str, Any] = {"linewidths": 0.4, "alpha": float(np.clip(0.8 / many**0.5, 0.05, 0.8)), "zorder": 1}
    lines = LineCollection(place[edges], colors="#888888", rasterized=many > 5, **look)  # type: ignore[arg-type]
    axis.add_collection(lines)
