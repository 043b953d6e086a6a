"""Graphs drawn in bulk follow the laws of those drawn one by one."""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import SphericalVoronoi, Voronoi
from scipy.stats import chisquare

from mpnp.tasks import lattices
from mpnp.tasks.cellular_automata import FAMILIES

DENSITY = FAMILIES[:4]
Ints = NDArray[np.int64]
Pairs = set[tuple[int, int]]


def pairs(edges: Ints) -> Pairs:
    return {(min(u, v), max(u, v)) for u, v in edges.T.tolist()}


def local(edges: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """The edges numbered from 0 in each graph, and the graph of each; fails if one leads from one graph to another."""
    owner = np.searchsorted(sizes.cumsum(), edges, side="right")
    assert (owner[0] == owner[1]).all()
    return edges - (sizes.cumsum() - sizes)[owner], owner[0]


def apart(edges: Ints, sizes: Ints) -> list[Ints]:
    within, owner = local(edges, sizes)
    return [within[:, owner == number] for number in range(len(sizes))]


def as_networkx(edges: Ints, sizes: Ints) -> list[nx.Graph]:
    """One graph per size; fails on self-loops, duplicates and nodes out of range."""
    graphs = []
    for mine, size in zip(apart(edges, sizes), sizes.tolist(), strict=True):
        graph = nx.Graph(pairs(mine))
        graph.add_nodes_from(range(size))
        assert len(graph) == size
        assert graph.number_of_edges() == mine.shape[1]
        assert nx.number_of_selfloops(graph) == 0
        graphs.append(graph)
    return graphs


@pytest.mark.parametrize("p", [0.0, 0.1, 1.0])
def test_small_world_keeps_its_edges(p: float) -> None:
    sizes = np.array([100, 200, 151, 137, 101])
    edges = lattices.small_world(sizes, np.random.default_rng(0), p=p)
    for graph, size in zip(as_networkx(edges, sizes), sizes, strict=True):
        assert graph.number_of_edges() == 5 * size
        assert (min(dict(graph.degree).values()) == 10) is (p == 0)
        ring = nx.watts_strogatz_graph(size, 10, 0)
        kept = len(pairs(np.array(graph.edges).T) & pairs(np.array(ring.edges).T)) / (5 * size)
        # An edge that is moved lands on the ring again with a probability of about 10 / size.
        assert kept == pytest.approx(1 - p, abs=0.06 + 0.1 * p) if p else kept == 1


@pytest.mark.parametrize("p", [0.1, 0.6])
def test_small_world_is_like_networkx(p: float) -> None:
    """Clustering, path lengths, degrees and the edges left on the ring, each within four standard errors."""
    sizes = np.full(60, 120)
    ours = as_networkx(lattices.small_world(sizes, np.random.default_rng(0), p=p), sizes)
    theirs = [nx.watts_strogatz_graph(120, 10, p, seed=i) for i in range(60)]
    ring = pairs(np.array(nx.watts_strogatz_graph(120, 10, 0).edges).T)

    def statistics(graph: nx.Graph) -> list[float]:
        degree = np.array([d for _, d in graph.degree])
        return [
            nx.average_clustering(graph),
            nx.average_shortest_path_length(graph),
            degree.var(),
            *((degree == d).mean() for d in range(7, 15)),
            len(pairs(np.array(graph.edges).T) & ring) / 600,
        ]

    each = [np.array([statistics(graph) for graph in graphs]) for graphs in (ours, theirs)]
    error = np.sqrt(sum(values.var(0, ddof=1) / len(values) for values in each))
    assert (abs(each[0].mean(0) - each[1].mean(0)) < 4 * error).all()


Law = dict[int, float]


def bit(u: int, v: int) -> int:
    """A graph is a number with one bit per pair of its nodes."""
    return 1 << (max(u, v) * (max(u, v) - 1) // 2 + min(u, v))


def numbers(edges: Ints, sizes: Ints) -> Ints:
    """The graphs as numbers."""
    within, owner = local(edges, sizes)
    low, high = np.sort(within, axis=0)
    return np.bincount(owner, weights=2.0 ** (high * (high - 1) // 2 + low)).astype(np.int64)


def small_world_law(n: int, k: int, p: float) -> Law:
    """The probability of every graph, by taking every turn of the process: edge after edge, any free node."""
    ring = [(u, (u + lap) % n) for lap in range(1, k // 2 + 1) for u in range(n)]
    law = {sum(bit(u, v) for u, v in ring): 1.0}
    for u, v in ring:
        after: Law = defaultdict(float)
        for graph, probability in law.items():
            free = [w for w in range(n) if w != u and not graph & bit(u, w)]
            if p < 1 or not free:
                after[graph] += probability * (1 - p if free else 1)
            for w in free:
                after[graph - bit(u, v) + bit(u, w)] += probability * p / len(free)
        law = after
    return law


def scale_free_law(n: int, m: int) -> Law:
    """The same for preferential attachment: each new node's links in every order, drawn by degree without repetition."""
    law = {sum(bit(0, v) for v in range(1, m + 1)): 1.0}
    for new in range(m + 1, n):
        after: Law = defaultdict(float)
        for graph, probability in law.items():
            degree = [sum(bool(graph & bit(u, v)) for v in range(new) if v != u) for u in range(new)]
            for links in permutations(range(new), m):
                chance, left = probability, sum(degree)
                for link in links:
                    chance *= degree[link] / left
                    left -= degree[link]
                after[graph + sum(bit(link, new) for link in links)] += chance
        law = after
    return law


def follows(sample: Ints, law: Law) -> bool:
    """Pearson's test at 0.1 %; graphs that are expected fewer than five times count as one."""
    assert sum(law.values()) == pytest.approx(1)
    graphs, counts = np.unique(sample, return_counts=True)
    found = dict(zip(graphs.tolist(), counts.tolist(), strict=True))
    assert found.keys() <= law.keys()
    often = [graph for graph, probability in law.items() if probability * len(sample) >= 5]
    seen = [found.get(graph, 0) for graph in often]
    expected = [law[graph] * len(sample) for graph in often]
    if len(often) < len(law):
        seen.append(len(sample) - sum(seen))
        expected.append(len(sample) - sum(expected))
    return bool(chisquare(seen, expected).pvalue > 0.001)


@pytest.mark.parametrize(("k", "p"), [(4, 0.3), (4, 1.0), (2, 0.5)])
def test_small_world_is_the_process_of_networkx(k: int, p: float) -> None:
    """Small graphs are crowded: edges dispute where to land, places on the ring are taken again, nodes become full."""
    law = small_world_law(6, k, p)
    rng = np.random.default_rng(0)
    sizes = np.tile([6, 9], 50)  # among others
    sample = np.concatenate([numbers(lattices.small_world(sizes, rng, k, p), sizes)[::2] for _ in range(150)])
    assert follows(sample, law)
    theirs = [nx.watts_strogatz_graph(6, k, p, seed=i) for i in range(3000)]
    assert follows(np.array([sum(bit(u, v) for u, v in graph.edges) for graph in theirs]), law)


def test_a_complete_small_world_stays_as_it_is() -> None:
    sizes = np.array([5, 12, 5])
    first, _, last = as_networkx(lattices.small_world(sizes, np.random.default_rng(0), k=4, p=1.0), sizes)
    assert first.number_of_edges() == last.number_of_edges() == 10


def test_scale_free_is_the_process_of_networkx() -> None:
    law = scale_free_law(7, 2)
    sizes = np.tile([7, 3, 9], 15000)
    assert follows(numbers(lattices.scale_free(sizes, np.random.default_rng(0), 2), sizes)[::3], law)
    theirs = [nx.barabasi_albert_graph(7, 2, seed=i) for i in range(3000)]
    assert follows(np.array([sum(bit(u, v) for u, v in graph.edges) for graph in theirs]), law)


def test_scale_free_has_as_many_edges_and_hubs_as_networkx() -> None:
    sizes = np.concatenate([np.full(200, 150), [100, 200, 177]])
    ours = as_networkx(lattices.scale_free(sizes, np.random.default_rng(0)), sizes)
    for graph, size in zip(ours, sizes, strict=True):
        assert graph.number_of_edges() == 3 + 3 * (size - 4)
    assert all(nx.is_connected(graph) for graph in ours[-10:])
    theirs = [nx.barabasi_albert_graph(150, 3, seed=i) for i in range(200)]
    degrees = [np.array([sorted(dict(g.degree).values()) for g in graphs]) for graphs in (ours[:200], theirs)]
    ours_max, theirs_max = (degree[:, -1].mean() for degree in degrees)
    assert ours_max == pytest.approx(theirs_max, rel=0.07)
    for degree in (3, 4, 6, 10):
        ours_share, theirs_share = ((each == degree).mean() for each in degrees)
        assert ours_share == pytest.approx(theirs_share, abs=0.012)


def test_voronoi_neighbours_share_a_border() -> None:
    rng = np.random.default_rng(0)
    sizes = np.array([100, 200, 143, 4, *rng.integers(5, 30, 150)])
    points = rng.random((sizes.sum(), 2))
    edges = lattices.voronoi(points, sizes)
    as_networkx(edges, sizes)
    for mine, cloud in zip(apart(edges, sizes), np.split(points, sizes.cumsum()[:-1]), strict=True):
        assert pairs(mine) == pairs(Voronoi(cloud).ridge_points.T)


def test_spherical_voronoi_neighbours_share_a_border() -> None:
    rng = np.random.default_rng(0)
    sizes = np.array([100, 160, 12, *rng.integers(5, 15, 100)])
    points = rng.normal(size=(sizes.sum(), 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    edges = lattices.spherical_voronoi(points, sizes)
    as_networkx(edges, sizes)
    for mine, cloud in zip(apart(edges, sizes), np.split(points, sizes.cumsum()[:-1]), strict=True):
        assert mine.shape[1] == 3 * len(cloud) - 6
        corners = [set(region) for region in SphericalVoronoi(cloud).regions]
        cells = range(len(cloud))
        bordering = {(u, v) for u in cells for v in cells if u < v and len(corners[u] & corners[v]) >= 2}
        assert pairs(mine) == bordering


def test_torus_neighbours_are_one_step_away() -> None:
    (board,) = as_networkx(lattices.torus(6), np.array([36]))
    for row in range(6):
        for column in range(6):
            steps = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
            around = {(row + i) % 6 * 6 + (column + j) % 6 for i, j in steps}
            assert len(around) == 8
            assert set(board[row * 6 + column]) == around
