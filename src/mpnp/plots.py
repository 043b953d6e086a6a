"""Pictures of episodes, predictions and tables: colour-blind safe, readable in print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import torch
from matplotlib.colors import ListedColormap, to_rgba
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .episode import Episode
from .files import replacing
from .graphs import plain_edges
from .prediction import Prediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe-Ito, from dark to light, so that two classes also differ in grey print.
CLASS_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#000000")
UNKNOWN = "#D9D9D9"
PAPER_GREYS = ("#666666", "#999999", "#C4C4C4")


def save(figure: Figure, path: Path) -> Path:
    """Write a figure (PNG, SVG or PDF by the ending), never half of it."""
    with replacing(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:], dpi=110, bbox_inches="tight")
    return path


def layout(episode: Episode, graph: int = 0) -> NDArray[np.float64]:
    """Where to draw the nodes of one graph [n, 2]: their own positions if they have some in the plane, else a spring layout."""
    start, end = (int(episode.graph.ptr[graph + i]) for i in (0, 1))
    own = episode.graph.get("pos")
    if own is not None and own.size(1) == 2:
        return own[start:end].double().numpy()
    drawing = nx.Graph()
    drawing.add_nodes_from(range(end - start))
    drawing.add_edges_from(_edges(episode, graph).tolist())
    ring = nx.circular_layout(drawing)
    place = nx.spring_layout(drawing, pos=ring, seed=0, iterations=60, k=1.6 / max(end - start, 1) ** 0.5)
    return np.array([place[i] for i in range(end - start)])


def episode_figure(episode: Episode, prediction: Prediction, graph: int = 0, title: str = "") -> Figure:
    """One graph four times: what was shown, what is true, what was predicted (mistakes ringed), how unsure it is."""
    start, end = (int(episode.graph.ptr[graph + i]) for i in (0, 1))
    nodes = slice(start, end)
    place, edges = layout(episode, graph), _edges(episode, graph)
    y, context = episode.y[nodes], episode.context[nodes]
    label, total = prediction.label[nodes], prediction.total[nodes]
    wrong = (label != y) & (y >= 0) & ~context
    figure = Figure(figsize=(16, 4.4), layout="constrained")
    axes: Sequence[Axes] = figure.subplots(1, 4)
    colours = [CLASS_COLOURS[c % len(CLASS_COLOURS)] for c in range(episode.num_classes)]
    known = [to_rgba(colours[c]) if c >= 0 else to_rgba(UNKNOWN) for c in y.tolist()]
    shown = [colour if is_shown else to_rgba(UNKNOWN) for colour, is_shown in zip(known, context.tolist(), strict=True)]
    hidden = int((~context).sum())
    right = 100 * float((label == y)[~context & (y >= 0)].float().mean()) if hidden else float("nan")
    panels = [
        (f"shown: {int(context.sum())} of {end - start} labels", shown),
        ("true labels", known),
        (f"predicted: {right:.1f} % of the hidden ones right", [to_rgba(colours[c]) for c in label.tolist()]),
    ]
    for axis, (name, fill) in zip(axes, panels, strict=False):
        _graph(axis, place, edges)
        axis.scatter(place[:, 0], place[:, 1], c=fill, s=34, linewidths=0.4, edgecolors="white", zorder=2)
        axis.set_title(name, fontsize=11)
    if bool(wrong.any()):
        axes[2].scatter(
            place[wrong, 0], place[wrong, 1], s=90, facecolors="none", edgecolors="#D55E00", linewidths=1.6, zorder=3,
            label="mistake",
        )  # fmt: skip
        axes[2].legend(loc="lower right", fontsize=9, frameon=False)
    _graph(axes[3], place, edges)
    size = 12 + 70 * (total / np.log(max(episode.num_classes, 2))).clamp(0, 1)
    points = axes[3].scatter(
        place[:, 0], place[:, 1], c=total, s=size, cmap="viridis", vmin=0, vmax=np.log(max(episode.num_classes, 2)), zorder=2
    )  # fmt: skip
    axes[3].set_title("total uncertainty (nats)", fontsize=11)
    figure.colorbar(points, ax=axes[3], shrink=0.8)
    if title:
        figure.suptitle(title, fontsize=13)
    return figure


def board_figure(episode: Episode, predictions: Mapping[str, Prediction], graph: int = 0, side: int = 30) -> Figure:
    """A Life-like board: start, shown part of the next generation, truth; per predictor its guess and its uncertainty."""
    start, end = (int(episode.graph.ptr[graph + i]) for i in (0, 1))
    nodes = slice(start, end)
    y, context = episode.y[nodes], episode.context[nodes]
    two = ListedColormap([CLASS_COLOURS[0], CLASS_COLOURS[1]])
    three = ListedColormap([UNKNOWN, CLASS_COLOURS[0], CLASS_COLOURS[1]])
    panels: list[tuple[str, Any, Any, float]] = [
        ("start", episode.graph.x[nodes, 1], two, 1),
        (f"shown: {100 * float(context.float().mean()):.0f} %", torch.where(context, y + 1, 0), three, 2),
        ("next generation", y, two, 1),
    ]
    for name, prediction in predictions.items():
        right = 100 * float((prediction.label[nodes] == y)[~context].float().mean())
        panels.append((f"{name}: {right:.1f} % right", prediction.label[nodes], two, 1))
        panels.append((f"{name}: uncertainty", prediction.total[nodes], "viridis", float(np.log(2))))
    figure = Figure(figsize=(3.1 * len(panels), 3.4), layout="constrained")
    for axis, (name, values, colours, top) in zip(figure.subplots(1, len(panels)), panels, strict=True):
        axis.imshow(values.reshape(side, side), cmap=colours, vmin=0, vmax=top, interpolation="nearest")
        axis.set_title(name, fontsize=11)
        axis.set_axis_off()
    return figure


def accuracy_figure(tables: Sequence[Mapping[str, Any]], paper: Mapping[str, Sequence[float]] | None = None) -> Figure:
    """Accuracy over context rates, a group of bars per rate: predictors of one task, and the paper's figures in grey."""
    rates = list(tables[0]["rates"])
    names = [table["model"] for table in tables] + [f"paper: {name}" for name in (paper or {})]
    figure = Figure(figsize=(8, 4), layout="constrained")
    axis = figure.subplots()
    width = 0.8 / len(names)
    for i, name in enumerate(names):
        if i < len(tables):
            rows = [tables[i]["rates"][rate] for rate in rates]
            height, spread = [100 * r["accuracy"] for r in rows], [100 * r["accuracy_std"] for r in rows]
            colour = CLASS_COLOURS[i % len(CLASS_COLOURS)]
        else:
            height, spread = list((paper or {})[name.removeprefix("paper: ")]), [0.0] * len(rates)
            colour = PAPER_GREYS[(i - len(tables)) % len(PAPER_GREYS)]
        where = np.arange(len(rates)) - 0.4 + width * (i + 0.5)
        bars = axis.bar(where, height, 0.92 * width, yerr=spread, color=colour, label=name, capsize=2)
        axis.bar_label(bars, fmt="%.1f", fontsize=7, padding=2)
    lowest = min(bar.get_height() for bar in axis.patches)  # type: ignore[attr-defined]
    axis.set_ylim(max(0, lowest - 8), 104)
    axis.set_xticks(np.arange(len(rates)), [f"{100 * float(rate):g} % labelled" for rate in rates])
    axis.set_ylabel("accuracy on unlabelled nodes, %")
    axis.set_title(tables[0]["task"])
    axis.legend(fontsize=8, ncols=3, loc="upper left", bbox_to_anchor=(0, -0.1), frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def _edges(episode: Episode, graph: int) -> NDArray[np.int64]:
    """Each edge of one graph once, [e, 2], numbered from 0."""
    start, end = (int(episode.graph.ptr[graph + i]) for i in (0, 1))
    source, target = plain_edges(episode.graph.edge_index)
    inside = (source >= start) & (source < end) & (source < target)
    return torch.stack([source[inside] - start, target[inside] - start], 1).numpy()


def _graph(axis: Axes, place: NDArray[np.float64], edges: NDArray[np.int64]) -> None:
    from matplotlib.collections import LineCollection

    axis.add_collection(LineCollection(place[edges], colors="#BBBBBB", linewidths=0.4, zorder=1))  # type: ignore[arg-type]
    axis.set_axis_off()
    axis.set_aspect("equal")
