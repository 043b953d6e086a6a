"""``mpnp plot``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from jsonargparse import ArgumentParser, Namespace

from ..defaults import READY
from ..errors import UserError
from ..evaluation.rates import parse_rate
from ..progress import stage
from .common import add_computing, add_reading, at_least, notes_on, predictor_on, read_for, set_up
from .names import PREDICTORS, SHIPPED, check_kind, check_model, check_task

if TYPE_CHECKING:
    import torch

    from ..prediction import Predictor

HELP = "draw what models make of your graph, or of a task's test graph: labels, predictions, uncertainty"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "models",
        type=str,
        nargs="+",
        help="model folders, or any of {predictors}, to be compared; then your graph, any kind of file (alone: by universal)",
    )
    parser.add_argument("--task", type=str, default=None, help="default: what the models were trained on")
    parser.add_argument(
        "--graph",
        type=int,
        nargs="+",
        default=None,
        help="graphs by number, a row each (default: 0; gallery: 0 to 4)",
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
        "--out", type=str, default="plot.png", help=".png, .svg or .pdf; .html: a page to zoom and to point at"
    )
    add_reading(parser)
    add_computing(parser, samples=True)


def run(options: Namespace) -> None:
    at_least(options, samples=1, threads=1, seed=0)
    check_kind(options.kind)
    rate = None if options.rate is None else parse_rate(str(options.rate))
    names, graph = _apart(options.models)
    for name in names:
        check_model(name)
    if graph is not None and (options.task is not None or rate is not None or options.kind != "auto"):
        raise UserError(
            f"{graph} is a graph of your own, of which all labels are drawn; --task, --rate and --kind are for tasks."
        )
    if options.task is not None:
        check_task(options.task)

    from ..plots import check_ending, plot
    from ..plots.comparing import ENDINGS
    from ..tasks import get_task

    out = Path(options.out)
    check_ending(out, ENDINGS)
    models, trained_on = _models(names, set_up(options))
    if graph is not None:
        _draw_own(models, graph, out, options)
        return
    task = get_task(options.task or _common_task(trained_on))
    how = {"rate": rate, "kind": options.kind, "samples": options.samples, "seed": options.seed}
    with stage(f"drawing {task.name}"):
        drawing = plot(models, task, options.graph, **how)
        drawing.save(out)
    if options.json:
        print(json.dumps({"models": list(models), "task": task.name, "drawn": drawing.which, "picture": str(out)}))
        return
    print(f"{', '.join(models)} on {drawing.which} of {task.name}: {out}.")


def _apart(given: list[str]) -> tuple[list[str], str | None]:
    """Models, and your own graph where the last of what was given is one."""
    *models, last = given
    path = Path(last)
    if last in (*PREDICTORS, *SHIPPED) or not path.exists() or (path / "config.json").exists():
        return given, None
    return models or [READY], last


def _draw_own(models: dict[str, Predictor], graph: str, out: Path, options: Namespace) -> None:
    from ..plots.own import draw

    own = read_for(graph, options, *models.values())
    drawing = draw(models, own, options.graph, samples=options.samples, seed=options.seed)
    drawing.save(out)
    notes = notes_on(own, *models.values())
    if options.json:
        told = {"models": list(models), "graph": graph, "drawn": drawing.which, "picture": str(out)}
        print(json.dumps({**told, "notes": notes}))
        return
    print(f"{', '.join(models)} on {graph if len(own.graphs) == 1 else f'{drawing.which} of {graph}'}: {out}.")
    for note in notes:
        print(note)


def _models(given: list[str], device: torch.device) -> tuple[dict[str, Predictor], dict[str, str]]:
    """Predictors by the name they get in the picture, and by the same names the tasks of those trained on one."""
    if len(set(given)) < len(given):
        raise UserError(f"The models {' '.join(given)} were given; give each of them once.")
    found = {place: predictor_on(device, place) for place in given}
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
