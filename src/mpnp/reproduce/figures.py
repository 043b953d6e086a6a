"""The pictures of the report: charts of the figures, and what trained models make of an automaton, a board and a shape."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from .. import plots
from ..models.configs import build, config
from ..models.neural_process import NeuralProcess
from ..tasks import get_task
from .compare import LIMITS, Comparison, Row, Section
from .drawing import model_figure

Array = NDArray[np.float64]
# Ours have their colours of every picture, and a sign each; the paper's are grey, and tell each other apart by their dashes.
SIGNS = {"ampnp": "o", "mpnp": "s", "mpnp-c": "s", "gnn": "^", "label-propagation": "D"}
DASHES = {"mpnp": "-", "np": "--", "gnn": ":", "label-propagation": "-."}


FRONT = "front"  # the section of pictures that belong to no table
# What the paper's figures show, by the name of the picture here that shows the like.
SHOWN = {
    "model": "The paper's Figure 1 draws this computation on a small graph: labels shown on blue nodes, r, z, and the prediction "
    "that goes back in as the targets' labels.",
    "shapenet": "The paper's Figure 2 shows the same for its GNN, label propagation, NP and MPNP.",
    "cloud": "The paper's Figure 3 shows a table: its MPNP unsure at the borders of parts, its NP along the edges of the top.",
    "active": "The right of the paper's Figure 3 shows that asking for the most uncertain point helps its MPNP more than its NP.",
    "sphere": "The paper's Figure 4 shows two generations of such an automaton.",
    "uncertainty": "The paper's Figure 6 shows airplane, chair, lamp, mug and car: its MPNP unsure at borders, its NP in large "
    "simple volumes, as the whole handle side of a mug.",
}
BARS = "The paper's Figure 5 shows its MPNP, its NP and the two modes, at 10, 30 and 100 %."


class Picture(NamedTuple):
    """A picture in ``FOLDER/figures``: ``path`` is a PNG, a chart has an SVG beside it; ``shown``: what the paper's shows."""

    name: str
    section: str
    caption: str
    path: Path

    @property
    def shown(self) -> str:
        return BARS if self.name.startswith("ca-") else SHOWN.get(self.name, "")


def charts(folder: Path, sections: Sequence[Section]) -> list[Picture]:
    """From the figures alone, so always drawn anew."""
    found = [_chart(folder, "model", FRONT, MODEL, model_figure(_papers_model()))] if sections else []
    for section in sections:
        measured = [comparison for comparison in section.comparisons if comparison.ours and comparison.theirs]
        if section.name.startswith("shapenet") and measured:
            caption = (
                "mIoU over the share of labelled points, of those without a label; label propagation with given labels as given. "
                "Bands: 95 % of runs (1.96 spreads). Grey: the paper's figures."
            )
            found.append(_chart(folder, section.name, section.name, caption, miou_figure(measured)))
        for comparison in measured if section.name == "cellular-automata" else ():
            bars = automaton_figure(comparison)
            if bars is not None:
                caption = f"{comparison.task}: accuracy at each share of labelled cells. Grey: the paper's figures."
                found.append(_chart(folder, comparison.task.replace("/", "-"), section.name, caption, bars))
    return found


def miou_figure(comparisons: Sequence[Comparison]) -> Figure:
    """A panel per task: mIoU over context rates, ours with bands, the paper's in grey."""
    columns = min(4, len(comparisons))
    lines = -(-len(comparisons) // columns)
    figure = Figure(figsize=(max(2.7 * columns, 6.2), 2.2 * lines + 0.9), layout="constrained")
    panels: Any = figure.subplots(lines, columns, squeeze=False).ravel()
    legend: dict[str, Line2D] = {}
    for axis, comparison in zip(panels, comparisons, strict=False):
        rates = np.array(comparison.rates)
        for row in comparison.theirs:
            key = row.name.removesuffix("-c")
            if key in DASHES:
                style = {"color": "#8A8A8A", "linestyle": DASHES[key], "linewidth": 1.1, "zorder": 1}
                (legend[f"paper: {row.label}"],) = axis.plot(rates, _values(row), **style)
        for row in comparison.ours:
            if row.name in SIGNS:
                colour, value = plots.MODEL_COLOURS[row.name], _values(row)
                band = 1.96 * np.array([0.0 if c is None or c.spread is None else c.spread for c in row.cells])
                axis.fill_between(rates, value - band, np.minimum(value + band, 100), color=colour, alpha=0.2, lw=0)
                style = {"color": colour, "marker": SIGNS[row.name], "markersize": 3.5, "linewidth": 1.6}
                (legend[row.label],) = axis.plot(rates, value, **style)
        axis.set_xscale("log")
        axis.set_xticks(rates, [f"{100 * rate:g}" for rate in rates], fontsize=8)
        axis.minorticks_off()
        axis.tick_params(axis="y", labelsize=8)
        axis.set_title(comparison.task.partition("/")[2], fontsize=10)
        axis.grid(axis="y", color="#E5E5E5", linewidth=0.6)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in panels[len(comparisons) :]:
        axis.set_axis_off()
    figure.supxlabel("labelled points, %", fontsize=9)
    figure.supylabel("mIoU, %", fontsize=9)
    ours_first = sorted(legend, key=lambda name: name.startswith("paper"))
    figure.legend([legend[n] for n in ours_first], ours_first, loc="outside upper center", ncols=4, fontsize=9, frameon=False)  # fmt: skip
    return figure


def automaton_figure(comparison: Comparison) -> Figure | None:
    """Bars of one family, and the paper's MPNP and NP. Rows without all rates are left out."""
    limit = LIMITS[0] if comparison.task == "ca/life-like" else LIMITS[1]
    shown = [row for row in comparison.ours if row.name in (*BARRED, limit)]
    ours = [
        (
            f"{row.label} (limit)" if row.limit else row.label,
            [(cell.value, cell.spread or 0) for cell in row.cells if cell],
        )
        for row in shown
        if all(row.cells)
    ]
    theirs = {row.label: _values(row).tolist() for row in comparison.theirs if row.name in ("mpnp", "np")}
    return plots.bars_figure(comparison.task, comparison.rates, ours, theirs) if ours else None


BARRED = ("ampnp", "mpnp-paper", "mpnp-c", "mpnp", "np-c", "np", "state-mode", "mode")
MODEL = "The paper's MPNP for shapes, drawn from the modules of the model that the code builds for tables."


def _papers_model() -> NeuralProcess:
    model = build(config("mpnp", get_task("shapenet/table"), "paper"))
    assert isinstance(model, NeuralProcess)
    return model


def _chart(folder: Path, name: str, section: str, caption: str, figure: Figure) -> Picture:
    path = folder / "figures" / f"{name}.png"
    plots.save(figure, path.with_suffix(".svg"))
    return Picture(name, section, caption, plots.save(figure, path))


def _values(row: Row) -> Array:
    return np.array([np.nan if cell is None else cell.value for cell in row.cells])
