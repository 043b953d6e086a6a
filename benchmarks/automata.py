"""Generating small-world and scale-free automata beside a plain loop over NetworkX graphs."""

from __future__ import annotations

import time

import networkx as nx
import numpy as np

from mpnp.tasks.cellular_automata import generate


def _plain(family: str, count: int, seed: int) -> None:
    """What a first version would do: draw a graph, look at every node's neighbours, apply the rule."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(100, 201))
        graph = nx.watts_strogatz_graph(n, 10, 0.1) if family == "small-world" else nx.barabasi_albert_graph(n, 3)
        state = rng.integers(0, 2, size=n)
        rules = [(*sorted(rng.random(2)), rng.random() < 0.5) for _ in range(2)]
        label = []
        for node in graph.nodes:
            around = list(graph.neighbors(node))
            density = sum(state[j] for j in around) / max(len(around), 1)
            low, high, inverted = rules[state[node]]
            label.append((low <= density <= high) != inverted)


def bench() -> dict[str, dict[str, float]]:
    """Seconds for 2,700 graphs; the plain loop is timed on 270 and multiplied by ten."""
    result = {}
    for family in ("small-world", "scale-free"):
        start = time.perf_counter()
        generate(family, 2700, 0)
        ours = time.perf_counter() - start
        start = time.perf_counter()
        _plain(family, 270, 0)
        result[family] = {"mpnp": ours, "NetworkX loop": 10 * (time.perf_counter() - start)}
    return result
