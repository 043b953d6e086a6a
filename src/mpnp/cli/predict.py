"""``mpnp predict``."""

from __future__ import annotations

from pathlib import Path

from jsonargparse import ArgumentParser, Namespace

from ..defaults import SAMPLES
from .common import at_least

HELP = "predict the unlabelled nodes of your graphs: label, probabilities, uncertainty"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("model", type=str, help="the folder of a trained model")
    parser.add_argument(
        "graph", type=str, help=".pt, .graphml, a folder with nodes.csv and edges.csv, a TUDataset folder"
    )
    parser.add_argument("--out", type=str, default="predictions.csv")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="latent samples")
    parser.add_argument("--seed", type=int, default=0)


def run(options: Namespace) -> None:
    from ..own.predict import predict_file

    at_least(options, samples=1, seed=0)
    summary = predict_file(
        Path(options.model), Path(options.graph), Path(options.out), samples=options.samples, seed=options.seed
    )
    print(summary)
