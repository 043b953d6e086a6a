"""``mpnp demo``."""

from __future__ import annotations

from pathlib import Path

from jsonargparse import ArgumentParser, Namespace

from .common import add_computing, at_least, set_up

HELP = "train on automata in two minutes, compare with the paper, draw what it is sure and unsure of"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--out", type=str, default="demo", help="folder for the model and the figure")
    parser.add_argument("--epochs", type=int, default=None, metavar="N", help="fewer for a quick look")
    add_computing(parser, seed=False, json=False)


def run(options: Namespace) -> None:
    at_least(options, epochs=1, threads=1)
    device = set_up(options)

    from ..reproduce.demo import run as run_demo

    run_demo(Path(options.out), options.epochs, device=str(device))
