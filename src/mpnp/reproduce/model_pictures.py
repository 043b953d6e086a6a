"""Pictures that need trained models: what they make of an automaton, a board and shapes, and where they are unsure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from .. import plots
from ..active import Replay, replay
from ..active.curves import BASELINE
from ..evaluation.answers import episodes
from ..models import from_pretrained
from ..plots.clouds import CloudCanvas
from ..plots.panels import panels_of
from ..tasks import get_task
from ..tasks.shapenet import CATEGORIES
from .figures import Picture
from .plan import LARGE, Job

THREE = ("np", "mpnp", "ampnp")
FIVE = ("airplane", "chair", "lamp", "mug", "car")
SPHERE = (
    "A density automaton on a spherical Voronoi graph, near side, under a rule never seen in training: start, the tenth "
    "of the next generation that is shown, truth, what ampnp makes of it (mistakes ringed), and where it is unsure."
)
BOARD = "A Life-like board under a rule never seen in training: start, the tenth that is shown, truth, prediction and uncertainty."
CLOUD = (
    "A test shape with one labelled point in a hundred (ringed): true parts, and the uncertainty of each model; larger and "
    "lighter points are less sure."
)

UNCERTAINTY = (
    "Test shapes of the paper's categories with one labelled point in a hundred (ringed): true parts, and the uncertainty of NP, MPNP "
    "and ampnp; larger and lighter points are less sure."
)
ACTIVE = (
    "Active sampling the paper's way: from one labelled point per shape, the label asked for next is that of the point with the "
    "largest standard deviation, or of one at random (dashed). Twelve test shapes, one draw."
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


def _uncertainty(folder: Path) -> tuple[list[Path], Callable[[], Figure]] | None:
    """A row for each of the paper's five categories that has all three models."""
    found = {name: _models(folder, f"shapenet/{name}", THREE) for name in FIVE}
    whole = {name: models for name, models in found.items() if len(models) == len(THREE)}
    if not whole:
        return None

    def draw() -> Figure:
        rows = []
        for name, models in whole.items():
            episode = next(episodes(get_task(f"shapenet/{name}"), 0.01, seed=0, at_most=1)).only(0)
            said = {model: from_pretrained(place).predict(episode) for model, place in models.items()}
            true, *doubts = panels_of(episode, said, "uncertainty")
            rows.append(plots.Row(CloudCanvas(episode), [replace(true, title=f"{name}: true parts"), *doubts], episode))
        return plots.figure_of(rows)

    return [place for models in whole.values() for place in models.values()], draw


def _active(folder: Path) -> tuple[list[Path], Callable[[], Figure]] | None:
    task, models = _shapes(folder)
    if "ampnp" not in models:
        return None

    def draw() -> Figure:
        loaded = [from_pretrained(place) for place in models.values()]
        return asking_figure(
            [replay(model, get_task(task), ("deviation",), 15, graphs=12, draws=1) for model in loaded]
        )

    return list(models.values()), draw


def asking_figure(played: Sequence[Replay]) -> Figure:
    """The paper's active sampling, a colour for each model: the most uncertain point asked for, against one at random."""
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axis = figure.subplots()
    colours = plots.model_colours(one.model for one in played)
    for one in played:
        for strategy in one.curves:
            chance = strategy == BASELINE
            look: dict[str, Any] = {"linestyle": "--", "linewidth": 1} if chance else {"linewidth": 1.8}
            label = f"{one.model}, {'at random' if chance else strategy}"
            axis.plot(
                one.labels.numpy(), 100 * one.mean(strategy).numpy(), color=colours[one.model], label=label, **look
            )
    axis.set(xlabel="labels per shape", ylabel="mIoU of all points, given ones as given, %", title=played[0].task)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(fontsize=8, frameon=False)
    return figure


def _shapes(folder: Path) -> tuple[str, dict[str, Path]]:
    """The paper's tables where all three models are there; else a category with an ampnp and the most others that loads fast."""
    names = sorted((f"shapenet/{category}" for category in CATEGORIES), key=lambda name: name in LARGE)
    found = {name: _models(folder, name, THREE) for name in names}
    task = max(names, key=lambda name: ("ampnp" in found[name], len(found[name]), name == "shapenet/table"))
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
    earlier: Path | None,
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
    if not path.exists() and earlier is not None:
        path = earlier / f"results-{name}.png"
    return Picture(name, section, caption, path) if path.exists() else None


def with_models(folder: Path, earlier: Path | None = None) -> list[Picture]:
    """Pictures that need trained models; one that was drawn is kept when its models are gone."""
    found = [
        _kept(folder, earlier, "sphere", "cellular-automata", SPHERE, _sphere),
        _kept(folder, earlier, "board", "cellular-automata", BOARD, _board),
        _kept(folder, earlier, "cloud", "shapenet", CLOUD, _cloud),
        _kept(folder, earlier, "uncertainty", "shapenet", UNCERTAINTY, _uncertainty),
        _kept(folder, earlier, "active", "shapenet", ACTIVE, _active),
    ]
    return [picture for picture in found if picture is not None]
