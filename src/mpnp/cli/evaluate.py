"""``mpnp evaluate``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from jsonargparse import ArgumentParser, Namespace

from ..defaults import READY
from ..errors import UserError
from ..evaluation.rates import parse_rate
from .common import add_reading, add_scoring, at_least, check_names, notes_on, predictor_and_task, reading, set_up
from .names import MODELS, PREDICTORS, SHIPPED

if TYPE_CHECKING:
    from ..evaluation.tables import Scores, ScoreTable

INTERVAL = ("nodes", "low", "high")
HELP = "score a trained model or a predictor without parameters"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "given",
        type=str,
        nargs="+",
        metavar="[MODEL] [GRAPH]",
        help="a model folder or one of {predictors} (default: " + READY + "), and a task or your graphs: {files}",
    )
    parser.add_argument("--task", type=str, default=None, help="default: what the model was trained on")
    parser.add_argument(
        "--rates", type=str | float, nargs="+", default=None, help="context rates (default: the task's)"
    )
    parser.add_argument("--split", type=Literal["test", "val"], default="test", help="val: what choices are made by")
    add_reading(parser)
    add_scoring(parser)


def run(options: Namespace) -> None:
    at_least(options, draws=1, samples=1, threads=1, seed=0)
    for rate in options.rates or []:
        parse_rate(str(rate))
    name, wanted = _model_and_task(options.given, options.task)
    check_names(name, wanted)

    from ..evaluation.evaluate import evaluate
    from ..evaluation.provenance import provenance
    from ..tasks.own import OwnTask

    predictor, task = predictor_and_task(set_up(options), name, wanted, **reading(options))
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
    table = replace(table, made=provenance(Path(name)))
    print(table.to_json() if options.json else written(table))
    if isinstance(task, OwnTask) and not options.json:
        for note in notes_on(task.own, predictor):
            print(note)


def _model_and_task(given: list[str], task: str | None) -> tuple[str, str | None]:
    """The model asked and what about; graphs alone are asked of the model that needs no training."""
    if len(given) + (task is not None) > 2:
        raise UserError(f"{', '.join(given)} were given, [MODEL] GRAPH or MODEL --task TASK is expected.")
    if len(given) == 2:
        return given[0], given[1]
    path = Path(given[0])
    model = (
        given[0] in (*PREDICTORS, *SHIPPED, *MODELS) or (path / "config.json").exists() or (path / "run.json").exists()
    )
    if task is None and not model and path.exists() and (path.is_file() or any(path.iterdir())):
        return READY, given[0]
    return given[0], task


def _interval(row: Scores) -> str:
    """How far the accuracy can be trusted, and a warning where that is not far."""
    if not row.nodes or row.low is None or row.high is None:
        return ""
    told = f"95 % interval of the accuracy: {100 * row.low:.1f} to {100 * row.high:.1f} %, counted on {row.nodes:,} labelled nodes."
    if row.high - row.low > 0.1:
        told += (
            " It is wider than ten points: so few labels cannot tell models apart, or how good this one is; label more."
        )
    return told


def written(table: ScoreTable) -> str:
    """The table as text, shares in percent."""
    common = ("accuracy", "accuracy_paper", "nll", "brier", "ece")
    rows = {rate: row.to_dict() for rate, row in table.rates.items()}
    special = [key for key in next(iter(rows.values())) if key not in (*common, *INTERVAL) and not key.endswith("_std")]
    head = f"{'rate':>6}{'accuracy %':>16}{'as the paper':>14}{'NLL':>9}{'Brier':>9}{'ECE':>9}"
    lines = [table.title, head + "".join(f"{key:>12}" for key in special)]
    for rate, row in rows.items():
        accuracy = f"{100 * row['accuracy']:.2f} ± {100 * row['accuracy_std']:.2f}"
        line = f"{rate:>6}{accuracy:>16}{100 * row['accuracy_paper']:>14.2f}"
        line += "".join(f"{row[key]:>9.4f}" for key in ("nll", "brier", "ece"))
        lines.append(line + "".join(f"{row[key]:>12.4f}" for key in special))
    lines += [told for row in table.rates.values() if (told := _interval(row))]
    return "\n".join(lines)
