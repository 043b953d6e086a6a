"""``mpnp predict``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Literal

from jsonargparse import ArgumentParser, Namespace

from ..defaults import COVERAGE
from ..errors import UserError
from ..progress import stage
from .common import (
    add_computing,
    add_model_and_graph,
    add_reading,
    at_least,
    model_and_graph,
    notes_on,
    predictor_on,
    read_for,
    reading,
    set_up,
)

HELP = "predict the unlabelled nodes of your graphs: label, probabilities, uncertainty"


def arguments(parser: ArgumentParser) -> None:
    add_model_and_graph(parser)
    parser.add_argument(
        "--out", type=str, default="predictions.csv", metavar="FILE", help="ends in .csv, .parquet, .json or .graphml"
    )
    parser.add_argument(
        "--coverage", type=float, default=COVERAGE, metavar="SHARE", help="how often a set has to hold the true label"
    )
    add_reading(parser)
    many = parser.add_argument_group("a folder of many graphs, each a problem of its own")
    many.add_argument(
        "--engine",
        type=Literal["local", "ray"] | None,
        default=None,
        metavar="NAME",
        help="local: one after the other here; ray: over a Ray cluster; the tables go to the folder --out",
    )
    many.add_argument("--jobs", type=int, default=1, metavar="N", help="graphs at a time, on the cluster")
    many.add_argument("--address", type=str, default=None, help="of a Ray cluster (default: one is started here)")
    add_computing(parser, samples=True)


def run(options: Namespace) -> None:
    at_least(options, samples=1, threads=1, seed=0, jobs=1)
    name, graph = model_and_graph(options)

    from ..models.calibration import check_coverage
    from ..own.export import check_ending
    from ..own.predict import predict_own

    check_coverage(options.coverage)
    if options.engine:
        return _many(options, name, Path(graph))
    out = Path(options.out)
    check_ending(out)
    predictor, _ = predictor_on(set_up(options), name)
    own = read_for(graph, options, predictor)
    said = predict_own(predictor, own, None, options.coverage, samples=options.samples, seed=options.seed)
    with stage(f"writing {out}"):
        said.save(out)
    shown, nodes = sum(label is not None for label in said.given_names), len(said.probabilities)
    notes = notes_on(own, predictor)
    if options.json:
        told = {"nodes": nodes, "graphs": len(own.graphs), "labelled": shown, "out": str(out)}
        print(json.dumps({**told, "notes": notes, "sets": said.promise}))
        return
    print(f"{nodes} nodes of {len(own.graphs)} graph(s), {shown} of them labelled, predicted: see {out}.")
    for note in [*notes, *([said.promise] if said.promise else [])]:
        print(note)


def _many(options: Namespace, name: str, folder: Path) -> None:
    from ..own.many import Asked, predict_many, sources

    set_up(options)
    model = str(Path(name).absolute()) if Path(name).is_dir() else name
    out = Path("predictions" if options.out == "predictions.csv" else options.out).absolute()
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; with --engine the tables go to a folder.")
    asked = Asked(model, str(out), options.coverage, options.samples, options.seed, reading(options))
    answers = list(predict_many(sources(folder), asked, options.engine, options.jobs, options.address))
    failed = [answer for answer in answers if answer.error]
    nodes = sum(answer.nodes for answer in answers)
    if options.json:
        left_out = {answer.source: answer.error for answer in failed}
        print(json.dumps({"files": len(answers), "nodes": nodes, "out": str(out), "failed": left_out}))
    else:
        print(f"{nodes} nodes of {len(answers) - len(failed)} files predicted: see {out}.")
    for answer in failed:
        print(f"{answer.source} was left out: {answer.error}", file=sys.stderr)
    if failed:
        sys.exit(1)
