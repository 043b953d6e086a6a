"""Point clouds in space, seen from the side and a little from above."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure

from ..episode import Episode
from ..prediction import Prediction
from .panels import Panel, Row, figure_of, panels_of
from .style import UNCERTAIN, Array, Ints, class_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VIEW = (0.6, 0.35)  # turn and tilt
FEW = 100  # points with a ring; more would hide what they lie on


class CloudCanvas:
    """Points where they are; the less sure, the larger, lighter and nearer to the eye."""

    size = (3.4, 3.5)
    starts = False
    view = VIEW
    edges: Ints = np.zeros((0, 2), dtype=np.int64)

    def __init__(self, episode: Episode) -> None:
        self.points: Array = episode.graph.pos.double().numpy()
        self.place, self.near = seen_from(self.points, *VIEW)

    def draw(self, axis: Axes, panel: Panel) -> ScalarMappable | None:
        x, y = self.place.T
        scale = None
        if panel.classes is not None:
            strong = np.zeros(len(x), dtype=bool) if panel.strong is None else panel.strong
            # What is shown must not hide behind what is grey; otherwise far points come first, as in life.
            order = np.lexsort([self.near, panel.classes >= 0])
            fill, size = class_colours(panel.classes), np.where(strong, 9.0, 3.0)
            axis.scatter(x[order], y[order], c=fill[order], s=size[order], linewidths=0)
        else:
            assert panel.amount is not None
            order, size = panel.amount.argsort(), 1.5 + 22 * panel.share
            look: dict[str, Any] = {"cmap": UNCERTAIN, "vmin": 0, "vmax": panel.top, "linewidths": 0}
            scale = axis.scatter(x[order], y[order], c=panel.amount[order], s=size[order], **look)
        if panel.ringed is not None and panel.ringed.any():
            few = panel.prediction is None and panel.ringed.sum() <= FEW  # mistakes come in crowds
            ring: dict[str, Any] = {"s": 34, "linewidths": 1.1} if few else {"s": 9, "linewidths": 0.5}
            x, y = self.place[panel.ringed].T
            axis.scatter(x, y, facecolors="none", edgecolors="black", label=panel.rings, **ring)
        return scale


def cloud_figure(episode: Episode, predictions: Mapping[str, Prediction], title: str = "true labels") -> Figure:
    """A shape: its parts, and beside them how unsure each model is."""
    true, *doubts = panels_of(episode, predictions, "uncertainty")
    return figure_of([Row(CloudCanvas(episode), [replace(true, title=title), *doubts], episode)])


def seen_from(points: Array, turn: float, tilt: float) -> tuple[Array, Array]:
    """Points [N, 3], y up, turned and tilted: place in the picture [N, 2], nearness [N]."""
    x, y, z = points.T
    across, away = np.cos(turn) * x + np.sin(turn) * z, np.cos(turn) * z - np.sin(turn) * x
    up, near = np.cos(tilt) * y - np.sin(tilt) * away, np.sin(tilt) * y + np.cos(tilt) * away
    return np.stack([across, up], 1), near
