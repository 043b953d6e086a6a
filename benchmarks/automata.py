"""Generating the five families of automata beside a plain loop over NetworkX graphs."""

from __future__ import annotations

import time
from collections.abc import Callable

import networkx as nx
import numpy as np
import torch
from scipy.spatial import ConvexHull, Delaunay
from torch_geometric.data import Data

from mpnp.graphs import GraphSet
from mpnp.tasks.base import Split
from mpnp.tasks.cellular_automata import FAMILIES, SIDE, generate, split

GRAPHS = 2700
TIMED = 90  # graphs of the plain loop


def bench() -> dict[str, dict[str, float]]:
    """Seconds for 2,700 graphs, from nothing to what models are trained on; the plain loop is timed on 90 of them."""
    return {
        family: {
            "mpnp": min(_seconds(_ours, family, GRAPHS, 0) for _ in range(3)),
            "NetworkX loop": _seconds(_plain, family, TIMED, 0) * GRAPHS / TIMED,
        }
        for family in FAMILIES
    }


def _seconds(work: Callable[[str, int, int], object], family: str, count: int, seed: int) -> float:
    start = time.perf_counter()
    work(family, count, seed)
    return time.perf_counter() - start


def _ours(family: str, count: int, seed: int) -> dict[Split, GraphSet]:
    return split(generate(family, count, seed))


def _plain(family: str, count: int, seed: int) -> list[Data]:
    """What a first version would do: draw a graph, look at every node's neighbours, apply the rule, graph by graph."""
    rng = np.random.default_rng(seed)
    if family == "life-like":
        board = _board()
        return [_life_like(board, rng) for _ in range(count)]
    return [_density(_draw(family, rng), rng) for _ in range(count)]


def _draw(family: str, rng: np.random.Generator) -> nx.Graph:
    n, seed = int(rng.integers(100, 201)), int(rng.integers(2**31))
    if family == "small-world":
        return nx.watts_strogatz_graph(n, 10, 0.1, seed=seed)
    if family == "scale-free":
        return nx.barabasi_albert_graph(n, 3, seed=seed)
    if family == "voronoi":
        triangles = Delaunay(rng.random((n, 2))).simplices
    else:
        points = rng.normal(size=(n, 3))
        triangles = ConvexHull(points / np.linalg.norm(points, axis=1, keepdims=True)).simplices
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    for a, b, c in triangles.tolist():
        graph.add_edges_from([(a, b), (b, c), (c, a)])
    return graph


def _density(graph: nx.Graph, rng: np.random.Generator) -> Data:
    state = rng.integers(0, 2, size=len(graph))
    rules = [(*sorted(rng.random(2)), rng.random() < 0.5) for _ in range(2)]
    label = []
    for node in graph.nodes:
        around = list(graph.neighbors(node))
        density = sum(state[j] for j in around) / max(len(around), 1)
        low, high, inverted = rules[state[node]]
        label.append((low <= density <= high) != inverted)
    return _data(graph, state, label)


def _board() -> nx.Graph:
    board = nx.Graph()
    for row in range(SIDE):
        for column in range(SIDE):
            for down, right in [(0, 1), (1, -1), (1, 0), (1, 1)]:
                other = (row + down) % SIDE * SIDE + (column + right) % SIDE
                board.add_edge(row * SIDE + column, other)
    return board


def _life_like(board: nx.Graph, rng: np.random.Generator) -> Data:
    table = rng.integers(0, 2, size=18)
    pairs: list[int] = []
    while len(set(pairs)) < 18:
        state = rng.integers(0, 2, size=len(board))
        pairs = [9 * state[node] + sum(state[j] for j in board.neighbors(node)) for node in range(len(board))]
    return _data(board, state, [table[pair] for pair in pairs])


def _data(graph: nx.Graph, state: np.ndarray, label: list[bool]) -> Data:
    once = torch.tensor(list(graph.edges)).t()
    return Data(
        x=torch.nn.functional.one_hot(torch.from_numpy(state), 2).float(),
        y=torch.tensor(label).long(),
        edge_index=torch.cat([once, once.flip(0)], 1),
    )


def lines(result: dict[str, dict[str, float]]) -> list[str]:
    text = [
        "## Generating the automata, 2,700 graphs of each family",
        "",
        "Ours: until the three splits are ready to train on, nothing read from disk. The loop: NetworkX and Python, timed on 90.",
        "",
        "| family | ours, s | loop, s | ratio |",
        "|---|---|---|---|",
    ]
    total = {way: sum(seconds[way] for seconds in result.values()) for way in next(iter(result.values()))}
    for family, seconds in {**result, "all five": total}.items():
        ours, loop = seconds["mpnp"], seconds["NetworkX loop"]
        text.append(f"| {family} | {ours:.2f} | {loop:.1f} | {loop / ours:.0f} × |")
    return text
