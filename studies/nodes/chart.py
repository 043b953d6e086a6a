"""Accuracy over labels per class: the mean over graphs, and every graph for itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mpnp.plots.style import CLASS_COLOURS
from mpnp.tasks.nodes import GRAPHS

from .storing import Record

ORDER = ("universal", "best-expert", "label-propagation", "gcn", "stack", "logistic", "mlp", "ampnp")
COLOURS = dict(zip(ORDER, CLASS_COLOURS, strict=False))
MARKERS = dict(zip(ORDER, "osD^vPX*", strict=True))
WIDE = 4  # panels in a row


def few_labels_figure(few: Mapping[int, Mapping[tuple[str, str], Record]], names: Sequence[str]) -> Figure:
    """``few``: records by labels per class, then by graph and contestant."""
    counts = list(few)
    graphs = [graph for graph in GRAPHS if all((graph, name) in found for found in few.values() for name in names)]
    deep = -(-len(graphs) // WIDE)
    figure = Figure(figsize=(11, 3.6 + 1.9 * deep), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=[3.4, max(1.9 * deep, 0.1)])
    mean, below = parts[0].subplots(), parts[1]
    for name in names if graphs else ():
        values = [100 * fmean(few[n][graph, name].mean("accuracy") for graph in graphs) for n in counts]
        mean.plot(counts, values, **_look(name), label=name, linewidth=2, markersize=6)
    mean.set_title(f"Mean over {len(graphs)} graphs", fontsize=11)
    mean.set_ylabel("test accuracy, %")
    mean.set_xlabel("labels per class")
    _axis(mean, counts)
    handles, labels = mean.get_legend_handles_labels()
    mean.legend(handles, labels, frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.01, 0.5))
    if not graphs:
        return figure
    panels: Any = below.subplots(deep, WIDE, sharex=True, squeeze=False)
    for axis in panels.flat[len(graphs) :]:
        axis.set_visible(False)
    for axis, graph in zip(panels.flat, graphs, strict=False):
        for name in names:
            middle = np.array([100 * few[n][graph, name].mean("accuracy") for n in counts])
            spread = np.array([100 * few[n][graph, name].spread("accuracy") for n in counts])
            axis.plot(counts, middle, **_look(name), linewidth=1.3, markersize=3.5)
            axis.fill_between(counts, middle - spread, middle + spread, color=COLOURS[name], alpha=0.1, linewidth=0)
        axis.set_title(graph, fontsize=9)
        _axis(axis, counts)
    return figure


def _look(name: str) -> dict[str, Any]:
    return {"color": COLOURS[name], "marker": MARKERS[name], "linestyle": "-" if name == "universal" else "--"}


def _axis(axis: Any, counts: Sequence[int]) -> None:
    axis.set_xscale("log")
    axis.set_xticks(counts, [str(count) for count in counts])
    axis.minorticks_off()
    axis.tick_params(labelsize=8)
    axis.spines[["top", "right"]].set_visible(False)
