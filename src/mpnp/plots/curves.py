"""Charts: accuracy over context, and uncertainty at home and abroad."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from .style import CLASS_COLOURS, PAPER_GREYS


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


def shift_figure(home: Sequence[Mapping[str, Any]], abroad: Sequence[Mapping[str, Any]]) -> Figure:
    """Uncertainty over context rates, tables of ``mean_uncertainty``: a panel per part, lines full at home, broken abroad."""
    figure = Figure(figsize=(12, 3.8), layout="constrained")
    axes: Any = figure.subplots(1, 3)
    models = list(dict.fromkeys(table["model"] for table in home))
    tasks = list(dict.fromkeys(table["task"] for table in abroad))
    for axis, part in zip(axes, ("total", "aleatoric", "epistemic"), strict=True):
        for table in [*home, *abroad]:
            foreign = any(table is other for other in abroad)
            rates = np.array([100 * float(rate) for rate in table["rates"]])
            colour = CLASS_COLOURS[models.index(table["model"]) % len(CLASS_COLOURS)]
            dashes = ("--", ":", "-.")[tasks.index(table["task"]) % 3] if foreign else "-"
            label = f"{table['model']} on {table['task']}"
            axis.plot(rates, [row[part] for row in table["rates"].values()], dashes, color=colour, label=label)
        axis.set_title(f"{part} uncertainty", fontsize=11)
        axis.set_xlabel("labelled nodes, %")
        axis.set_xscale("symlog", linthresh=1)
        axis.set_xticks(rates, [f"{rate:g}" for rate in rates], fontsize=8)
        axis.minorticks_off()
        axis.set_ylim(bottom=0)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("mean of the hidden nodes, nats")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    return figure
