"""The pictures of the report: charts of the figures, and what trained models make of an automaton, a board and a shape."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from .. import plots
from ..active import replay
from ..evaluation.answers import episodes
from ..models import from_pretrained
from ..tasks import get_task
from ..tasks.shapenet import CATEGORIES
from .compare import LIMITS, Comparison, Row, Section
from .plan import LARGE, Job

Array = NDArray[np.float64]
# The same system has the same colour in every chart; the paper's are grey, and tell each other apart by their dashes.
COLOURS = {"ampnp": 0, "mpnp": 1, "mpnp-c": 1, "gnn": 2, "label-propagation": 3}
DASHES = {"mpnp": "-", "np": "--", "gnn": ":", "label-propagation": "-."}


class Picture(NamedTuple):
    """A picture in ``FOLDER/figures``: ``path`` is a PNG, a chart has an SVG beside it."""

    name: str
    section: str
    caption: str
    path: Path


def pictures(folder: Path, sections: Sequence[Section]) -> list[Picture]:
    """Draw what can be drawn, and find what was drawn before."""
    return [*charts(folder, sections), *with_models(folder)]


def charts(folder: Path, sections: Sequence[Section]) -> list[Picture]:
    """From the figures alone, so always drawn anew."""
    found = []
    for section in sections:
        measured = [comparison for comparison in section.comparisons if comparison.ours and comparison.theirs]
        if section.name.startswith("shapenet") and measured:
            caption = (
                "mIoU over the share of labelled points. Bands: 95 % of runs (1.96 spreads). Grey: the paper's figures."
            )
            found.append(_chart(folder, section.name, section.name, caption, miou_figure(measured)))
        for comparison in measured if section.name == "cellular-automata" else ():
            bars = automaton_figure(comparison)
            if bars is not None:
                caption = f"{comparison.task}: accuracy at each share of labelled cells. Grey: the paper's figures."
                found.append(_chart(folder, comparison.task.replace("/", "-"), section.name, caption, bars))
    return found


def with_models(folder: Path) -> list[Picture]:
    """Pictures that need trained models; one that was drawn is kept when its models are gone."""
    found = [
        _kept(folder, "sphere", "cellular-automata", SPHERE, _sphere),
        _kept(folder, "board", "cellular-automata", BOARD, _board),
        _kept(folder, "cloud", "shapenet", CLOUD, _cloud),
        _kept(folder, "active", "shapenet", ACTIVE, _active),
    ]
    return [picture for picture in found if picture is not None]


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
            if row.name in COLOURS:
                colour, value = plots.CLASS_COLOURS[COLOURS[row.name]], _values(row)
                band = 1.96 * np.array([0.0 if c is None or c.spread is None else c.spread for c in row.cells])
                axis.fill_between(rates, value - band, np.minimum(value + band, 100), color=colour, alpha=0.2, lw=0)
                style = {"color": colour, "marker": "os^D"[COLOURS[row.name]], "markersize": 3.5, "linewidth": 1.6}
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
    """Bars of one family, and the paper's MPNP and NP; more would be unreadable. Rows without all rates are left out."""
    limit = LIMITS[0] if comparison.task == "ca/life-like" else LIMITS[1]
    shown = [row for row in comparison.ours if row.name in ("ampnp", "mpnp-c", "np-c", "state-mode", limit)]
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


SPHERE = (
    "A density automaton on a spherical Voronoi graph, near side, under a rule never seen in training: start, the tenth "
    "of the next generation that is shown, truth, what ampnp makes of it (mistakes ringed), and where it is unsure."
)
BOARD = "A Life-like board under a rule never seen in training: start, the tenth that is shown, truth, prediction and uncertainty."
CLOUD = (
    "A test shape with one labelled point in a hundred (ringed): true parts, and the uncertainty of each model; larger and "
    "lighter points are less sure."
)

ACTIVE = (
    "Active sampling with ampnp: from one labelled point per shape, the label asked for next is drawn at random, or is that of the "
    "point with the largest standard deviation (the paper's way) or entropy, or of an unsure one away from those asked. "
    "Right: the gain over random, paired over shapes."
)


def _sphere(folder: Path) -> tuple[list[Path], Callable[[], Figure]] | None:
    models = _models(folder, "ca/spherical-voronoi", ["ampnp"])
    if not models:
        return None

    def draw() -> Figure:
        some = next(episodes(get_task("ca/spherical-voronoi"), 0.1, seed=0, at_most=20))
        # Under many rules nearly all cells live or die; of the first twenty, the one with most to see.
        shares = [float(some.only(graph).y.float().mean()) for graph in range(some.num_graphs)]
        episode = some.only(min(range(len(shares)), key=lambda graph: abs(shares[graph] - 0.5)))
        return plots.sphere_figure(episode, {"ampnp": from_pretrained(models["ampnp"]).predict(episode)})

    return list(models.values()), draw


def _board(folder: Path) -> tuple[list[Path], Callable[[], Figure]] | None:
    models = _models(folder, "ca/life-like", ["ampnp", "mpnp-c"])
    if "ampnp" not in models:
        return None

    def draw() -> Figure:
        episode = next(episodes(get_task("ca/life-like"), 0.1, seed=0, at_most=1)).only(0)
        return plots.board_figure(episode, {name: from_pretrained(m).predict(episode) for name, m in models.items()})

    return list(models.values()), draw


def _cloud(folder: Path) -> tuple[list[Path], Callable[[], Figure]] | None:
    task, models = _shapes(folder)
    if "ampnp" not in models:
        return None

    def draw() -> Figure:
        episode = next(episodes(get_task(task), 0.01, seed=0, at_most=1)).only(0)
        predictions = {name: from_pretrained(model).predict(episode) for name, model in models.items()}
        return plots.cloud_figure(episode, predictions, f"a test shape of {task}: true parts")

    return list(models.values()), draw


def _active(folder: Path) -> tuple[list[Path], Callable[[], Figure]] | None:
    task, models = _shapes(folder)
    if "ampnp" not in models:
        return None

    def draw() -> Figure:
        model = from_pretrained(models["ampnp"])
        return plots.curves_figure(
            replay(model, get_task(task), ("deviation", "entropy", "spread"), 15, graphs=12, draws=1)
        )

    return [models["ampnp"]], draw


def _shapes(folder: Path) -> tuple[str, dict[str, Path]]:
    """A category with an ampnp and the most other models, and these; where several have as many, one that loads fast."""
    names = sorted((f"shapenet/{category}" for category in CATEGORIES), key=lambda name: name in LARGE)
    found = {name: _models(folder, name, ["np", "mpnp", "ampnp"]) for name in names}
    task = max(names, key=lambda name: ("ampnp" in found[name], len(found[name])))
    return task, found[task]


def _models(folder: Path, task: str, rows: Sequence[str]) -> dict[str, Path]:
    """The folders of the models of ``rows`` whose training is finished."""
    places = {row: folder / "runs" / Job(task, row).name for row in rows}
    return {row: place for row, place in places.items() if _finished(place / "metrics.json")}


def _finished(note: Path) -> bool:
    try:
        return bool(json.loads(note.read_text(encoding="utf-8"))["finished"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _kept(
    folder: Path,
    name: str,
    section: str,
    caption: str,
    find: Callable[[Path], tuple[list[Path], Callable[[], Figure]] | None],
) -> Picture | None:
    """Draw the picture unless it is there and no older than its models."""
    path = folder / "figures" / f"{name}.png"
    found = find(folder)
    if found is not None:
        models, draw = found
        changed = max((model / "metrics.json").stat().st_mtime for model in models)
        if not path.exists() or path.stat().st_mtime < changed:
            plots.save(draw(), path)
    return Picture(name, section, caption, path) if path.exists() else None


def _chart(folder: Path, name: str, section: str, caption: str, figure: Figure) -> Picture:
    path = folder / "figures" / f"{name}.png"
    plots.save(figure, path.with_suffix(".svg"))
    return Picture(name, section, caption, plots.save(figure, path))


def _values(row: Row) -> Array:
    return np.array([np.nan if cell is None else cell.value for cell in row.cells])
