"""``mpnp evaluate``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from jsonargparse import ArgumentParser, Namespace

from .common import add_scoring, at_least, predictor_and_task, set_threads

if TYPE_CHECKING:
    from ..evaluation.tables import ScoreTable

HELP = "score a trained model or a predictor without parameters"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "predictor",
        type=str,
        help="a model folder, or one of {predictors}",
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
    table = replace(table, made=provenance(Path(options.predictor)))
    print(table.to_json() if options.json else written(table))


def written(table: ScoreTable) -> str:
    """The table as text, shares in percent."""
    common = ("accuracy", "accuracy_paper", "nll", "brier", "ece")
    rows = {rate: row.to_dict() for rate, row in table.rates.items()}
    special = [key for key in next(iter(rows.values())) if key not in common and not key.endswith("_std")]
    head = f"{'rate':>6}{'accuracy %':>16}{'as the paper':>14}{'NLL':>9}{'Brier':>9}{'ECE':>9}"
    lines = [table.title, head + "".join(f"{key:>12}" for key in special)]
    for rate, row in rows.items():
        accuracy = f"{100 * row['accuracy']:.2f} ± {100 * row['accuracy_std']:.2f}"
        line = f"{rate:>6}{accuracy:>16}{100 * row['accuracy_paper']:>14.2f}"
        line += "".join(f"{row[key]:>9.4f}" for key in ("nll", "brier", "ece"))
        lines.append(line + "".join(f"{row[key]:>12.4f}" for key in special))
    return "\n".join(lines)
