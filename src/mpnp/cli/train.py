"""``mpnp train``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from jsonargparse import ArgumentParser, Namespace

from ..defaults import MODEL
from ..errors import UserError
from .common import at_least

HELP = "train a model on a task or on your own graphs"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", type=str, help="a task's name ('mpnp tasks') or the path of your graphs")
    parser.add_argument("--model", type=str, default=MODEL, help="{models}")
    parser.add_argument("--out", type=str, default=None, help="folder for the model (default: runs/TASK-MODEL)")
    parser.add_argument("--recipe", type=str, default="default", help="default, or paper for the paper's settings")
    parser.add_argument("--epochs", type=int, default=None, help="instead of the recipe's number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=None, help="processor threads of each process (default: all)")
    parser.add_argument("--devices", type=int, default=1, help="processes on a machine, which share every batch")
    parser.add_argument("--nodes", type=int, default=1, help="machines (see docs/architecture.md)")
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


def run(options: Namespace) -> None:
    from lightning.pytorch.utilities import rank_zero_only

    from ..tasks import get_task
    from ..training.fit import fit, quiet

    quiet()
    at_least(options, epochs=1, threads=1, seed=0, devices=1, nodes=1)
    task = get_task(options.task)
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
        options=dict(_assignment(text) for text in options.set),
        devices=options.devices,
        nodes=options.nodes,
    )
    if getattr(rank_zero_only, "rank", 0) > 0:  # the first of several processes tells
        return
    metrics = fitted.metrics
    if not metrics["finished"]:
        print(
            f"Interrupted after {metrics['epochs']} epochs; continue with the same command and --resume.",
            file=sys.stderr,
        )
        print(f"The best model so far is in {fitted.folder}.", file=sys.stderr)
        sys.exit(130)
    print(f"{fitted.model.name} on {task.name}: {metrics['epochs']} epochs in {metrics['minutes']} min, "
          f"validation NLL {metrics['val_nll']:.4f}. The model is in {fitted.folder}.")  # fmt: skip


def _assignment(text: str) -> tuple[str, Any]:
    import yaml

    name, equals, value = text.partition("=")
    if not equals:
        raise UserError(f"--set takes NAME=VALUE, as latent=false, but '{text}' was given.")
    try:
        return name, yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise UserError(
            f"--set {text} cannot be read: '{value}' is not a value in YAML, as false, 3 or [1, 2]."
        ) from error
