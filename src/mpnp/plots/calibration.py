"""Pictures of calibration: reliability diagrams, and how honest several predictors are over context rates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from ..evaluation.reliability import Calibrated, Reliability
from ..evaluation.tables import Scores
from .style import CLASS_COLOURS, model_colours

# Blue and orange of style.py, which also differ in grey print; a marker each, for those who see neither.
LOOKS: dict[str, dict[str, Any]] = {
    "before": {"color": CLASS_COLOURS[1], "marker": "s", "linestyle": "--"},
    "after": {"color": CLASS_COLOURS[0], "marker": "o", "linestyle": "-"},
}
MARKERS = "osD^vPX*"
FEWEST = 0.001  # the share of all nodes below which a bin's accuracy is chance


def reliability_figure(rates: Mapping[str, Calibrated], title: str = "") -> Figure:
    """Accuracy over confidence, a column per context rate, before and after; below it where the nodes lie.

    ``rates``: those of a :class:`CalibrationTable`. On the diagonal confidence is kept; below it the predictor promises too
    much.
    """
    figure = Figure(figsize=(max(6.0, 3.1 * len(rates)), 4.6), layout="constrained")
    axes = figure.subplots(2, len(rates), sharex=True, sharey="row", squeeze=False, height_ratios=(3, 1))
    lowest = min(b.confidence for both in rates.values() for row in (both.before, both.after) for b in row.bins)
    for (rate, both), upper, lower in zip(rates.items(), axes[0], axes[1], strict=True):
        upper.plot([0, 1], [0, 1], color="#888888", linewidth=1, linestyle=":", zorder=1)
        for name, row in (("before", both.before), ("after", both.after)):
            look = LOOKS[name]
            nodes = sum(b.count for b in row.bins)
            bins = [b for b in row.bins if b.count >= FEWEST * nodes]
            confidence = [b.confidence for b in bins]
            upper.plot(
                confidence, [b.accuracy for b in bins],
                label=f"{name}: ECE {row.ece:.3f}, NLL {row.nll:.3f}", markersize=4.5, linewidth=1.4, **look,
            )  # fmt: skip
            lower.plot(confidence, [100 * b.count / nodes for b in bins], markersize=3, linewidth=1.2, **look)
        upper.set_title(f"{100 * float(rate):g} % labelled", fontsize=11)
        upper.legend(fontsize=7.5, loc="upper left", frameon=False)
        upper.set_ylim(0, 1.03)
        lower.set_yscale("log")
        lower.set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
        lower.minorticks_off()
        lower.set_ylim(0.06, 150)
        lower.set_xlim(max(0.0, lowest - 0.05), 1.01)
        lower.set_xlabel("confidence")
        for axis in (upper, lower):
            axis.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylabel("accuracy")
    axes[1, 0].set_ylabel("nodes, %")
    if title:
        figure.suptitle(title, fontsize=12)
    return figure


def honesty_figure(tables: Mapping[str, Mapping[str, Scores | Reliability]], title: str = "") -> Figure:
    """Calibration error and likelihood over context rates, a line per predictor; the lower, the better.

    ``tables``: per predictor the rows by rate, such as ``evaluate(…).rates``.
    """
    figure = Figure(figsize=(9.6, 3.8), layout="constrained")
    names = {"ece": "expected calibration error", "nll": "negative log-likelihood, nats"}
    rates, colours = sorted({rate for rows in tables.values() for rate in rows}, key=float), model_colours(tables)
    for axis, (key, label) in zip(figure.subplots(1, 2), names.items(), strict=True):
        for i, (name, rows) in enumerate(tables.items()):
            there = [rate for rate in rates if rate in rows]
            axis.errorbar(
                [rates.index(rate) for rate in there], [getattr(rows[rate], key) for rate in there],
                yerr=[_spread(rows[rate], key) for rate in there], label=name, capsize=2, markersize=5.5,
                linewidth=1.4, color=colours[name], marker=MARKERS[i % 8],
            )  # fmt: skip
        axis.set_xticks(range(len(rates)), [f"{100 * float(rate):g} %" for rate in rates])
        axis.set_xlabel("labelled nodes")
        axis.set_ylabel(label)
        axis.set_yscale("log")  # a predictor that is far off must not hide how the others differ
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter("{x:g}")
        axis.minorticks_off()
        axis.spines[["top", "right"]].set_visible(False)
    figure.axes[0].legend(fontsize=8.5, frameon=False)
    if title:
        figure.suptitle(title, fontsize=12)
    return figure


def _spread(row: Scores | Reliability, key: str) -> float:
    spread = getattr(row, "spread", None)
    return 0.0 if spread is None else float(getattr(spread, key))
