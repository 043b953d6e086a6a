"""Cellular automata whose rules are never seen in training: five families of graphs, one generation forward.

A node is a cell, its features are the one-hot of its state (dead, alive), its label is its state one generation later.
Density rules: birth and survival each have an interval [k1, k2] of the share of living neighbours, two sorted uniforms on
[0, 1], inside which the cell lives; each interval is turned inside out with probability 1/2. Life-like rules: any of the
2^18 tables (state, number of living neighbours) -> next state.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from ..files import replacing
from ..graphs import GraphSet
from . import lattices
from .base import SPLITS, Split, Task, cache_folder

VERSION = 1
LIFE_LIKE_PAIRS = 18
SIDE = 30  # of the Life-like boards
Ints = NDArray[np.int64]


@dataclass
class CellularAutomaton(Task):
    """One family of automata; the rules of training, validation and test are disjoint.

    ``graphs_total`` graphs (for Life-like the expected number: each of the 2^18 rules is taken with probability 0.01).
    """

    family: str
    seed: int = 0
    graphs_total: int = 2700

    # Without annotations: constants of the class, not fields of the dataclass.
    context = (0.3, 0.5)
    extra = (0.3, 0.5)
    rates = (0.1, 0.3, 1.0)
    source = "generated"
    num_features = 2
    num_classes = 2

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"ca/{self.family}"

    def augment(self, graph: Data, generator: torch.Generator) -> Data:
        """Dead and alive change places, per graph, in the start and in the outcome: a rule seen so is a rule as likely."""
        swap_start, swap_end = torch.randint(2, (2, graph.ptr.numel() - 1), generator=generator).bool()
        graph.x = torch.where(swap_start[graph.batch].unsqueeze(1), graph.x.flip(1), graph.x)
        graph.y = torch.where(swap_end[graph.batch], 1 - graph.y, graph.y)
        return graph

    def load(self) -> dict[Split, GraphSet]:
        identity = f"{VERSION}-{self.family}-{self.seed}-{self.graphs_total}"
        path = cache_folder() / f"ca-{self.family}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}.npz"
        if path.exists():
            with np.load(path, allow_pickle=False) as stored:
                arrays = dict(stored)
        else:
            arrays = generate(self.family, self.graphs_total, self.seed)
            with replacing(path) as temporary, temporary.open("wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
        return _split(arrays)


FAMILIES = ("small-world", "scale-free", "voronoi", "spherical-voronoi", "life-like")


def generate(family: str, count: int, seed: int) -> dict[str, NDArray[np.generic]]:
    """All graphs of a family, one rule each: ``state``, ``label`` [N], ``edges`` [2, E] (each pair once), ``ptr``, ``rule``."""
    rng = np.random.default_rng([seed, FAMILIES.index(family)])
    if family == "life-like":
        return _life_like(rng, count / 2700 * 0.01)
    sizes = rng.integers(100, 201, size=count)
    ptr = np.concatenate([[0], sizes.cumsum()])
    extra = {}
    if family == "small-world":
        edges, graph = lattices.small_world(sizes, rng)
    elif family == "scale-free":
        edges, graph = lattices.scale_free(sizes, rng)
    elif family == "voronoi":
        points = rng.random((ptr[-1], 2))
        edges, graph = lattices.voronoi(np.split(points, ptr[1:-1]))
        extra["pos"] = points.astype(np.float32)
    else:
        points = rng.normal(size=(ptr[-1], 3))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        edges, graph = lattices.spherical_voronoi(np.split(points, ptr[1:-1]))
        extra["pos"] = points.astype(np.float32)
    edges = edges + ptr[graph]

    state = rng.integers(0, 2, size=ptr[-1])
    alive, degree = _living_neighbours(state, edges)
    density = alive / np.maximum(degree, 1)
    # Per graph and state (dead: birth, alive: survival): two thresholds, and whether the interval is turned inside out.
    threshold = np.sort(rng.random((count, 2, 2)), axis=2)
    inverted = rng.random((count, 2)) < 0.5
    owner = np.repeat(np.arange(count), sizes)
    low, high = threshold[owner, state].T
    label = ((low <= density) & (density <= high)) ^ inverted[owner, state]
    rule = np.concatenate([threshold.reshape(count, 4), inverted], axis=1)
    return {
        "state": state.astype(np.int8),
        "label": label.astype(np.int8),
        "edges": edges,
        "ptr": ptr,
        "rule": rule,
        **extra,
    }


def _life_like(rng: np.random.Generator, share: float) -> dict[str, NDArray[np.generic]]:
    """Bernoulli(share) of the 2^18 rules, each on a torus whose start holds every (state, living neighbours) pair."""
    number = np.flatnonzero(rng.random(2**LIFE_LIKE_PAIRS) < share)
    rng.shuffle(number)
    table = (number[:, None] >> np.arange(LIFE_LIKE_PAIRS)) & 1
    pair = np.empty((len(number), SIDE * SIDE), dtype=np.int64)
    around = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    open_boards = np.arange(len(number))
    while len(open_boards):  # about a third of the random boards are complete
        board = rng.integers(0, 2, size=(len(open_boards), SIDE, SIDE), dtype=np.int8)
        alive = np.sum([np.roll(board, step, (1, 2)) for step in around], axis=0, dtype=np.int64)
        found = (board * 9 + alive).reshape(len(open_boards), -1)
        seen = np.zeros((len(open_boards), LIFE_LIKE_PAIRS), dtype=bool)
        seen[np.arange(len(open_boards))[:, None], found] = True
        complete = seen.all(1)
        pair[open_boards[complete]] = found[complete]
        open_boards = open_boards[~complete]
    label = np.take_along_axis(table, pair, axis=1)
    return {
        "state": (pair // 9).ravel().astype(np.int8),
        "label": label.ravel().astype(np.int8),
        "ptr": np.arange(len(number) + 1) * SIDE * SIDE,
        "rule": number[:, None],
    }


def _living_neighbours(state: Ints, edges: Ints) -> tuple[Ints, Ints]:
    """Living neighbours and neighbours of every node; ``edges`` [2, E] holds each pair once."""
    u, v = edges
    size = len(state)
    alive = np.bincount(u, weights=state[v], minlength=size) + np.bincount(v, weights=state[u], minlength=size)
    return alive.astype(np.int64), np.bincount(edges.ravel(), minlength=size)


def _split(arrays: dict[str, NDArray[np.generic]]) -> dict[Split, GraphSet]:
    """Graphs are independent draws, so the splits are stretches of the list."""
    ptr = torch.from_numpy(arrays["ptr"])
    if "edges" in arrays:
        once = torch.from_numpy(arrays["edges"]).long()
        edge_index = torch.cat([once, once.flip(0)], 1)
    else:
        once = torch.from_numpy(lattices.torus(SIDE))
        board = torch.cat([once, once.flip(0)], 1)
        board = board[:, (board[1] * SIDE * SIDE + board[0]).argsort()]
        edge_index = (board[:, None, :] + ptr[None, :-1, None]).reshape(2, -1)
    everything = GraphSet(
        x=torch.nn.functional.one_hot(torch.from_numpy(arrays["state"]).long(), 2).float(),
        y=torch.from_numpy(arrays["label"]).long(),
        edge_index=edge_index,
        ptr=ptr,
        extra={"pos": torch.from_numpy(arrays["pos"])} if "pos" in arrays else {},
        undirected=True,
    )
    count = len(everything)
    first, second = int(0.7 * count), int(0.8 * count)
    bounds = {"train": (0, first), "val": (first, second), "test": (second, count)}
    return {split: everything.subset(torch.arange(*bounds[split])) for split in SPLITS}
