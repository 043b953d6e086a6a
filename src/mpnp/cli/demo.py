"""``mpnp demo``."""

from __future__ import annotations

from pathlib import Path

from jsonargparse import ArgumentParser, Namespace

from .common import at_least

HELP = "train on automata in two minutes, compare with the paper, draw what it is sure and unsure of"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--out", type=str, default="demo", help="folder for the model and the figure")
    parser.add_argument("--epochs", type=int, default=None, help="fewer for a quick look")


def run(options: Namespace) -> None:
    from ..reproduce.demo import run as run_demo
    from ..training.fit import quiet

    quiet()
    at_least(options, epochs=1)
    run_demo(Path(options.out), options.epochs)
