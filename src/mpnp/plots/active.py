"""Pictures of active learning: learning curves, and which nodes were asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from ..active import Gain, Replay
from ..active.curves import BASELINE
from ..episode import Episode
from .clouds import VIEW, seen_from
from .graphs import draw_edges, edges_of, layout
from .style import CLASS_COLOURS, Array, Ints, class_colours

NAMES = {"accuracy": "accuracy", "miou": "mIoU"}
MANY_POINTS = 300  # beyond it points are drawn small


def curves_figure(replay: Replay) -> Figure:
    """Mean score over labels per graph, one line per strategy; beside it the gain over random with its 95 % band.

    Graphs differ much more from each other than strategies do, so a band around the curves would hide what paired
    differences show.
    """
    figure = Figure(figsize=(12, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    labels, baseline = replay.labels.numpy(), replay.curves[BASELINE][replay.metric]
    others = [name for name in replay.curves if name != BASELINE]
    colours = dict(zip(others, CLASS_COLOURS * (1 + len(others) // len(CLASS_COLOURS)), strict=False))
    for name, metrics in replay.curves.items():
        look: dict[str, Any] = {"color": colours.get(name, "#666666"), "linestyle": "-" if name in colours else "--"}
        left.plot(labels, 100 * replay.mean(name).numpy(), label=name, **look)
        if name not in colours:
            continue
        mean, half = _band(metrics[replay.metric] - baseline)
        right.plot(labels, 100 * mean, label=name, **look)
        right.fill_between(
            labels, 100 * (mean - half), 100 * (mean + half), color=look["color"], alpha=0.12, linewidth=0
        )
    metric = NAMES[replay.metric]
    left.set_ylabel(f"{metric} on all nodes, given labels counted, %")
    left.legend(fontsize=9, frameon=False)
    right.axhline(0, color="#666666", linestyle="--", linewidth=1)
    right.set_ylabel("gain over random, points (95 %)")
    for axis in (left, right):
        axis.set_xlabel("labels per graph")
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"{replay.model} on {replay.task}, {replay.graphs.numel()} graphs", fontsize=12)
    return figure


def asked_figure(
    episode: Episode, asked: Mapping[str, Tensor], graph: int = 0, started: Tensor | None = None, most: int = 20
) -> Figure:
    """One graph, true labels in pale colours, and the first ``most`` nodes each strategy asked for, numbered in order.

    ``asked``: per strategy node numbers within the graph, in order, -1 for none; ``started``: those labelled before, marked
    with a square. Point clouds (``pos``, else features, in three dimensions) are seen from the side.
    """
    one = episode.only(graph)
    place, edges = _places(one)
    colours = class_colours(one.y.numpy())
    size = 4 if len(place) > MANY_POINTS else 26
    columns = min(len(asked), 3)
    rows = -(-len(asked) // columns)
    figure = Figure(figsize=(4.4 * columns, 4.2 * rows), layout="constrained")
    for i, (name, nodes) in enumerate(asked.items()):
        axis: Any = figure.add_subplot(rows, columns, i + 1)
        draw_edges(axis, place, edges)
        axis.scatter(*place.T, c=colours, s=size, alpha=0.3, linewidths=0)
        for group, marker in ((started, "s"), (nodes[nodes >= 0][:most], "o")):
            chosen = [] if group is None else group[group >= 0].tolist()
            if chosen:
                axis.scatter(
                    *place[chosen].T, c=colours[chosen], s=60, marker=marker, edgecolors="black", linewidths=1, zorder=3
                )
        for number, node in enumerate(nodes[nodes >= 0][:most].tolist(), start=1):
            axis.text(*place[node], f" {number}", fontsize=9, zorder=4)
        axis.set_title(name, fontsize=11)
        axis.set_axis_off()
        axis.set_aspect("equal")
    return figure


def _places(episode: Episode) -> tuple[Array, Ints]:
    """Where to draw the nodes of the one graph [n, 2], and which edges [e, 2]: none of a point cloud, they would hide it."""
    own = episode.graph.get("pos")
    points = episode.graph.x if own is None else own
    if points.size(1) != 3:
        return layout(episode), edges_of(episode)
    return seen_from(points.double().numpy(), *VIEW)[0], np.zeros((0, 2), dtype=np.int64)


def _band(differences: Tensor) -> tuple[Array, Array]:
    """Mean over graphs [G, S] → [S], and half the width of its 95 % interval; 0 for a single graph."""
    steps = [Gain.of(column) for column in differences.unbind(1)]
    return np.array([step.mean for step in steps]), np.nan_to_num(np.array([step.high - step.mean for step in steps]))
