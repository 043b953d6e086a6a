"""``mpnp train``."""

from __future__ import annotations

import json
import sys
from argparse import SUPPRESS
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from ..defaults import MODEL
from ..errors import UserError
from .common import add_computing, add_reading, at_least, notes_on, reading, set_up
from .config_files import check_yaml
from .names import check_task, check_trained

if TYPE_CHECKING:
    from ..tasks import Task
    from ..training.fit import Fitted

HELP = "train a model on a task or on your own graphs"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", type=str, help="a task's name ('mpnp tasks') or the path of your graphs")
    parser.add_argument("--model", type=str, default=MODEL, help="{models}")
    parser.add_argument("--out", type=str, default=None, help="folder for the model (default: runs/TASK-MODEL)")
    parser.add_argument("--recipe", type=str, default="default", help="default, or paper for the paper's settings")
    parser.add_argument("--epochs", type=int, default=None, help="instead of the recipe's number")
    parser.add_argument("--devices", type=int, default=1, help="processes on a machine, which share every batch")
    parser.add_argument("--machines", type=int, default=1, metavar="N", help="machines (see docs/architecture.md)")
    parser.add_argument("--balance", action="store_true", help="all classes count the same, however rare")
    add_reading(parser)
    parser.add_argument("--resume", action="store_true", help="continue an interrupted run in --out")
    parser.add_argument(
        "--set",
        type=str,
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="override a model or recipe field, as latent=false",
    )
    parser.add_argument("--nodes", type=int, default=None, help=SUPPRESS)  # what --machines was called
    add_computing(parser)


def check(options: Namespace) -> dict[str, Any]:
    """Refuse what can be refused before torch is loaded; what --set sets."""
    at_least(options, epochs=1, threads=1, seed=0, devices=1, machines=1)
    if options.nodes is not None:
        raise UserError(
            f"--nodes {options.nodes} was given; the number of machines is --machines, nodes are those of a graph."
        )
    check_trained(options.model)
    check_task(options.task)
    return dict(_assignment(text) for text in options.set)


def run(options: Namespace) -> None:
    assignments = check(options)
    device = set_up(options)

    from ..tasks import get_task
    from ..training.fit import fit
    from ..training.parallel import is_first

    task = get_task(options.task, **reading(options))
    out = (
        options.out
        or f"runs/{Path(options.task).stem if task.name.startswith('own:') else task.name.replace('/', '-')}-{options.model}"
    )
    fitted = fit(
        task,
        options.model,
        options.recipe,
        out=out,
        epochs=options.epochs,
        seed=options.seed,
        threads=options.threads,
        resume=options.resume,
        options=assignments,
        devices=options.devices,
        machines=options.machines,
        device=str(device),
        balance=options.balance,
    )
    if not is_first():  # the first of several processes tells
        return
    metrics = fitted.metrics
    if not metrics["finished"]:
        print(
            f"Interrupted after {metrics['epochs']} epochs; continue with the same command and --resume.",
            file=sys.stderr,
        )
        print(f"The best model so far is in {fitted.folder}.", file=sys.stderr)
        sys.exit(130)
    if options.json:
        told = {key: metrics[key] for key in ("epochs", "minutes", "val_nll")}
        print(json.dumps({"model": fitted.model.name, "task": task.name, **told, "folder": str(fitted.folder)}))
        return
    print(f"{fitted.model.name} on {task.name}: {metrics['epochs']} epochs in {metrics['minutes']} min, "
          f"validation NLL {metrics['val_nll']:.4f}. The model is in {fitted.folder}.")  # fmt: skip
    _tell(fitted, task)


def _tell(fitted: Fitted, task: Task) -> None:
    """What a user's own graphs make worth knowing: how sure the score is, and what of the edges is not used."""
    from ..tasks.own import OwnTask

    found = fitted.metrics.get("cross_validation")
    if found:
        print(
            f"Cross-validated accuracy {100 * found['accuracy']:.1f} %, 95 % interval {100 * found['low']:.1f} to "
            f"{100 * found['high']:.1f} %, over {found['nodes']} labelled nodes in {found['folds']} folds."
        )
        if found["high"] - found["low"] > 0.1:
            print(
                "The interval is wider than ten points; 'universal' needs no training and may serve so few labels better."
            )
    for note in notes_on(task.own, fitted.model) if isinstance(task, OwnTask) else ():
        print(note)


def _assignment(text: str) -> tuple[str, Any]:
    import yaml

    name, equals, value = text.partition("=")
    if not equals:
        raise UserError(f"--set takes NAME=VALUE, as latent=false, but '{text}' was given.")
    check_yaml(value, f"In --set {name}")
    try:
        return name, yaml.safe_load(value)
    except (yaml.YAMLError, ValueError) as error:
        raise UserError(
            f"--set {text} cannot be read: '{value}' is not a value in YAML, as false, 3 or [1, 2]."
        ) from error
