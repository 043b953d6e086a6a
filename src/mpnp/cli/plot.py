"""``mpnp plot``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from jsonargparse import ArgumentParser, Namespace

from ..defaults import SAMPLES
from ..errors import UserError
from .common import at_least

if TYPE_CHECKING:
    from ..prediction import Predictor

HELP = "draw what models make of a test graph, side by side: labels, predictions, uncertainty"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("models", type=str, nargs="+", help="model folders, or any of {predictors}, to be compared")
    parser.add_argument("--task", type=str, default=None, help="default: what the models were trained on")
    parser.add_argument(
        "--graph",
        type=int,
        nargs="+",
        default=None,
        help="test graphs by number, a row each (default: 0; gallery: 0 to 4)",
    )
    parser.add_argument(
        "--rate", type=str | float, default=None, help="share of labels that are shown (default: 0.1, of shapes 0.01)"
    )
    parser.add_argument(
        "--kind",
        type=str,
        default="auto",
        help="{kinds}; auto: everything; uncertainty: beside the truth, as in the paper; gallery: so for several graphs",
    )
    parser.add_argument(
        "--out", type=str, default="plot.png", help=".png, .svg or .pdf; .html: a page to turn and to point at"
    )
    parser.add_argument("--samples", type=int, default=SAMPLES, help="latent samples")
    parser.add_argument("--seed", type=int, default=0, help="of the labels that are shown")


def run(options: Namespace) -> None:
    from ..evaluation.evaluate import parse_rate
    from ..plots import check_ending, plot
    from ..plots.comparing import ENDINGS
    from ..plots.panels import check_kind
    from ..tasks import get_task

    at_least(options, samples=1, seed=0)
    out = Path(options.out)
    check_ending(out, ENDINGS)
    check_kind(options.kind)
    rate = None if options.rate is None else parse_rate(str(options.rate))
    models, trained_on = _models(options.models)
    task = get_task(options.task or _common_task(trained_on))
    how = {"rate": rate, "kind": options.kind, "samples": options.samples, "seed": options.seed}
    drawing = plot(models, task, options.graph, **how)
    drawing.save(out)
    print(f"{', '.join(models)} on {drawing.which} of {task.name}: {out}.")


def _models(given: list[str]) -> tuple[dict[str, Predictor], dict[str, str]]:
    """Predictors by the name they get in the picture, and by the same names the tasks of those trained on one."""
    from ..models import find_predictor

    if len(set(given)) < len(given):
        raise UserError(f"The models {' '.join(given)} were given; give each of them once.")
    found = {place: find_predictor(place) for place in given}
    plain = [predictor.name for predictor, _ in found.values()]
    models, tasks = {}, {}
    for place, (predictor, task) in found.items():
        name = predictor.name if plain.count(predictor.name) == 1 else place
        models[name] = predictor
        if task is not None:
            tasks[name] = task
    return models, tasks


def _common_task(trained_on: Mapping[str, str]) -> str:
    tasks = list(dict.fromkeys(trained_on.values()))
    if len(tasks) == 1:
        return tasks[0]
    if tasks:
        raise UserError(f"The models were trained on different tasks, {', '.join(tasks)}; say on which to draw them with --task.")  # fmt: skip
    raise UserError("None of the models is bound to a task; say which with --task, as --task ca/small-world.")
