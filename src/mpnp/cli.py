"""The command line: ``mpnp demo | tasks | data | train | evaluate | predict``."""

from __future__ import annotations

import json
import logging
import math
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn

from jsonargparse import ArgumentParser, Namespace

from .errors import UserError

Command = Callable[[Namespace], None]


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the ``mpnp`` console script; exits with status 2 on a user's error."""
    warnings.filterwarnings("ignore")
    try:
        options = _parser().parse_args(_config_first(sys.argv[1:] if arguments is None else arguments))
        COMMANDS[options.subcommand](options[options.subcommand])
    except UserError as error:
        print(f"mpnp: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except UnicodeDecodeError:  # other files are read with care
        print("mpnp: The file of --config is not UTF-8 text; save it as such.", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("\nmpnp: stopped.", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output went away, as in '| head'
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        print(f"mpnp: {error.filename or 'a file'}: {error.strerror or error}.", file=sys.stderr)
        sys.exit(2)


class Parser(ArgumentParser):
    """Tells what is wrong with the arguments as all other errors are told."""

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        raise UserError(f"{message.rstrip('. ')}; see 'mpnp --help'.") from ex


def _config_first(arguments: Sequence[str]) -> list[str]:
    """Options given by hand win over those of a file, wherever on the line the file stands."""
    command, rest, config = list(arguments[:1]), list(arguments[1:]), []
    while (at := next((i for i, text in enumerate(rest) if text.partition("=")[0] == "--config"), None)) is not None:
        length = 1 if "=" in rest[at] else 2
        config += rest[at : at + length]
        del rest[at : at + length]
    return [*command, *config, *rest]


def _parser() -> ArgumentParser:
    parser = Parser(prog="mpnp", description="Neural processes on graphs.")
    commands = parser.add_subcommands(required=True)

    def command(name: str, text: str) -> ArgumentParser:
        sub = Parser(description=text)
        sub.add_argument("--config", action="config", help="read options from a YAML file")
        commands.add_subcommand(name, sub, help=text)
        return sub

    demo = command(
        "demo", "train on automata in two minutes, compare with the paper, draw what it is sure and unsure of"
    )
    demo.add_argument("--out", type=str, default="demo", help="folder for the model and the figure")
    demo.add_argument("--epochs", type=int, default=None, help="fewer for a quick look")

    tasks = command("tasks", "every task: graphs, nodes, features, classes, data present or how to get it")
    tasks.add_argument("--json", action="store_true", help="one JSON object on standard output")

    train = command("train", "train a model on a task or on your own graphs")
    train.add_argument("task", type=str, help="a task's name ('mpnp tasks') or the path of your graphs")
    train.add_argument(
        "--model", type=str, default="ampnp", help="ampnp, anp, mpnp, mpnp-c, r-mpnp, np, np-c, gnn, r-gcn, unimp"
    )
    train.add_argument("--out", type=str, default=None, help="folder for the model (default: runs/TASK-MODEL)")
    train.add_argument("--recipe", type=str, default="default", help="default, or paper for the paper's settings")
    train.add_argument("--epochs", type=int, default=None, help="instead of the recipe's number")
    train.add_argument("--seed", type=int, default=0)
    train.add_argument("--threads", type=int, default=None, help="processor threads (default: all)")
    train.add_argument("--resume", action="store_true", help="continue an interrupted run in --out")
    train.add_argument(
        "--set",
        type=str,
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="override a model or recipe field, as latent=false",
    )

    evaluate = command("evaluate", "score a trained model or a predictor without parameters")
    evaluate.add_argument(
        "predictor",
        type=str,
        help="a model folder, or: mode, state-mode, label-propagation, rule-table, rule-posterior",
    )
    evaluate.add_argument("--task", type=str, default=None, help="default: what the model was trained on")
    evaluate.add_argument(
        "--rates", type=str | float, nargs="+", default=None, help="context rates (default: the task's)"
    )
    evaluate.add_argument("--split", type=Literal["test", "val"], default="test", help="val: what choices are made by")
    evaluate.add_argument("--draws", type=int, default=3, help="context draws per rate")
    evaluate.add_argument("--samples", type=int, default=16, help="latent samples")
    evaluate.add_argument("--seed", type=int, default=0)
    evaluate.add_argument("--threads", type=int, default=None)
    evaluate.add_argument("--json", action="store_true", help="one JSON object on standard output")

    predict = command("predict", "predict the unlabelled nodes of your graphs: label, probabilities, uncertainty")
    predict.add_argument("model", type=str, help="the folder of a trained model")
    predict.add_argument(
        "graph", type=str, help=".pt, .graphml, a folder with nodes.csv and edges.csv, a TUDataset folder"
    )
    predict.add_argument("--out", type=str, default="predictions.csv")
    predict.add_argument("--samples", type=int, default=16, help="latent samples")
    predict.add_argument("--seed", type=int, default=0)

    data = command("data", "prepare published data that has no stable download from a local copy")
    data.add_argument("action", type=Literal["prepare"], help="prepare")
    data.add_argument("name", type=Literal["shapenet", "ppisp"], help="shapenet or ppisp")
    data.add_argument("--from", type=str, default=None, dest="source", help="folder of the upstream copy")
    data.add_argument("--out", type=str, default=None, help="data folder (default: $MPNP_DATA, else the cache)")
    return parser


def _demo(options: Namespace) -> None:
    from .demo import run

    _quiet()
    _at_least(options, epochs=1)
    run(Path(options.out), options.epochs)


def _tasks(options: Namespace) -> None:
    from .tasks import describe

    rows = describe()
    if options.json:
        print(json.dumps({"tasks": rows}))
        return
    print(f"{'task':<22}{'graphs':>8}{'nodes':>9}{'features':>10}{'classes':>9}  data")
    for row in rows:
        sizes = [f"{row[key]:,}" if row[key] is not None else "?" for key in ("graphs", "nodes", "features", "classes")]
        print(f"{row['task']:<22}{sizes[0]:>8}{sizes[1]:>9}{sizes[2]:>10}{sizes[3]:>9}  {row['data']}")


def _train(options: Namespace) -> None:
    from .tasks import get_task
    from .training import fit

    _quiet()
    _at_least(options, epochs=1, threads=1, seed=0)
    task = get_task(options.task)
    out = (
        options.out
        or f"runs/{Path(options.task).stem if task.name.startswith('own:') else task.name.replace('/', '-')}-{options.model}"
    )
    fitted = fit(
        task,
        options.model,
        out,
        recipe=options.recipe,
        epochs=options.epochs,
        seed=options.seed,
        threads=options.threads,
        resume=options.resume,
        options=dict(_assignment(text) for text in options.set),
    )
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


def _evaluate(options: Namespace) -> None:
    import torch

    from .evaluation import evaluate, parse_rate
    from .models import find_predictor
    from .provenance import provenance
    from .tasks import get_task

    _at_least(options, draws=1, samples=1, threads=1, seed=0)
    for rate in options.rates or []:
        parse_rate(str(rate))
    if options.threads:
        torch.set_num_threads(options.threads)
    predictor, trained_on = find_predictor(options.predictor)
    name = options.task or trained_on
    if name is None:
        raise UserError(
            f"'{options.predictor}' is not bound to a task; say which with --task, as --task ca/small-world."
        )
    table = evaluate(
        predictor,
        get_task(name),
        options.rates,
        draws=options.draws,
        samples=options.samples,
        seed=options.seed,
        split=options.split,
        progress=sys.stderr.isatty(),
    )
    table["made"] = provenance(Path(options.predictor))
    if options.json:
        print(json.dumps(_without_nan(table)))
        return
    common = ("accuracy", "accuracy_paper", "nll", "brier", "ece")
    first = next(iter(table["rates"].values()))
    special = [key for key in first if key not in common and not key.endswith("_std")]
    data = f" ({table['data']})" if table["data"] == "stand-in" else ""
    print(
        f"{table['model']} on {table['task']}{data}: unlabelled nodes, mean ± spread of {options.draws} context draws"
    )
    print(f"{'rate':>6}{'accuracy %':>16}{'as the paper':>14}{'NLL':>9}{'Brier':>9}{'ECE':>9}", end="")
    print("".join(f"{key:>12}" for key in special))
    for rate, row in table["rates"].items():
        accuracy = f"{100 * row['accuracy']:.2f} ± {100 * row['accuracy_std']:.2f}"
        paper = f"{100 * row['accuracy_paper']:.2f}"
        print(f"{rate:>6}{accuracy:>16}{paper:>14}{row['nll']:>9.4f}{row['brier']:>9.4f}{row['ece']:>9.4f}", end="")
        print("".join(f"{row[key]:>12.4f}" for key in special))


def _predict(options: Namespace) -> None:
    from .predicting import predict_file

    _at_least(options, samples=1, seed=0)
    summary = predict_file(
        Path(options.model), Path(options.graph), Path(options.out), samples=options.samples, seed=options.seed
    )
    print(summary)


def _data(options: Namespace) -> None:
    from .tasks.prepare import PREPARERS, instructions
    from .tasks.sources import data_root

    if options.source is None:
        print(f"mpnp: --from is missing.\n{instructions(options.name)}", file=sys.stderr)
        sys.exit(2)
    written = PREPARERS[options.name](Path(options.source), Path(options.out) if options.out else data_root())
    files = written if isinstance(written, list) else [written]
    print(f"{len(files)} file(s) written to {files[0].parent}.")


COMMANDS: dict[str, Command] = {
    "data": _data,
    "demo": _demo,
    "tasks": _tasks,
    "train": _train,
    "evaluate": _evaluate,
    "predict": _predict,
}


def _quiet() -> None:
    """Keep Lightning's notes on hardware and hints out of the way; it sets its own level when imported, so afterwards."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)


def _at_least(options: Namespace, **lowest: int) -> None:
    for name, low in lowest.items():
        value = options[name]
        if value is not None and value < low:
            raise UserError(f"--{name} {value} was given, at least {low} is expected.")
        if name == "seed" and value >= 2**32:
            raise UserError(f"--seed {value} was given, less than 2^32 is expected.")


def _without_nan(value: Any) -> Any:
    """JSON has no NaN, the score of no node at all: null in its place."""
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value


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
