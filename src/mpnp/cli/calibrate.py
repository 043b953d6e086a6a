"""``mpnp calibrate``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from jsonargparse import ArgumentParser, Namespace

from ..errors import UserError
from ..files import without_nan
from .common import add_scoring, at_least, predictor_and_task, set_threads

HELP = "make a model's confidence honest, and give sets of labels with a promised coverage"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "model", type=str, help="a model folder, which keeps the result, or: label-propagation, mode, …"
    )
    parser.add_argument("--task", type=str, default=None, help="default: what the model was trained on")
    parser.add_argument("--coverage", type=float, default=0.9, help="how often a set shall hold the true label")
    parser.add_argument("--out", type=str, default="calibration.png", help="reliability diagrams: .png, .svg or .pdf")
    add_scoring(parser)


def run(options: Namespace) -> None:
    from ..evaluation.calibrate import answers_by_rate, calibrate, compare
    from ..evaluation.provenance import provenance
    from ..models import PREDICTORS
    from ..models.calibration import FILE, check_coverage, uncalibrated
    from ..plots import check_ending, reliability_figure, save

    at_least(options, draws=1, samples=1, threads=1, seed=0)
    check_coverage(options.coverage)
    out, folder = Path(options.out), Path(options.model)
    check_ending(out)
    set_threads(options)
    predictor, task = predictor_and_task(options.model, options.task)
    stored = folder / FILE if options.model not in PREDICTORS and folder.is_dir() else None
    if stored and not os.access(folder, os.W_OK):  # said before the work, not after
        raise UserError(f"Cannot write {stored}: no permission; calibrate a copy of the folder.")
    how: dict[str, Any] = {key: options[key] for key in ("draws", "samples", "seed")}
    how["progress"] = sys.stderr.isatty()
    calibration = calibrate(predictor, task, options.coverage, **how)
    found = answers_by_rate(uncalibrated(predictor), task, "test", **how)
    rates = {str(rate): compare(calibration, answers) for rate, answers in found}
    save(reliability_figure(rates, f"{predictor.name} on {task.name}, T = {calibration.temperature:.2f}"), out)
    if stored:
        calibration.write(folder)
    if options.json:
        table = {
            "task": task.name,
            "data": task.source,
            "model": predictor.name,
            "coverage": options.coverage,
            "temperature": calibration.temperature,
            "stored": str(stored) if stored else None,
            "picture": str(out),
            "draws": options.draws,
            "seed": options.seed,
            "rates": rates,
            "made": provenance(folder),
        }
        print(json.dumps(without_nan(table)))
        return
    print(
        f"{predictor.name} on {task.name}: unlabelled test nodes, {options.draws} context draws, ± standard error over graphs; "
        f"temperature {calibration.temperature:.3f} and sets for {100 * options.coverage:g} % fitted on validation graphs"
    )
    print(f"{'rate':>6}{'NLL':>20}{'Brier':>20}{'ECE':>20}{'coverage %':>24}{'labels per set':>18}")
    for rate, row in rates.items():
        before, after = row["before"], row["after"]
        cells = [f"{before[key]:.4f} → {after[key]:.4f}" for key in ("nll", "brier", "ece")]
        margin = "" if after["coverage_error"] != after["coverage_error"] else f" ± {100 * after['coverage_error']:.1f}"
        covered = f"{100 * before['coverage']:.1f} → {100 * after['coverage']:.1f}{margin}"
        size = f"{before['set_size']:.2f} → {after['set_size']:.2f}"
        print(f"{rate:>6}{cells[0]:>20}{cells[1]:>20}{cells[2]:>20}{covered:>24}{size:>18}")
    if any(row["after"]["set_size"] < 1 for row in rates.values()):
        print(
            "Sets of less than one label on the mean: the predictor is right more often than the coverage asks for, and "
            "sets are empty where it is least sure; a larger --coverage fills them."
        )
    missed = [rate for rate, row in rates.items() if _missed(row["after"], options.coverage)]
    if missed:
        print(
            f"The coverage asked for is missed at {', '.join(missed)}: the test graphs differ from the validation graphs, and "
            "what the latter teach does not hold for them."
        )
    print(f"Reliability diagrams: {out}." + (f" Kept in {stored}." if stored else ""))


def _missed(row: dict[str, Any], coverage: float) -> bool:
    """By more than chance, and by more than ties between scores or a handful of nodes explain."""
    error = row["coverage_error"]
    return bool(error == error and abs(row["coverage"] - coverage) > max(0.02, 3 * error))
