"""``mpnp suggest``."""

from __future__ import annotations

import json

from jsonargparse import ArgumentParser, Namespace

from ..defaults import SAMPLES, STRATEGY
from .common import add_model_and_graph, at_least, model_and_graph

HELP = "which nodes of your graphs to label next, and why"


def arguments(parser: ArgumentParser) -> None:
    add_model_and_graph(parser)
    parser.add_argument("--count", type=int, default=5, help="nodes per graph")
    parser.add_argument("--strategy", type=str, default=STRATEGY, help="{strategies}")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="latent samples")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(options: Namespace) -> None:
    from dataclasses import asdict

    from ..active import find_strategy, suggest
    from ..models import find_predictor
    from ..tasks.own import load_graphs

    at_least(options, count=1, samples=1, seed=0)
    name, graph = model_and_graph(options)
    says = find_strategy(options.strategy).says
    predictor, _ = find_predictor(name)
    own = load_graphs(graph, getattr(getattr(predictor, "config", None), "class_names", None) or None)
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
        print(json.dumps({"strategy": options.strategy, "score": says, "suggestions": rows}))
        return
    several = any(one.graph for one in found)
    print(f"Label these next ({options.strategy}; the score is {says}):")
    width = max(len(one.node) for one in found)
    for one in found:
        graph = f"graph {one.graph}  " if several else ""
        print(f"  {graph}{one.node:<{width}}  {one.score:8.4f}  {one.sentence}")
    if options.strategy != "random" and len(found) > 1 and len({round(one.score, 6) for one in found}) == 1:
        print("All of them score the same, so which came first was left to chance.")
