"""Cellular automata where they live: boards, whose opposite sides are joined, and spheres."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from scipy.spatial import SphericalVoronoi

from ..episode import Episode
from ..prediction import Prediction
from .graphs import edges_of
from .panels import Panel, Row, figure_of, panels_of
from .style import UNCERTAIN, Array, Ints, class_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class BoardCanvas:
    """A square board, row by row; in space it is rolled up to the torus that it is."""

    size = (3.1, 3.4)
    starts = True
    view = (0.0, 0.9)
    edges: Ints = np.zeros((0, 2), dtype=np.int64)

    def __init__(self, episode: Episode) -> None:
        self.side = round(episode.num_nodes**0.5)
        row, column = np.divmod(np.arange(self.side**2), self.side)
        round_, across = 2 * np.pi * column / self.side, 2 * np.pi * row / self.side
        out = 1 + 0.45 * np.cos(across)
        self.points: Array = np.stack([out * np.cos(round_), 0.45 * np.sin(across), out * np.sin(round_)], 1)

    def draw(self, axis: Axes, panel: Panel) -> ScalarMappable | None:
        scale = None
        if panel.classes is not None:
            axis.imshow(class_colours(panel.classes).reshape(self.side, self.side, 4), interpolation="nearest")
        else:
            assert panel.amount is not None
            board = panel.amount.reshape(self.side, self.side)
            scale = axis.imshow(board, cmap=UNCERTAIN, vmin=0, vmax=panel.top, interpolation="nearest")
        if panel.ringed is not None and panel.ringed.any():
            row, column = np.divmod(np.flatnonzero(panel.ringed), self.side)
            axis.scatter(column, row, s=9, marker="x", color="black", linewidths=0.8, label=panel.rings)
        return scale


class SphereCanvas:
    """The Voronoi cells of points on a sphere: the near side of it."""

    size = (3.1, 3.4)
    starts = True
    view = (0.0, 0.0)

    def __init__(self, episode: Episode) -> None:
        centres: Array = episode.graph.pos.double().numpy()
        self.points = centres / np.linalg.norm(centres, axis=1, keepdims=True)
        self.edges = edges_of(episode)
        cells = SphericalVoronoi(self.points)
        cells.sort_vertices_of_regions()
        self.near = np.flatnonzero(self.points[:, 2] > -0.1)
        self.outlines = [_arc(cells.vertices[cells.regions[i]])[:, :2] for i in self.near]

    def draw(self, axis: Axes, panel: Panel) -> ScalarMappable | None:
        look: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.6}
        if panel.classes is not None:
            faces = PolyCollection(self.outlines, facecolors=class_colours(panel.classes[self.near]), **look)
        else:
            assert panel.amount is not None
            faces = PolyCollection(self.outlines, array=panel.amount[self.near], cmap=UNCERTAIN, **look)
            faces.set_clim(0, panel.top)
        axis.add_collection(faces)
        rim = Circle((0, 0), 1, facecolor="none", edgecolor="#888888", linewidth=0.8)
        axis.add_patch(rim)
        faces.set_clip_path(rim)
        axis.set(xlim=(-1.03, 1.03), ylim=(-1.03, 1.03))
        if panel.ringed is not None:
            marked = self.points[panel.ringed & (self.points[:, 2] > 0)]
            ring: dict[str, Any] = {"s": 60, "facecolors": "none", "edgecolors": "black", "linewidths": 1.3}
            axis.scatter(marked[:, 0], marked[:, 1], label=panel.rings, **ring)
        return faces if panel.amount is not None else None


def board_figure(episode: Episode, predictions: Mapping[str, Prediction], graph: int = 0) -> Figure:
    """A Life-like board: start, shown part of the next generation, truth; per predictor its guess and its uncertainty."""
    start, end = (int(episode.graph.ptr[graph + i]) for i in (0, 1))
    one = episode.only(graph)
    said = {name: prediction.at(torch.arange(start, end)) for name, prediction in predictions.items()}
    return figure_of([Row(BoardCanvas(one), panels_of(one, said, "auto", starts=True), one)])


def sphere_figure(episode: Episode, predictions: Mapping[str, Prediction]) -> Figure:
    """The near side of a spherical Voronoi automaton; panels as of a board."""
    return figure_of([Row(SphereCanvas(episode), panels_of(episode, predictions, "auto", starts=True), episode)])


def _arc(corners: Array, steps: int = 6) -> Array:
    """A polygon on the unit sphere [M, 3] with points along its edges, so that they follow the sphere."""
    share = np.arange(steps)[None, :, None] / steps
    along = (1 - share) * corners[:, None] + share * np.roll(corners, -1, 0)[:, None]
    return (along / np.linalg.norm(along, axis=-1, keepdims=True)).reshape(-1, 3)
