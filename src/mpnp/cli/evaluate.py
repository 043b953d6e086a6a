"""``mpnp evaluate``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Literal

from jsonargparse import ArgumentParser, Namespace

from ..files import without_nan
from .common import add_scoring, at_least, predictor_and_task, set_threads

HELP = "score a trained model or a predictor without parameters"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "predictor",
        type=str,
        help="a model folder, or: mode, state-mode, label-propagation, rule-table, rule-posterior",
    )
    parser.add_argument("--task", type=str, default=None, help="default: what the model was trained on")
    parser.add_argument(
        "--rates", type=str | float, nargs="+", default=None, help="context rates (default: the task's)"
    )
    parser.add_argument("--split", type=Literal["test", "val"], default="test", help="val: what choices are made by")
    add_scoring(parser)


def run(options: Namespace) -> None:
    from ..evaluation.evaluate import evaluate, parse_rate
    from ..evaluation.provenance import provenance

    at_least(options, draws=1, samples=1, threads=1, seed=0)
    for rate in options.rates or []:
        parse_rate(str(rate))
    set_threads(options)
    predictor, task = predictor_and_task(options.predictor, options.task)
    table = evaluate(
        predictor,
        task,
        options.rates,
        draws=options.draws,
        samples=options.samples,
        seed=options.seed,
        split=options.split,
        progress=sys.stderr.isatty(),
    )
    table["made"] = provenance(Path(options.predictor))
    if options.json:
        print(json.dumps(without_nan(table)))
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
