"""``mpnp calibrate``."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from ..errors import UserError
from ..files import without_nan
from .common import add_reading, add_scoring, at_least, check_names, predictor_and_task, reading, set_up

if TYPE_CHECKING:
    from ..evaluation.reliability import CalibrationTable, Reliability

HELP = "make a model's confidence honest, and give sets of labels with a promised coverage"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("model", type=str, help="a model folder, which keeps the result, or one of {predictors}")
    parser.add_argument("--task", type=str, default=None, help="default: what the model was trained on")
    parser.add_argument("--coverage", type=float, default=0.9, help="how often a set shall hold the true label")
    parser.add_argument("--allow-empty", action="store_true", help="let sets be empty where the model is least sure")
    parser.add_argument("--out", type=str, default="calibration.png", help="reliability diagrams: .png, .svg or .pdf")
    add_reading(parser)
    add_scoring(parser)


def run(options: Namespace) -> None:
    at_least(options, draws=1, samples=1, threads=1, seed=0)
    check_names(options.model, options.task)

    from ..evaluation.calibrate import calibrate
    from ..evaluation.provenance import provenance
    from ..evaluation.reliability import check_calibration
    from ..models import PREDICTORS
    from ..models.calibration import FILE, check_coverage
    from ..plots import check_ending, reliability_figure, save

    check_coverage(options.coverage)
    out, folder = Path(options.out), Path(options.model)
    check_ending(out)
    predictor, task = predictor_and_task(set_up(options), options.model, options.task, **reading(options))
    stored = folder / FILE if options.model not in PREDICTORS and folder.is_dir() else None
    if stored and not os.access(folder, os.W_OK):  # said before the work, not after
        raise UserError(f"Cannot write {stored}: no permission; calibrate a copy of the folder.")
    how: dict[str, Any] = {key: options[key] for key in ("draws", "samples", "seed")}
    how["progress"] = sys.stderr.isatty()
    calibration = calibrate(predictor, task, options.coverage, allow_empty=options.allow_empty, **how)
    table = check_calibration(predictor, task, calibration, **how)
    save(reliability_figure(table.rates, f"{table.model} on {table.task}, T = {table.temperature:.2f}"), out)
    if stored:
        calibration.write(folder)
    if options.json:
        table = replace(table, made=provenance(folder))
        places = {"stored": str(stored) if stored else None, "picture": str(out)}
        print(json.dumps(without_nan(table.to_dict() | places)))
        return
    print(written(table))
    print(f"Reliability diagrams: {out}." + (f" Kept in {stored}." if stored else ""))


def written(table: CalibrationTable) -> str:
    """The table as text, and what there is to say of it."""
    of_few = table.data == "labelled nodes"
    asked = f"unlabelled test nodes, {table.draws} context draws, ± standard error over graphs"
    lines = [
        f"{table.model} on {table.task}: {'labelled nodes, each predicted from the others' if of_few else asked}; "
        f"temperature {table.temperature:.3f} and sets for {100 * table.coverage:g} % fitted on {'them in turns' if of_few else 'validation graphs'}",
        f"{'rate':>6}{'NLL':>20}{'Brier':>20}{'ECE':>20}{'coverage %':>24}{'labels per set':>18}",
    ]
    for rate, row in table.rates.items():
        before, after = row.before, row.after
        pairs = ((before.nll, after.nll), (before.brier, after.brier), (before.ece, after.ece))
        cells = "".join(f"{f'{old:.4f} → {new:.4f}':>20}" for old, new in pairs)
        margin = "" if isnan(after.coverage_error) else f" ± {100 * after.coverage_error:.1f}"
        covered = f"{100 * before.coverage:.1f} → {100 * after.coverage:.1f}{margin}"
        lines.append(f"{rate:>6}{cells}{covered:>24}{f'{before.set_size:.2f} → {after.set_size:.2f}':>18}")
    if any(row.after.set_size < 1 for row in table.rates.values()):
        lines.append(
            "Sets of less than one label on the mean: the predictor is right more often than the coverage asks for, and "
            "sets are empty where it is least sure; a larger --coverage fills them."
        )
    missed = [rate for rate, row in table.rates.items() if _missed(row.after, table.coverage)]
    if missed:
        lines.append(
            f"The coverage asked for is missed at {', '.join(missed)}: the test graphs differ from the validation graphs, and "
            "what the latter teach does not hold for them."
        )
    return "\n".join(lines)


def _missed(row: Reliability, coverage: float) -> bool:
    """By more than chance, and by more than ties between scores or a handful of nodes explain."""
    error = row.coverage_error
    return not isnan(error) and abs(row.coverage - coverage) > max(0.02, 3 * error)
