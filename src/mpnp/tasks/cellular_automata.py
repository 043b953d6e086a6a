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
from scipy import sparse
from torch_geometric.data import Data

from ..graphs import GraphSet
from . import lattices
from .base import SPLITS, Split, Task, cache_folder
from .caches import Arrays, kept

VERSION = 2
LIFE_LIKE_PAIRS = 18
SIDE = 30  # of the Life-like boards


@dataclass
class CellularAutomaton(Task):
    """One family of automata; the rules of training, validation and test are disjoint.

    ``graphs_total`` graphs (for Life-like the expected number: each of the 2^18 rules is taken with probability 0.01).
    """

    family: str
    seed: int = 0
    graphs_total: int = 2700

    by_rule = True
    appendix = "automata"
    version = VERSION
    context = (0.3, 0.5)
    extra = (0.3, 0.5)
    rates = (0.1, 0.3, 1.0)
    source = "generated"
    num_features = 2
    num_classes = 2

    @property
    def name(self) -> str:
        return f"ca/{self.family}"

    def scale(self) -> tuple[int, int]:
        return self.graphs_total, SIDE**2 if self.family == "life-like" else 150

    def augment(self, graph: Data, generator: torch.Generator) -> Data:
        """Dead and alive swapped at random, per graph, in the start and in the outcome: the rule that results is as likely."""
        swap_start, swap_end = torch.randint(2, (2, graph.ptr.numel() - 1), generator=generator).bool()
        graph.x = torch.where(swap_start[graph.batch].unsqueeze(1), graph.x.flip(1), graph.x)
        graph.y = torch.where(swap_end[graph.batch], 1 - graph.y, graph.y)
        return graph

    def load(self) -> dict[Split, GraphSet]:
        identity = f"{VERSION}-{self.family}-{self.seed}-{self.graphs_total}"
        path = cache_folder() / f"ca-{self.family}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}.npz"
        names = (
            ("state", "label", "ptr")
            if self.family == "life-like"
            else ("state", "label", "ptr", "neighbours", "degree")
        )
        return split(kept(path, names, lambda: generate(self.family, self.graphs_total, self.seed)))


FAMILIES = ("small-world", "scale-free", "voronoi", "spherical-voronoi", "life-like")


def generate(family: str, count: int, seed: int) -> Arrays:
    """All graphs of a family, one rule each: ``state``, ``label`` [N], ``ptr`` and ``rule``, one row per graph.

    ``neighbours`` lists the neighbours of node 0, of node 1, … in ascending order, ``degree`` [N] how many each has;
    Life-like boards, which are all alike, go without.
    """
    rng = np.random.default_rng([seed, FAMILIES.index(family)])
    if family == "life-like":
        return _life_like(rng, count / 2700 * 0.01)
    sizes = rng.integers(100, 201, size=count)
    ptr = np.concatenate([[0], sizes.cumsum()])
    extra = {}
    if family == "small-world":
        edges = lattices.small_world(sizes, rng)
    elif family == "scale-free":
        edges = lattices.scale_free(sizes, rng)
    elif family == "voronoi":
        points = rng.random((ptr[-1], 2))
        edges = lattices.voronoi(points, sizes)
        extra["pos"] = points.astype(np.float32)
    else:
        points = rng.normal(size=(ptr[-1], 3))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        edges = lattices.spherical_voronoi(points, sizes)
        extra["pos"] = points.astype(np.float32)

    state = rng.integers(0, 2, size=ptr[-1], dtype=np.int8)
    adjacency = _adjacency(edges, len(state))
    degree = np.diff(adjacency.indptr)
    density = (adjacency @ state.astype(np.int16)) / np.maximum(degree, 1)
    # Per graph and state (dead: birth, alive: survival): two thresholds, and whether the interval is turned inside out.
    threshold = np.sort(rng.random((count, 2, 2)), axis=2)
    inverted = rng.random((count, 2)) < 0.5
    which = 2 * np.repeat(np.arange(count), sizes) + state
    low, high = threshold.reshape(-1, 2).take(which, axis=0).T
    label = ((low <= density) & (density <= high)) ^ inverted.ravel().take(which)
    rule = np.concatenate([threshold.reshape(count, 4), inverted], axis=1)
    return {
        "state": state,
        "label": label.astype(np.int8),
        "neighbours": adjacency.indices,
        "degree": degree,
        "ptr": ptr,
        "rule": rule,
        **extra,
    }


def _life_like(rng: np.random.Generator, share: float) -> Arrays:
    """Bernoulli(share) of the 2^18 rules, each on a torus whose start holds every (state, living neighbours) pair."""
    number = np.flatnonzero(rng.random(2**LIFE_LIKE_PAIRS) < share)
    rng.shuffle(number)
    pair = np.empty((len(number), SIDE * SIDE), dtype=np.int8)
    open_boards = np.arange(len(number))
    while len(open_boards):  # about a third of the random boards are complete
        board = rng.integers(0, 2, size=(len(open_boards), SIDE, SIDE), dtype=np.int8)
        three = board + np.roll(board, 1, 1) + np.roll(board, -1, 1)
        nine = three + np.roll(three, 1, 2) + np.roll(three, -1, 2)  # the cell itself and its neighbours
        found = (9 * board + (nine - board)).reshape(len(open_boards), -1)
        complete = np.bitwise_or.reduce(1 << found.astype(np.int32), axis=1) == 2**LIFE_LIKE_PAIRS - 1
        pair[open_boards[complete]] = found[complete]
        open_boards = open_boards[~complete]
    return {
        "state": (pair >= 9).ravel().astype(np.int8),
        "label": ((number[:, None] >> pair) & 1).ravel().astype(np.int8),
        "ptr": np.arange(len(number) + 1) * SIDE * SIDE,
        "rule": number[:, None],
    }


def _adjacency(edges: NDArray[np.integer], nodes: int) -> sparse.csr_array:
    """The symmetric adjacency of ``edges`` [2, E], which hold each pair once; rows in ascending order.

    Compressing by column, then by row, is sorting by counting: far cheaper than comparing millions of edges.
    """
    both_ways = edges.ravel(), edges[::-1].ravel()
    adjacency = sparse.coo_array((np.ones(edges.size, dtype=np.int16), both_ways), shape=(nodes, nodes))
    adjacency.has_canonical_format = True  # nothing to add up
    return adjacency.tocsc().tocsr()


def split(arrays: Arrays) -> dict[Split, GraphSet]:
    """Graphs are independent draws, so the splits are stretches of the list."""
    count = len(arrays["ptr"]) - 1
    first, second = int(0.7 * count), int(0.8 * count)
    bounds = {"train": (0, first), "val": (first, second), "test": (second, count)}
    return {split: _stretch(arrays, *bounds[split]) for split in SPLITS}


def _stretch(arrays: Arrays, start: int, stop: int) -> GraphSet:
    """Graphs ``start`` to ``stop``; their edges are written down in the order in which the store keeps them."""
    ptr = arrays["ptr"][start : stop + 1]
    nodes = slice(int(ptr[0]), int(ptr[-1]))
    ptr = ptr - ptr[0]
    if "neighbours" in arrays:
        degree = arrays["degree"][nodes]
        begin = arrays["degree"][: nodes.start].sum()
        source = arrays["neighbours"][begin : begin + degree.sum()] - nodes.start
        target = np.repeat(np.arange(len(degree), dtype=np.int32), degree)
        edge_index = np.stack([source, target], dtype=np.int64)
    else:
        board = _adjacency(lattices.torus(SIDE), SIDE * SIDE).tocoo()
        edge_index = (ptr[:-1, None] + np.stack([board.col, board.row])[:, None]).reshape(2, -1)
    return GraphSet(
        x=torch.from_numpy(np.eye(2, dtype=np.float32).take(arrays["state"][nodes], axis=0)),
        y=torch.from_numpy(arrays["label"][nodes].astype(np.int64)),
        edge_index=torch.from_numpy(edge_index),
        ptr=torch.from_numpy(ptr),
        extra={"pos": torch.from_numpy(arrays["pos"][nodes])} if "pos" in arrays else {},
        undirected=True,
    )
