"""``mpnp active``."""

from __future__ import annotations

import sys
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from jsonargparse import ArgumentParser, Namespace

from ..defaults import DRAWS, STRATEGY
from .common import add_computing, add_reading, at_least, check_names, predictor_and_task, reading, set_up
from .names import check_strategy

if TYPE_CHECKING:
    from ..active import Replay

HELP = "what asking for well-chosen labels is worth: the labelling loop on test graphs"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", type=str, help="a task, or the path of your graphs")
    parser.add_argument("model", type=str, help="a model folder, or one of {predictors}")
    parser.add_argument("--steps", type=int, default=10, help="how often labels are asked for")
    parser.add_argument("--per-step", type=int, default=1, help="labels per graph and step")
    parser.add_argument(
        "--start", type=int, default=1, help="labels per graph to begin with, the same for all strategies"
    )
    parser.add_argument(
        "--strategies",
        type=str,
        nargs="+",
        default=[STRATEGY, "typical", "entropy"],
        help="{strategies}; random always runs",
    )
    parser.add_argument("--graphs", type=int, default=None, help="so many of the test graphs (default: all)")
    parser.add_argument("--draws", type=int, default=DRAWS, help="repeats with other starts")
    parser.add_argument("--split", type=Literal["test", "val"], default="test", help="val: what choices are made by")
    parser.add_argument("--out", type=str, default="active", help="folder for curves.png, asked.png and active.json")
    add_reading(parser)
    add_computing(parser, samples=True)


def run(options: Namespace) -> None:
    at_least(options, steps=1, per_step=1, start=0, graphs=1, draws=1, samples=1, threads=1, seed=0)
    for name in options.strategies:
        check_strategy(name)
    check_names(options.model, options.task)

    from .. import plots
    from ..active import replay
    from ..active.replay import first_episode
    from ..evaluation.provenance import provenance

    predictor, task = predictor_and_task(set_up(options), options.model, options.task, **reading(options))
    played = replay(
        predictor,
        task,
        options.strategies,
        options.steps,
        per_step=options.per_step,
        start=options.start,
        graphs=options.graphs,
        draws=options.draws,
        samples=options.samples,
        seed=options.seed,
        split=options.split,
        progress=sys.stderr.isatty(),
    )
    table = replace(played.table(), made=provenance(Path(options.model)))
    out = Path(options.out)
    table.write(out / "active.json")
    plots.save(plots.curves_figure(played), out / "curves.png")
    plots.save(
        plots.asked_figure(
            first_episode(played, task, options.split),
            {name: nodes[0] for name, nodes in played.asked.items()},
            started=played.started[0],
        ),
        out / "asked.png",
    )
    if options.json:
        print(table.to_json())
        return
    print(written(played, plots.active.NAMES[played.metric]))
    print(f"Curves: {out / 'curves.png'}; nodes asked for on one graph: {out / 'asked.png'}.")


def written(played: Replay, metric: str) -> str:
    """What each strategy is worth as text, in percent."""
    lines = [
        f"{played.model} on {played.task}: {metric} on all nodes, given labels counted as given; "
        f"{played.graphs.numel()} graphs, {int(played.labels[0])} to {int(played.labels[-1])} labels each, {played.draws} draws",
        f"{'strategy':<12}{'start %':>9}{'end %':>8}{'area %':>9}{'gain over random (95 %)':>28}{'labels to match':>17}",
    ]
    for name in played.curves:
        curve, gain = 100 * played.mean(name), played.gain(name)
        if name == "random":
            over = ""
        elif isnan(gain.error):  # one graph has no spread
            over = f"{100 * gain.mean:+.2f}"
        else:
            over = f"{100 * gain.mean:+.2f} ({100 * gain.low:+.2f} to {100 * gain.high:+.2f})"
        match = played.labels_to_match(name)
        area = 100 * float(played.area(name).mean())
        lines.append(
            f"{name:<12}{float(curve[0]):>9.2f}{float(curve[-1]):>8.2f}{area:>9.2f}{over:>28}{match or '-':>17}"
        )
    return "\n".join(lines)
