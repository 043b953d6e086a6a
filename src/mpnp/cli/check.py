"""``mpnp check``."""

from __future__ import annotations

import json

from jsonargparse import ArgumentParser, Namespace

HELP = "what was read of your graphs, and which model to use for them"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("graph", type=str, help="your graphs: {files}")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(options: Namespace) -> None:
    from ..own.advice import advice
    from ..tasks.own import load_graphs
    from ..tasks.summary import summary

    own = load_graphs(options.graph)
    found, advised = summary(own), advice(own)
    if options.json:
        print(json.dumps({**found.to_dict(), "advised": advised.model, "why": advised.why, "command": advised.command}))
        return
    print(found)
    print(f"\n{advised.why}\n  {advised.command}")
