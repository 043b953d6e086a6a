"""Random graphs for cellular automata, many at a time: every family in a few vectorised passes.

Each function draws one graph per entry of ``sizes`` and returns undirected edges as ``(edges, graph)``: ``edges`` [2, E]
numbered from 0 within each graph, each pair once, and ``graph`` [E], the graph each edge belongs to.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, Delaunay

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def small_world(sizes: Ints, rng: np.random.Generator, k: int = 10, p: float = 0.1) -> tuple[Ints, Ints]:
    """Watts-Strogatz rings: k nearest neighbours, each edge's far end moved with probability p.

    The same process as NetworkX's ``watts_strogatz_graph`` (lap by lap, no self-loops, no duplicates), run on all graphs
    at once.
    """
    graphs, widest = len(sizes), int(sizes.max())
    every = np.arange(graphs)
    adjacent = np.zeros((graphs, widest, widest), dtype=bool)
    for lap in range(1, k // 2 + 1):
        for u in range(widest):
            rows = every[sizes > u]
            v = (u + lap) % sizes[rows]
            adjacent[rows, u, v] = adjacent[rows, v, u] = True
    for lap in range(1, k // 2 + 1):
        for u in range(widest):
            rows = every[(sizes > u) & (rng.random(graphs) < p)]
            v = (u + lap) % sizes[rows]
            w = (rng.random(len(rows)) * sizes[rows]).astype(np.int64)
            while len(taken := np.flatnonzero((w == u) | adjacent[rows, u, w])):
                w[taken] = (rng.random(len(taken)) * sizes[rows[taken]]).astype(np.int64)
            adjacent[rows, u, v] = adjacent[rows, v, u] = False
            adjacent[rows, u, w] = adjacent[rows, w, u] = True
    graph, *pair = np.nonzero(np.triu(adjacent, 1))
    return np.stack(pair), graph


def scale_free(sizes: Ints, rng: np.random.Generator, m: int = 3) -> tuple[Ints, Ints]:
    """Barabási-Albert graphs: every new node links to m distinct nodes, chosen in proportion to their degree.

    The same process as NetworkX's ``barabasi_albert_graph``, which starts from a star of m + 1 nodes.
    """
    graphs, widest = len(sizes), int(sizes.max())
    # Every edge end so far, so that a uniform draw from it is a draw in proportion to the degree.
    ends = np.zeros((graphs, 2 * m * widest), dtype=np.int64)
    ends[:, 1 : 2 * m : 2] = np.arange(1, m + 1)
    filled = 2 * m
    edges = [np.stack([np.zeros(m * graphs, np.int64), np.tile(np.arange(1, m + 1), graphs)])]
    owner = [np.repeat(np.arange(graphs), m)]
    for new in range(m + 1, widest):
        rows = np.flatnonzero(sizes > new)
        chosen = np.full((len(rows), m), -1, dtype=np.int64)
        for slot in range(m):
            open_rows = np.arange(len(rows))
            while len(open_rows):
                pick = ends[rows[open_rows], rng.integers(filled, size=len(open_rows))]
                chosen[open_rows, slot] = pick
                open_rows = open_rows[(chosen[open_rows, :slot] == pick[:, None]).any(1)]
        ends[rows, filled : filled + m] = chosen
        ends[rows, filled + m : filled + 2 * m] = new
        filled += 2 * m
        edges.append(np.stack([chosen.ravel(), np.full(chosen.size, new)]))
        owner.append(np.repeat(rows, m))
    return np.concatenate(edges, 1), np.concatenate(owner)


def voronoi(positions: list[Floats]) -> tuple[Ints, Ints]:
    """Voronoi cells of points in the plane; two cells are neighbours if they share a border (a Delaunay edge)."""
    return _edges_of_triangles([Delaunay(points).simplices for points in positions])


def spherical_voronoi(positions: list[Floats]) -> tuple[Ints, Ints]:
    """Voronoi cells of points on the unit sphere; neighbours share a border (an edge of the convex hull)."""
    return _edges_of_triangles([ConvexHull(points).simplices for points in positions])


def torus(side: int) -> Ints:
    """The 8-neighbourhood of a square lattice whose opposite borders are joined, each pair once: [2, 4 side²]."""
    row, column = np.divmod(np.arange(side * side), side)
    steps = [(0, 1), (1, -1), (1, 0), (1, 1)]
    other = [((row + down) % side) * side + (column + right) % side for down, right in steps]
    return np.stack([np.tile(np.arange(side * side), 4), np.concatenate(other)])


def _edges_of_triangles(triangles: list[NDArray[np.int32]]) -> tuple[Ints, Ints]:
    owner = np.repeat(np.arange(len(triangles)), [len(t) for t in triangles])
    corner = np.sort(np.concatenate(triangles).astype(np.int64), axis=1)
    width = int(corner.max()) + 1
    pairs = [(0, 1), (1, 2), (0, 2)]
    key = np.unique(np.concatenate([(owner * width + corner[:, a]) * width + corner[:, b] for a, b in pairs]))
    rest, v = np.divmod(key, width)
    graph, u = np.divmod(rest, width)
    return np.stack([u, v]), graph
