"""Made-up networks: communities below and across classes, points in space, hubs, rings, boards and trees.

Every function draws undirected edges as an array [2, E] with each edge once; ``both_ways`` makes an edge index of them.
"""

from __future__ import annotations

import numpy as np

Random = np.random.Generator


def between(random: Random, low: float, high: float) -> float:
    """A number drawn log-uniformly."""
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def both_ways(edges: np.ndarray, nodes: int) -> np.ndarray:
    """Undirected edges [2, E] in both directions, each once, without loops."""
    low, high = np.minimum(*edges), np.maximum(*edges)
    code = np.unique((low * nodes + high)[low != high])
    low, high = code // nodes, code % nodes
    return np.stack([np.concatenate([low, high]), np.concatenate([high, low])])


def pairs_of_blocks(
    random: Random, block: np.ndarray, affinity: np.ndarray, propensity: np.ndarray, count: int
) -> np.ndarray:
    """A degree-corrected block model: about ``count`` edges, node i with one end of an edge in proportion to
    ``propensity`` [N], a pair of blocks in proportion to ``affinity`` [K, K]."""
    order = np.argsort(block, kind="stable")
    weight = propensity[order]
    total = np.cumsum(weight)
    blocks = affinity.shape[0]
    ends = np.searchsorted(block[order], np.arange(blocks + 1))
    above = np.concatenate([[0.0], total])
    mass = above[ends[1:]] - above[ends[:-1]]
    chance = (affinity * mass[:, None] * mass[None, :]).ravel()
    if chance.sum() <= 0:
        return np.zeros((2, 0), dtype=np.int64)
    drawn = random.choice(chance.size, size=count, p=chance / chance.sum())
    sides = []
    for side in (drawn // blocks, drawn % blocks):
        at = above[ends[side]] + random.random(count) * mass[side]
        sides.append(order[np.minimum(np.searchsorted(total, at, side="right"), total.size - 1)])
    return np.stack(sides)


def near_in_space(random: Random, places: np.ndarray, neighbours: int) -> np.ndarray:
    """Every point joined to its nearest ones."""
    from scipy.spatial import cKDTree  # slow to import

    near = cKDTree(places).query(places, k=min(neighbours + 1, len(places)))[1][:, 1:]
    return np.stack([np.repeat(np.arange(len(places)), near.shape[1]), near.ravel()])


def preferential(random: Random, nodes: int, links: int) -> np.ndarray:
    """Every new node links to ends of earlier edges: hubs grow."""
    ends = np.zeros(2 * nodes * links + 2, dtype=np.int64)
    filled, edges = 1, []
    for node in range(1, nodes):
        chosen = ends[random.integers(0, filled, size=min(links, node))]
        edges.append(np.stack([np.full(chosen.size, node), chosen]))
        ends[filled : filled + chosen.size] = chosen
        ends[filled + chosen.size : filled + 2 * chosen.size] = node
        filled += 2 * chosen.size
    return np.concatenate(edges, 1)


def ring(random: Random, nodes: int, reach: int, rewired: float) -> np.ndarray:
    """A small world: a ring with neighbours up to ``reach`` away, a share of the edges led elsewhere."""
    source = np.repeat(np.arange(nodes), reach)
    target = (source + np.tile(np.arange(1, reach + 1), nodes)) % nodes
    elsewhere = random.random(source.size) < rewired
    target[elsewhere] = random.integers(0, nodes, size=int(elsewhere.sum()))
    return np.stack([source, target])


def board(random: Random, nodes: int) -> np.ndarray:
    """Cells of a board, joined to the eight (or four) around them."""
    width = max(2, int(np.sqrt(nodes)))
    row, column = np.divmod(np.arange(nodes), width)
    steps = [(0, 1), (1, 0)] + ([(1, 1), (1, -1)] if random.random() < 0.7 else [])
    edges = []
    for down, right in steps:
        other = (row + down) * width + column + right
        inside = (column + right >= 0) & (column + right < width) & (other < nodes)
        edges.append(np.stack([np.arange(nodes)[inside], other[inside]]))
    return np.concatenate(edges, 1)


def tree(random: Random, nodes: int) -> np.ndarray:
    """Every node below an earlier one, near or far."""
    child = np.arange(1, nodes)
    parent = (child * random.random(nodes - 1) ** between(random, 0.3, 3)).astype(np.int64)
    return np.stack([child, np.minimum(parent, child - 1)])


def any_network(random: Random, nodes: int) -> np.ndarray:
    """A network of a kind that knows nothing of classes."""
    kind = random.integers(6)
    if kind == 0:
        return preferential(random, nodes, int(random.integers(1, 8)))
    if kind == 1:
        return ring(random, nodes, int(random.integers(1, 6)), between(random, 0.01, 0.5))
    if kind == 2:
        return board(random, nodes)
    if kind == 3:
        return tree(random, nodes)
    if kind == 4:
        return near_in_space(random, random.random((nodes, int(random.integers(2, 4)))), int(random.integers(2, 9)))
    blocks = int(random.integers(1, 12))
    affinity = np.exp(random.normal(0, 1.0, (blocks, blocks)))
    propensity = np.exp(random.normal(0, random.uniform(0, 1.3), nodes))
    count = int(nodes * between(random, 1, 15))
    return pairs_of_blocks(random, random.integers(0, blocks, nodes), affinity + affinity.T, propensity, count)
