"""Charts: accuracy over context, and uncertainty at home and abroad."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ..evaluation.shift import ShiftTable
from ..evaluation.tables import Scores, ScoreTable
from .style import PAPER_GREYS, model_colours

Figures = Sequence[tuple[float, float]]  # in percent with their spread, one per context rate


def accuracy_figure(tables: Sequence[ScoreTable], paper: Mapping[str, Sequence[float]] | None = None) -> Figure:
    """Accuracy over context rates of predictors of one task, and the paper's figures in grey."""
    ours = [(table.model, [_percent(row) for _, row in table]) for table in tables]
    return bars_figure(tables[0].task, [rate for rate, _ in tables[0]], ours, paper)


def bars_figure(
    title: str,
    rates: Sequence[float],
    ours: Sequence[tuple[str, Figures]],
    paper: Mapping[str, Sequence[float]] | None = None,
) -> Figure:
    """A group of bars per context rate: accuracies in percent, ours in colour with their spread, the paper's in grey."""
    colours = model_colours(name for name, _ in ours)
    bars: list[tuple[str, Figures, str]] = [(name, figures, colours[name]) for name, figures in ours]
    for i, (name, values) in enumerate((paper or {}).items()):
        bars.append((f"paper: {name}", [(value, 0.0) for value in values], PAPER_GREYS[i % len(PAPER_GREYS)]))
    figure = Figure(figsize=(max(8, len(bars)), 4), layout="constrained")
    axis = figure.subplots()
    width = 0.8 / len(bars)
    for i, (name, figures, colour) in enumerate(bars):
        height, spread = zip(*figures, strict=True)
        where = np.arange(len(rates)) - 0.4 + width * (i + 0.5)
        yerr = spread if any(spread) else None
        drawn = axis.bar(where, height, 0.92 * width, yerr=yerr, color=colour, label=name, capsize=2)
        axis.bar_label(drawn, fmt="%.1f", fontsize=7, padding=2)
    lowest = min(bar.get_height() for bar in axis.patches)  # type: ignore[attr-defined]
    axis.set_ylim(max(0, lowest - 8), 104)
    axis.set_xticks(np.arange(len(rates)), [f"{100 * rate:g} % labelled" for rate in rates])
    axis.set_ylabel("accuracy on unlabelled nodes, %")
    axis.set_title(title)
    axis.legend(fontsize=8, ncols=3, loc="upper left", bbox_to_anchor=(0, -0.1), frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def _percent(row: Scores) -> tuple[float, float]:
    return 100 * row.accuracy, 0.0 if row.spread is None else 100 * row.spread.accuracy


def shift_figure(home: Sequence[ShiftTable], abroad: Sequence[ShiftTable]) -> Figure:
    """Uncertainty over context rates, tables of ``mean_uncertainty``: a panel per part, lines full at home, broken abroad."""
    figure = Figure(figsize=(12, 3.8), layout="constrained")
    axes: Any = figure.subplots(1, 3)
    colours = model_colours(table.model for table in [*home, *abroad])
    tasks = list(dict.fromkeys(table.task for table in abroad))
    for axis, part in zip(axes, ("total", "aleatoric", "epistemic"), strict=True):
        for table in [*home, *abroad]:
            foreign = any(table is other for other in abroad)
            rates = np.array([100 * rate for rate, _ in table])
            colour = colours[table.model]
            dashes = ("--", ":", "-.")[tasks.index(table.task) % 3] if foreign else "-"
            label = f"{table.model} on {table.task}"
            axis.plot(rates, [getattr(row, part) for _, row in table], dashes, color=colour, label=label)
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
