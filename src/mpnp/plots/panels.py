"""A picture is rows of panels: a canvas knows where the nodes of a graph lie, a panel what they show there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..episode import Episode
from ..errors import unknown_name
from ..evaluation.borders import near_border
from ..graphs import UNLABELLED
from ..prediction import Prediction
from .style import Array, Flags, Ints, class_colour, legend_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_NAMED = 23  # classes in a legend
# Which panels a graph gets. 'gallery' is 'uncertainty' for several graphs, one below the other.
KINDS = ("auto", "truth", "prediction", "uncertainty", "gallery")


def check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise unknown_name("kind of picture", kind, KINDS)


@dataclass(frozen=True)
class Panel:
    """What the nodes of one graph show: ``classes`` [n], -1 where there is none to show, or an ``amount`` [n] from 0 to ``top``.

    ``ringed`` [n]: nodes with a mark, which ``rings`` names; ``strong`` [n]: those to be seen well among thousands.
    ``prediction``: whose panel it is, for viewers that tell more.
    """

    title: str
    classes: Ints | None = None
    amount: Array | None = None
    top: float = 1.0
    ringed: Flags | None = None
    rings: str = ""
    strong: Flags | None = None
    prediction: Prediction | None = None

    @property
    def share(self) -> Array:
        """How much of the highest amount each node has, [n] from 0 to 1."""
        assert self.amount is not None
        return (self.amount / self.top).clip(0, 1)


class Canvas(Protocol):
    """Where the nodes of one graph lie, and how they are drawn.

    ``size``: of a panel in inches; ``starts``: whether features are the first state of an automaton, worth a panel.
    For viewers in space: ``points`` [n, 3], y up; ``edges`` [e, 2], none where they would hide the nodes; ``view``: turn and
    tilt to begin with.
    """

    size: tuple[float, float]
    starts: bool
    points: Array
    edges: Ints
    view: tuple[float, float]

    def draw(self, axis: Axes, panel: Panel) -> ScalarMappable | None:
        """Draw a panel; what a colour bar needs, if it shows amounts."""
        ...


@dataclass(frozen=True)
class Row:
    """One graph and its panels. ``names`` of its nodes, where they have some; ``given``: the labels it has are those a person
    gave, of the others nothing is known."""

    canvas: Canvas
    panels: Sequence[Panel]
    episode: Episode
    names: Sequence[str] | None = None
    given: bool = False


# What panels show. All take an episode of one graph and predictions of all its nodes.


def start(episode: Episode) -> Panel:
    """The first state of an automaton: features are its one-hot."""
    return Panel("start", classes=episode.graph.x.argmax(1).numpy())


def shown(episode: Episode) -> Panel:
    """The labels of the context."""
    known = episode.context.numpy()
    title = f"shown: {int(known.sum())} of {episode.num_nodes} labels"
    return Panel(title, classes=np.where(known, episode.y.numpy(), UNLABELLED), strong=known)


def given(episode: Episode) -> Panel:
    """The labels a person gave."""
    known = episode.context.numpy()
    title = f"given: {int(known.sum()):,} of {episode.num_nodes:,} labels"
    return Panel(title, classes=np.where(known, episode.y.numpy(), UNLABELLED), strong=known)


def truth(episode: Episode, ring_context: bool = False) -> Panel:
    """All labels that are known; nodes near the border of two classes stand out."""
    ringed = episode.context.numpy() if ring_context else None
    border = near_border(episode).numpy()
    return Panel("true labels", classes=episode.y.numpy(), strong=border, ringed=ringed, rings="shown")


def predicted(episode: Episode, prediction: Prediction, name: str = "predicted") -> Panel:
    """The likeliest labels, mistakes ringed."""
    title = f"{name}{_right(episode, prediction, ': ')}"
    wrong = ((prediction.label != episode.y) & _judged(episode)).numpy()
    label = prediction.label.numpy()
    return Panel(title, classes=label, ringed=wrong, rings="mistake", prediction=prediction)


def believed(episode: Episode, prediction: Prediction, name: str = "predicted") -> Panel:
    """The labels given, ringed, and the likeliest ones of all other nodes."""
    label, given = torch.where(episode.context, episode.y, prediction.label).numpy(), episode.context.numpy()
    return Panel(name, classes=label, ringed=given, rings="given", strong=given, prediction=prediction)


def unsure(episode: Episode, prediction: Prediction, name: str = "", with_accuracy: bool = False) -> Panel:
    """Total uncertainty; the scale ends where all classes are equally likely."""
    title = f"{name}: uncertainty" if name else "uncertainty"
    if with_accuracy:
        title += _right(episode, prediction, ", ")
    top = float(np.log(max(episode.num_classes, 2)))
    return Panel(title, amount=prediction.total.double().numpy(), top=top, prediction=prediction)


def panels_of(episode: Episode, predictions: Mapping[str, Prediction], kind: str, starts: bool = False) -> list[Panel]:
    """The panels of one of :data:`KINDS`; ``starts``: features are an automaton's first state."""
    first = [start(episode)] if starts else []
    if kind == "truth":
        return [*first, shown(episode), truth(episode)]
    if kind == "prediction":
        return [*first, truth(episode), *(predicted(episode, said, name) for name, said in predictions.items())]
    if kind == "auto":
        both = [(predicted(episode, said, name), unsure(episode, said, name)) for name, said in predictions.items()]
        return [*first, shown(episode), truth(episode), *(panel for pair in both for panel in pair)]
    doubts = [unsure(episode, said, name, with_accuracy=True) for name, said in predictions.items()]
    return [truth(episode, ring_context=True), *doubts]


def figure_of(rows: Sequence[Row], title: str = "", class_names: Sequence[str] = ()) -> Figure:
    """The rows one below the other, each with a colour bar if it shows amounts; ``class_names`` give a legend."""
    columns = max(len(row.panels) for row in rows)
    width = max(row.canvas.size[0] for row in rows)
    height = sum(row.canvas.size[1] for row in rows) + (0.3 if class_names else 0)
    figure = Figure(figsize=(width * columns, height), layout="constrained")
    named: set[str] = set()  # marks are explained where they come first
    grid: Any = figure.subplots(len(rows), columns, squeeze=False)
    for axes, row in zip(grid, rows, strict=True):
        bar: tuple[ScalarMappable, Axes] | None = None
        for axis, panel in zip(axes, row.panels, strict=False):
            scale = row.canvas.draw(axis, panel)
            bar = (scale, axis) if scale is not None else bar
            axis.set_title(panel.title, fontsize=11)
            axis.set_aspect("equal")
            marked = axis.get_legend_handles_labels()[1]
            if marked and panel.rings not in named:
                named.add(panel.rings)
                axis.legend(loc="upper right", bbox_to_anchor=(1, 0.02), fontsize=9, frameon=False, borderpad=0)
        for axis in axes:
            axis.set_axis_off()
        if bar is not None:
            figure.colorbar(bar[0], ax=bar[1], shrink=0.75, label="uncertainty (nats)")
    if class_names:
        marks = [Line2D([], [], color=class_colour(c), marker="o", linestyle="") for c in range(len(class_names))]
        names = [legend_name(name) for name in class_names[:MOST_NAMED]]
        if len(class_names) > MOST_NAMED:
            marks[MOST_NAMED:] = [Line2D([], [], linestyle="")]
            names.append(f"… and {len(class_names) - MOST_NAMED} more")
        figure.legend(marks, names, loc="outside lower center", ncols=6, frameon=False)
    if title:
        figure.suptitle(title, fontsize=13)
    return figure


def _judged(episode: Episode) -> Any:
    """Nodes on which a prediction can be right or wrong: labelled, and not told."""
    return (episode.y != UNLABELLED) & ~episode.context


def _right(episode: Episode, prediction: Prediction, before: str) -> str:
    judged = _judged(episode)
    if not bool(judged.any()):
        return ""
    return f"{before}{100 * float((prediction.label == episode.y)[judged].float().mean()):.1f} % right"
