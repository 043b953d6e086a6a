"""``mpnp check``."""

from __future__ import annotations

import json
from dataclasses import replace
from shlex import quote

from jsonargparse import ArgumentParser, Namespace

from ..defaults import READY
from .common import add_reading, reading
from .names import check_graph

HELP = "what was read of your graphs, and which model to use for them"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("graph", type=str, help="your graphs: {files}")
    add_reading(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def _said(options: Namespace) -> str:
    """What was said of the reading, to be said again."""
    named = f" --label-column {quote(options.label_column)}" if options.label_column else ""
    ignored = " --ignore " + " ".join(map(quote, options.ignore)) if options.ignore else ""
    return named + " --directed" * options.directed + ignored


def run(options: Namespace) -> None:
    check_graph(options.graph)

    from ..models import find_predictor
    from ..own.advice import advice, division, telling, unused
    from ..tasks.own import load_graphs
    from ..tasks.summary import summary

    own = load_graphs(options.graph, **reading(options))
    found, advised, divided = summary(own), advice(own, options.graph), division(own)
    ignored = unused(find_predictor(READY)[0], own) if advised.model == READY else []
    hints = telling(own)
    advised = replace(advised, command=advised.command + _said(options))
    if options.json:
        advice_given = {"advised": advised.model, "why": advised.why, "command": advised.command}
        print(json.dumps({**found.to_dict(), "split": divided, **advice_given, "unused": ignored, "hints": hints}))
        return
    print(found)
    print("\n".join(["", divided, advised.why, *hints, *ignored, f"  {advised.command}"]))
