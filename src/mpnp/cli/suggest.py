"""``mpnp suggest``."""

from __future__ import annotations

import json
from dataclasses import asdict

from jsonargparse import ArgumentParser, Namespace

from ..defaults import STRATEGY
from .common import (
    add_computing,
    add_model_and_graph,
    add_reading,
    at_least,
    model_and_graph,
    notes_on,
    predictor_on,
    read_for,
    set_up,
)
from .names import check_strategy

HELP = "which nodes of your graphs to label next, and why"


def arguments(parser: ArgumentParser) -> None:
    add_model_and_graph(parser)
    parser.add_argument("--count", type=int, default=5, help="nodes per graph")
    parser.add_argument("--strategy", type=str, default=STRATEGY, help="{strategies}")
    add_reading(parser)
    add_computing(parser, samples=True)


def run(options: Namespace) -> None:
    at_least(options, count=1, samples=1, threads=1, seed=0)
    check_strategy(options.strategy)
    name, graph = model_and_graph(options)

    from ..active import find_strategy, suggest

    says = find_strategy(options.strategy).says
    predictor, _ = predictor_on(set_up(options), name)
    own = read_for(graph, options, predictor)
    found = suggest(
        predictor,
        own,
        count=options.count,
        strategy=options.strategy,
        samples=options.samples,
        seed=options.seed,
        class_names=own.class_names,
        node_names=own.node_names,
    )
    if options.json:
        rows = [asdict(one) | {"why": one.sentence} for one in found]
        told = {"strategy": options.strategy, "score": says, "suggestions": rows}
        print(json.dumps({**told, "notes": notes_on(own, predictor)}))
        return
    several = any(one.graph for one in found)
    print(f"Label these next ({options.strategy}; the score is {says}):")
    width = max(len(one.node) for one in found)
    for one in found:
        graph = f"graph {one.graph}  " if several else ""
        print(f"  {graph}{one.node:<{width}}  {one.score:8.4f}  {one.sentence}")
    if options.strategy != "random" and len(found) > 1 and len({round(one.score, 6) for one in found}) == 1:
        print("All of them score the same, so which came first was left to chance.")
    for note in notes_on(own, predictor):
        print(note)
