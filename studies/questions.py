"""What asking is worth on the graphs ``node/*``, with ``universal``: measures, draws and writes results/asking.

    MPNP_DATA=… python -m studies.questions [--graphs cora …] [--strategies auto random …] [--draws 3] [--split val]

From one label per class to twenty labels times classes in all, as many labels per step as there are classes. Every curve is a file of its own, and
what is measured is not measured again. One thread; seconds are of CPU. On ``val``, where ways to ask are chosen, only areas are kept.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import Any

import torch
from matplotlib.figure import Figure

from mpnp import plots
from mpnp.active import STRATEGIES, Gain, ask
from mpnp.active.forecast import forecast
from mpnp.defaults import FIGURES
from mpnp.episode import Episode
from mpnp.evaluation.provenance import provenance
from mpnp.files import replacing, write_json
from mpnp.graphs import UNLABELLED, GraphSet
from mpnp.models import find_predictor
from mpnp.models.universal import Universal
from mpnp.tasks.base import Split
from mpnp.tasks.nodes import GRAPHS, NodeTask

from . import made_up_questions

OUT = Path(__file__).parents[1] / "results" / "asking"
VALIDATION = "validation.json"
SMALL = ("texas", "wisconsin", "air_usa", "acm", "cora", "citeseer", "cora_ml")
PER_CLASS = 20  # labels in the end, times classes
ROOM = 3  # times as many nodes to choose from
PUBLISHED = {"cora": 84.2, "citeseer": 74.2}  # the best published of asking for 20 labels times classes


@dataclass(frozen=True)
class Curve:
    """``accuracy`` on the test mask and ``hidden`` on all nodes without a label, after each step of ``labels``; ``seconds`` of CPU per
    question; ``now`` and ``next``: forecasts of ``hidden`` at this step and at the next, as (mean, low, high)."""

    graph: str
    strategy: str
    draw: int
    labels: list[int]
    accuracy: list[float]
    hidden: list[float]
    seconds: float
    now: list[tuple[float, float, float]]
    next: list[tuple[float, float, float]]
    made: dict[str, Any]

    @property
    def area(self) -> float:
        return fmean((a + b) / 2 for a, b in pairwise(self.accuracy))


def path(graph: str, strategy: str, draw: int) -> Path:
    return OUT / graph / f"{strategy}-{draw}.json"


def stored(graph: str, strategy: str, draw: int) -> Curve | None:
    place = path(graph, strategy, draw)
    return Curve(**json.loads(place.read_text(encoding="utf-8"))) if place.exists() else None


def measure(graph: str, strategies: Sequence[str], draws: int) -> None:
    """Every strategy from the same start, draw d on the published split d; what is there is left."""
    wanted = [(draw, name) for draw in range(draws) for name in strategies if not path(graph, name, draw).exists()]
    for curve in _curves(graph, wanted, "test"):
        with replacing(path(graph, curve.strategy, curve.draw)) as temporary:
            write_json(temporary, asdict(curve))


def validate(graph: str, strategies: Sequence[str], draws: int) -> None:
    """The same without the test mask, whose labels are neither asked nor scored: areas alone, in validation.json."""
    kept = _validated()
    wanted = [(d, name) for d in range(draws) for name in strategies if str(d) not in kept.get(graph, {}).get(name, {})]
    for curve in _curves(graph, wanted, "val"):
        kept.setdefault(graph, {}).setdefault(curve.strategy, {})[str(curve.draw)] = round(curve.area, 4)
        with replacing(OUT / VALIDATION) as temporary:
            write_json(temporary, kept)


def _validated() -> dict[str, dict[str, dict[str, float]]]:
    """Areas by graph, strategy and draw."""
    place = OUT / VALIDATION
    return json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}


def _curves(graph: str, wanted: Sequence[tuple[int, str]], split: Split) -> Iterator[Curve]:
    if not wanted:
        return
    model = find_predictor("universal")[0]
    assert isinstance(model, Universal)
    task = NodeTask(graph)
    data = GraphSet.from_data_list([task.public.graph]).select(torch.zeros(1, dtype=torch.long))
    session = model.open(data)
    for draw, name in wanted:
        curve = _play(session, data, task, name, draw, split)
        print(f"{graph} {name} {draw}: area {100 * curve.area:.2f}, end {100 * curve.accuracy[-1]:.1f}", flush=True)
        yield curve


def scored_and_asked(task: NodeTask, draw: int, split: Split) -> tuple[torch.Tensor, torch.Tensor]:
    """Masks [N] of the nodes that are scored and of those that may be asked. Of ``val`` half is scored, drawn at random, if few
    nodes are left outside the masks: a split that shows twenty labels per class leaves nothing to choose from."""
    test = task.public.mask("test", draw)
    if split == "test":
        return test, ~test
    scored = task.public.mask(split, draw)
    if int((~scored & ~test).sum()) < ROOM * PER_CLASS * task.num_classes:
        scored = scored & (torch.rand(test.numel(), generator=torch.Generator().manual_seed(5000 + draw)) < 0.5)
    return scored, ~test & ~scored


def _play(session: Any, data: Any, task: NodeTask, name: str, draw: int, split: Split = "test") -> Curve:
    truth, classes = data.y, task.num_classes
    scored, pool = scored_and_asked(task, draw, split)
    start_at = draw if split == "test" else 1000 + draw
    noise = torch.rand(truth.numel(), generator=torch.Generator().manual_seed(start_at), dtype=torch.double)
    order = noise.argsort()
    order = order[pool[order]]
    y = torch.full_like(truth, UNLABELLED)
    for label in range(classes):
        first = order[truth[order] == label][:1]
        y[first] = label
    blank = Episode(data, truth, torch.zeros_like(pool), torch.ones_like(pool), classes)
    labels, accuracy, hidden, spent, now, ahead = [], [], [], [], [], []
    while True:
        prediction = session.predict(y, classes)
        right = prediction.label == truth
        shown = y != UNLABELLED
        labels.append(int(shown.sum()))
        accuracy.append(round(float(right[scored].float().mean()), 5))
        hidden.append(round(float(right[~shown].float().mean()), 5))
        count = min(classes, PER_CLASS * classes - labels[-1], int((pool & ~shown).sum()))
        if count < 1:
            break
        start = process_time()
        episode = replace(blank, y=y, context=shown)
        chosen = ask(name, episode, prediction, pool & ~shown, count, noise=noise, predictor=session.model)
        spent.append((process_time() - start) / count)
        if name == "auto":
            said = forecast(prediction, y, (0, count), gain=float(chosen.scores[0]))
            now.append((said[0].accuracy, said[0].low, said[0].high))
            ahead.append((said[1].accuracy, said[1].low, said[1].high))
        y = y.clone()
        y[chosen.nodes] = truth[chosen.nodes]
    made = provenance() | {"figures": FIGURES}
    return Curve(task.key, name, draw, labels, accuracy, hidden, round(fmean(spent), 4), now, ahead, made)


def page() -> None:
    """README.md and curves.png from all curves there are."""
    found: dict[str, dict[str, list[Curve]]] = {}
    for graph in GRAPHS:
        by_strategy = {name: list(_kept(graph, name)) for name in STRATEGIES}
        if by_strategy["random"]:
            found[graph] = {name: curves for name, curves in by_strategy.items() if curves}
    if not found:
        return
    names = [name for name in STRATEGIES if name != "random" and any(name in row for row in found.values())]
    lines = [TEXT.format(reach=", ".join(f"`{graph}`" for graph in found)), "", *_table(found, names), ""]
    lines += [*_ends(found), "", *_forecasts(found), "", *_made_up(), "", *_validation(), ""]
    missing = [graph for graph in GRAPHS if graph not in found]
    if missing:
        lines.append(f"Not run: {', '.join(missing)}.")
    picture = plots.save(_figure(found, names), OUT / "curves.png")
    plots.shrink(picture, picture)
    (OUT / "README.md").write_text("\n".join([*lines, "", "![Curves](curves.png)", ""]), encoding="utf-8")


TEXT = """# What asking is worth, with `universal`

Written by `python -m studies.questions`, which also draws the picture, from the JSON files here. Graphs: {reach}.
From one label per class, the same for all strategies, to twenty labels times classes in all; so many labels per step as there are classes, chosen at once. Any
node outside the test mask may be asked, and the test mask is scored. Area: mean of the learning curve, %. Gain over `random` in points,
paired over draws (draw d on published split d; Cora and CiteSeer have one split, so draws differ in where they start), with the 95 % interval over draws;
**bold** where it is above 0, *italic* where below; without an interval there is one draw, a dash was not run. Mean gain: over the graphs on which a strategy ran, with the 95 % interval over graphs.
*`auto` over it*: the same of the difference, on the graphs and draws that both have. The picture draws every curve as far from that of `random` as it is on the draws that both have."""


def _kept(graph: str, name: str) -> Iterator[Curve]:
    draw = 0
    while (curve := stored(graph, name, draw)) is not None:
        yield curve
        draw += 1


def _gain(curves: list[Curve], chance: list[Curve]) -> Gain:
    """Paired over the draws that both have."""
    return Gain.of(torch.tensor([a.area - b.area for a, b in zip(curves, chance, strict=False)]))


def _told(gain: Gain, digits: int = 1) -> str:
    """In points, with the interval where there is one."""
    mark = "**" if gain.low > 0 else "*" if gain.high < 0 else ""
    mean, low, high = (f"{100 * value:+.{digits}f}" for value in (gain.mean, gain.low, gain.high))
    return f"{mark}{mean}{mark}" if gain.error != gain.error else f"{mark}{mean}{mark} ({low}, {high})"


def _table(found: dict[str, dict[str, list[Curve]]], names: list[str]) -> list[str]:
    head = ["graph", "draws", "`random`", *(f"`{name}`" for name in names)]
    rows = []
    for graph, row in found.items():
        chance = row["random"]
        cells = [_told(_gain(row[name], chance)) if name in row else "–" for name in names]
        rows.append([graph, str(len(chance)), f"{100 * fmean(c.area for c in chance):.1f}", *cells])
    every = {name: [(row[name], row) for row in found.values() if name in row] for name in names}
    means = {name: torch.tensor([_gain(curves, row["random"]).mean for curves, row in every[name]]) for name in names}
    rows.append(["mean gain", "", "", *(_told(Gain.of(means[name]), 2) for name in names)])
    if "auto" in names:
        ahead = {
            name: [_gain(row["auto"], curves).mean for curves, row in every[name] if "auto" in row] for name in names
        }
        cells = ["" if name == "auto" else _told(Gain.of(torch.tensor(ahead[name])), 2) for name in names]
        rows.append(["`auto` over it", "", "", *cells])
    rows.append(["above random", "", "", *(f"{int((means[n] > 0).sum())} of {len(every[n])}" for n in names)])
    seconds = [fmean(c.seconds for row in found.values() for c in row.get(n, [])) for n in names]
    rows.append(["CPU seconds per question", "", "", *(f"{value:.3f}" for value in seconds)])
    return ["| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows]]


def _ends(found: dict[str, dict[str, list[Curve]]]) -> list[str]:
    lines = [
        "Accuracy with twenty labels times classes, %:",
        "",
        "| graph | `random` | `auto` | best published |",
        "|---|---|---|---|",
    ]
    for graph, row in found.items():
        if "auto" in row:
            ends = [f"{100 * fmean(c.accuracy[-1] for c in row[name]):.1f}" for name in ("random", "auto")]
            lines.append(f"| {graph} | {' | '.join(ends)} | {PUBLISHED.get(graph, '–')} |")
    return lines


def _forecasts(found: dict[str, dict[str, list[Curve]]]) -> list[str]:
    """How often the true accuracy on nodes without a label lay within its 90 % interval."""
    lines = ["How often the stop forecast held (true accuracy of nodes without a label inside the 90 % interval, % of steps):", "",
             "| graph | now | after the next step | mean width, points |", "|---|---|---|---|"]  # fmt: skip
    total: list[tuple[bool, bool]] = []
    for graph, row in found.items():
        inside, width = [], []
        for curve in row.get("auto", []):
            for step, (now, ahead) in enumerate(zip(curve.now, curve.next, strict=True)):
                inside.append((now[1] <= curve.hidden[step] <= now[2], ahead[1] <= curve.hidden[step + 1] <= ahead[2]))
                width.append(now[2] - now[1])
        if inside:
            total += inside
            shares = [f"{100 * fmean(float(one[i]) for one in inside):.0f}" for i in (0, 1)]
            lines.append(f"| {graph} | {' | '.join(shares)} | {100 * fmean(width):.0f} |")
    if total:
        shares = [f"{100 * fmean(float(one[i]) for one in total):.0f}" for i in (0, 1)]
        lines.append(f"| all | {' | '.join(shares)} | |")
    return lines


def _made_up() -> list[str]:
    """Gains on made-up graphs, where there are many to pair over."""
    place = OUT / "made-up.json"
    if not place.exists():
        return []
    kept = json.loads(place.read_text(encoding="utf-8"))
    graphs = sum(bool(row) for row in kept.values())
    found = made_up_questions.gains(kept)
    return [
        f"On {graphs} made-up graphs that it was not trained on (`python -m studies.made_up_questions`), gain over `random` in points, paired over graphs, 95 %:",
        "",
        "| " + " | ".join(f"`{name}`" for name in found) + " |",
        "|" + "---|" * len(found),
        "| "
        + " | ".join(f"{100 * g.mean:+.1f} ({100 * g.low:+.1f}, {100 * g.high:+.1f})" for g in found.values())
        + " |",
    ]


def _validation() -> list[str]:
    """Gains on validation masks, where ways to ask are compared: of the strategies that ran on all graphs there."""
    kept = _validated()
    names = [n for n in STRATEGIES if n != "random" and kept and all(n in row for row in kept.values())]
    if not names:
        return []
    lines = [
        "The same on validation masks, with other starts (`--split val`; no test label is asked or scored, half of the mask is scored where little else is left to ask). "
        "By this and by made-up graphs ways to ask are chosen. Gain over `random`, then the number of draws:",
        "",
        "| graph | " + " | ".join(f"`{name}`" for name in names) + " |",
        "|" + "---|" * (1 + len(names)),
    ]
    means: dict[str, list[float]] = {name: [] for name in names}
    for graph, row in kept.items():
        cells = []
        for name in names:
            gain = Gain.of(torch.tensor([area - row["random"][draw] for draw, area in row[name].items()]))
            means[name].append(gain.mean)
            cells.append(f"{_told(gain)}, {len(row[name])}")
        lines.append(f"| {graph} | {' | '.join(cells)} |")
    last = (_told(Gain.of(torch.tensor(means[name])), 2) for name in names)
    return [*lines, f"| mean of {len(kept)} graphs | {' | '.join(last)} |"]


def _height(curves: list[Curve], chance: list[Curve]) -> tuple[list[int], torch.Tensor]:
    """The mean curve, as far above that of chance as on the draws that both have, so that all begin at the same place."""
    steps = min(len(curve.accuracy) for curve in [*curves, *chance])  # a split may lack a class outside its test mask
    own, other = (torch.tensor([curve.accuracy[:steps] for curve in some]) for some in (curves, chance))
    draws = min(len(curves), len(chance))
    return curves[0].labels[:steps], other.mean(0) + own[:draws].mean(0) - other[:draws].mean(0)


def _figure(found: dict[str, dict[str, list[Curve]]], names: list[str]) -> Figure:
    columns = min(4, len(found))
    rows = -(-len(found) // columns)
    figure = Figure(figsize=(3.6 * columns, 3.0 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).flatten()
    colours = dict(zip(names, plots.CLASS_COLOURS * 3, strict=False)) | {"auto": "#000000", "random": "#888888"}
    for axis, (graph, row) in zip(axes, found.items(), strict=False):
        for name, curves in row.items():
            labels, height = _height(curves, row["random"])
            style, wide = "--" if name == "random" else "-", 2.0 if name == "auto" else 1.0
            axis.plot(labels, 100 * height, style, color=colours[name], linewidth=wide, label=name)
        axis.set_title(graph, fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[len(found) :]:
        axis.set_axis_off()
    handles = {line.get_label(): line for axis in axes for line in axis.lines}
    axes[-1].legend(handles.values(), handles, fontsize=9, frameon=False, loc="center", ncols=2)
    figure.supxlabel("labels", fontsize=10)
    figure.supylabel("accuracy on the test mask, %", fontsize=10)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m studies.questions", description="Measures what asking is worth.")
    parser.add_argument("--graphs", nargs="+", default=list(SMALL), choices=list(GRAPHS))
    parser.add_argument("--strategies", nargs="+", default=list(STRATEGIES), choices=list(STRATEGIES))
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--split", default="test", choices=["test", "val"], help="the mask that is scored")
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)
    for graph in asked.graphs:
        (measure if asked.split == "test" else validate)(graph, asked.strategies, asked.draws)
    page()


if __name__ == "__main__":
    main()
