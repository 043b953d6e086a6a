"""Random graphs for cellular automata, many at a time: every family in a few vectorised passes.

Each function draws one graph per entry of ``sizes`` and returns the undirected edges [2, E] of all of them, each pair
once. Nodes are numbered through: those of the first graph, then those of the second, and so on.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Edges = NDArray[np.int32]
Floats = NDArray[np.float64]


def small_world(sizes: Ints, rng: np.random.Generator, k: int = 10, p: float = 0.1) -> Edges:
    """Watts-Strogatz rings: k nearest neighbours, each edge's far end moved with probability p. Sizes must exceed k.

    The same process as NetworkX's ``watts_strogatz_graph``: lap by lap, node by node, the edge (u, v = u + lap) may move to
    a node w that u is not adjacent to at that time; it stays if there is none.

    Nothing can land on a pair of the ring before the pair's own edge has moved away. So no edge moves twice, and all that
    the moving edges can dispute is where they land. Hence all of them draw at once; of those at the same pair the earliest
    remains, and the others draw again. A pair only ever passes on to an earlier edge, so whoever is refused would have
    been refused in the order of time as well, and the outcome is the same as that of moving one after the other.
    """
    laps, nodes = k // 2, int(sizes.sum())
    size = np.repeat(sizes.astype(np.int32), sizes)
    end = np.repeat(sizes.cumsum().astype(np.int32), sizes)
    ring = np.empty((2, laps, nodes), dtype=np.int32)
    ring[0] = np.arange(nodes)
    ring[1] = ring[0] + np.arange(1, laps + 1, dtype=np.int32)[:, None]
    ring[1] -= size * (ring[1] >= end)
    edges = ring.reshape(2, -1)  # in the order of time, as are the lists of moving edges below
    moves = np.concatenate([(rng.random(nodes) < p) & (size > 2 * laps + 1) for _ in range(laps)])  # none if complete

    time = np.flatnonzero(moves)
    u, v = edges[:, time]
    nowhere = nodes
    w = np.full_like(u, nowhere)

    def draw(moving: Ints) -> None:
        """A new far end for each, and another one if it meets an edge that is on the ring at that time."""
        while len(moving):
            here, n = u[moving], size[u[moving]]
            ahead = rng.integers(1, n, dtype=np.int32)
            there = here + ahead
            there -= n * (there >= end[here])
            w[moving] = there
            lap = np.minimum(ahead, n - ahead)
            near = np.flatnonzero(lap <= laps)
            moving = moving[near]
            place = (lap[near] - 1) * nodes + np.where(ahead <= laps, here, there)[near]
            moving = moving[~moves[place] | (place >= time[moving])]

    def stay(moving: Ints) -> None:
        """Those whose u is adjacent to all others at that time stay; where few have landed that cannot be."""
        room = size[u] - 1 - 2 * laps
        landed = np.bincount(w, minlength=nodes + 1)[u[moving]]
        for i in moving[landed >= room[moving]]:
            own = u[:i] == u[i]
            gone = own | (v[:i] == u[i])
            come = (w[:i] == u[i]) | (own & (w[:i] != nowhere))
            if come.sum() - gone.sum() == room[i]:
                w[i] = v[i]

    def refused(moving: Ints) -> Ints:
        """All but the earliest of those at the same pair."""
        low, high = np.minimum(u[moving], w[moving]), np.maximum(u[moving], w[moving])
        pair = low.astype(np.int64) * nodes + high
        order = pair.argsort(kind="stable")
        return moving[order[1:][np.diff(pair[order]) == 0]]

    everyone = np.arange(len(time))
    draw(everyone)
    waiting = refused(everyone)
    while len(waiting):
        w[waiting] = nowhere
        stay(waiting)
        draw(waiting[w[waiting] == nowhere])
        waiting = refused(np.flatnonzero(np.isin(end[u], end[u[waiting]])))  # all of their graphs
    edges[1, time] = w
    return edges


def scale_free(sizes: Ints, rng: np.random.Generator, m: int = 3) -> Edges:
    """Barabási-Albert graphs: every new node links to m distinct nodes, chosen in proportion to their degree.

    The same process as NetworkX's ``barabasi_albert_graph``, which starts from a star of m + 1 nodes.
    """
    graphs, steps = len(sizes), int(sizes.max()) - m
    order = np.argsort(-sizes, kind="stable")  # large graphs first, so that those that still grow are a stretch
    grows = np.arange(m, m + steps) < sizes[order, None]
    # Both ends of every edge of a graph, so that a uniform draw from those so far is one in proportion to the degree.
    ends = np.empty((graphs, steps, 2, m), dtype=np.min_scalar_type(sizes.max()))
    ends[:, 0] = [[0] * m, range(1, m + 1)]
    ends[:, 1:, 1] = np.arange(m + 1, m + steps)[:, None]
    flat, first = ends.ravel(), np.arange(graphs) * (steps * 2 * m)
    for step, growing in enumerate(grows.sum(0)[1:].tolist(), 1):
        so_far = step * 2 * m
        chosen = flat.take(rng.integers(so_far, size=(m, growing)) + first[:growing])
        for slot in range(1, m):
            new = chosen[slot]
            again = np.flatnonzero((chosen[:slot] == new).any(0))
            while len(again):
                new[again] = flat.take(rng.integers(so_far, size=len(again)) + first[again])
                again = again[(chosen[:slot, again] == new[again]).any(0)]
        ends[:growing, step, 0] = chosen.T
    edges = ends.reshape(-1, 2, m).compress(grows.ravel(), axis=0).swapaxes(0, 1)
    offset = np.repeat((sizes.cumsum() - sizes)[order], sizes[order] - m).astype(np.int32)
    return np.add(edges, offset[:, None], order="C").reshape(2, -1)


def voronoi(points: Floats, sizes: Ints) -> Edges:
    """Voronoi cells of points in the plane; two cells are neighbours if they share a border (a Delaunay edge)."""
    from scipy.spatial import Delaunay  # slow to import

    return _edges_of_triangles(Delaunay, points, sizes)


def spherical_voronoi(points: Floats, sizes: Ints) -> Edges:
    """Voronoi cells of points on the unit sphere; neighbours share a border (an edge of the convex hull)."""
    from scipy.spatial import ConvexHull  # slow to import

    return _edges_of_triangles(ConvexHull, points, sizes)


def torus(side: int) -> Ints:
    """The 8-neighbourhood of a square lattice whose opposite borders are joined, each pair once: [2, 4 side²]."""
    row, column = np.divmod(np.arange(side * side), side)
    steps = [(0, 1), (1, -1), (1, 0), (1, 1)]
    other = [((row + down) % side) * side + (column + right) % side for down, right in steps]
    return np.stack([np.tile(np.arange(side * side), 4), np.concatenate(other)])


def _edges_of_triangles(triangulate: Callable[[Floats], Any], points: Floats, sizes: Ints) -> Edges:
    """The sides of the triangles of each graph's points, by Qhull, which runs outside of Python's lock: on all cores."""

    def stretch(clouds: list[Floats]) -> tuple[Edges, Edges, list[int]]:
        found = [triangulate(cloud) for cloud in clouds]
        corners = [each.simplices for each in found]
        return np.concatenate(corners), np.concatenate([each.neighbors for each in found]), [len(c) for c in corners]

    clouds = np.split(points, sizes.cumsum()[:-1])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(stretch, [clouds[i : i + 50] for i in range(0, len(clouds), 50)])
    corners, beyond, counts = (np.concatenate(each) for each in zip(*found, strict=True))
    corners += np.repeat(sizes.cumsum() - sizes, counts).astype(np.int32)[:, None]
    number = np.arange(len(corners)) - np.repeat(counts.cumsum() - counts, counts)
    # Beyond the side opposite to each corner lies another triangle of the same graph, or nothing (-1).
    once = beyond < number[:, None]
    return np.stack([corners[:, [1, 2, 0]][once], corners[:, [2, 0, 1]][once]])
