"""Where to draw the nodes: their own places if they have some, else where forces along the edges put them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ..files import replacing
from ..tasks.base import cache_folder

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

VERSION = 3  # of the forces: a layout kept by another version is computed again
FEWEST, MOST = 200, 500  # steps: a large graph gets fewer, a small one has time to unfold
RIM = 1.15  # how far out a node may lie, in units of the radius of nearly all
SMALL = 64  # nodes of a part whose pairs can all be looked at
MOST_PAIRS = 2_000_000  # of nodes, at once
NEAREST, ROUNDS = 8, 100  # nodes that one is moved away from at once, and how often, until none are too close
SPREAD, GAP = 0.7, 1.6  # a part of n nodes has a radius of about 0.7 √n; between parts


def place(edges: Ints, nodes: int, own: NDArray[np.floating] | None = None) -> Floats:
    """Places [N, 2] or [N, 3] within the unit square or cube; forces are computed once per graph and kept on disk.

    ``edges`` [2, E]; ``own`` [N, 2 or 3]: the nodes' own coordinates.
    """
    if own is not None:
        return unit(np.asarray(own, dtype=np.float64))
    once = np.unique(np.sort(edges[:, edges[0] != edges[1]], axis=0), axis=1)
    identity = hashlib.sha256(f"{VERSION} {nodes} ".encode() + np.ascontiguousarray(once).tobytes()).hexdigest()[:24]
    file: Path = cache_folder() / "studio" / f"layout-{identity}.npy"
    if file.exists():
        return np.load(file, allow_pickle=False)
    places = unit(force_directed(once, nodes))
    with replacing(file) as temporary, temporary.open("wb") as stream:
        np.save(stream, places)
    return places


def unit(places: Floats) -> Floats:
    """Moved and scaled, by the same factor in all directions, to lie within [-1, 1]."""
    if not len(places):
        return places
    low, high = places.min(0), places.max(0)
    return (places - (low + high) / 2) / max(float((high - low).max()) / 2, 1e-9)


def force_directed(once: Ints, nodes: int, seed: int = 0) -> Floats:
    """Every connected part by itself, the parts packed side by side, the largest first, nodes without edges aside: [N, 2].

    ``once`` [2, E]: each edge once, no loops.
    """
    rng = np.random.default_rng(seed)
    ones = np.ones(2 * once.shape[1])
    adjacency = sparse.csr_array((ones, np.concatenate([once, once[::-1]], axis=1)), shape=(nodes, nodes))
    _, part = connected_components(adjacency, directed=False)
    order = np.argsort(part, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(part[order])) + 1) if nodes else []
    lonely = [each for each in members if len(each) == 1]
    small = [each for each in members if 1 < len(each) <= SMALL]
    large = [each for each in members if len(each) > SMALL]
    shapes = [(each, settled(adjacency[each][:, each], rng)) for each in large] + settled_together(
        adjacency, small, rng
    )
    boxes = [(each, _upright(shape) * np.sqrt(len(each)) * SPREAD) for each, shape in shapes]
    x = np.zeros((nodes, 2))
    alone = np.array([each[0] for each in lonely], dtype=np.int64)
    for each, place in packed(boxes, alone):
        x[each] = place
    return x


def packed(shapes: list[tuple[Ints, Floats]], alone: Ints) -> list[tuple[Ints, Floats]]:
    """Shapes side by side in rows, wider than high as screens are, and below them single nodes in a grid."""
    boxes = sorted(
        ((place.max(0) - place.min(0) + GAP, each, place) for each, place in shapes), key=lambda box: -len(box[1])
    )
    area = sum(float(size.prod()) for size, _, _ in boxes) + len(alone) * GAP**2
    width = max([np.sqrt(1.7 * area), *(float(size[0]) for size, _, _ in boxes)])
    found, left, low, high = [], 0.0, 0.0, 0.0
    for size, each, place in boxes:
        if left and left + size[0] > width:
            left, low, high = 0.0, low + high, 0.0
        found.append((each, place - place.min(0) + [left, -low - size[1]]))
        left, high = left + float(size[0]), max(high, float(size[1]))
    row, column = np.divmod(np.arange(len(alone)), max(int(width / GAP), 1))
    found.append((alone, np.stack([column * GAP, -low - high - GAP * (row + 1.0)], axis=1)))
    return found


def settled_together(
    adjacency: sparse.csr_array, parts: list[Ints], rng: np.random.Generator
) -> list[tuple[Ints, Floats]]:
    """Many small parts at once, by the forces between all pairs: see :func:`settled`."""
    found = []
    for size in sorted({_padded(len(each)) for each in parts}):
        alike = [each for each in parts if _padded(len(each)) == size]
        for begin in range(0, len(alike), some := max(1, MOST_PAIRS // size**2)):
            batch = alike[begin : begin + some]
            links = np.zeros((len(batch), size, size))
            there = np.zeros((len(batch), size, 1))
            for one, each in enumerate(batch):
                links[one, : len(each), : len(each)] = adjacency[each][:, each].toarray()
                there[one, : len(each)] = 1
            mass = (links.sum(2, keepdims=True) + 1) * there
            x = rng.normal(size=(len(batch), size, 2))
            for step in range(FEWEST):
                away = x[:, :, None] - x[:, None]
                push = (
                    mass[:, None] / (np.square(away).sum(3, keepdims=True) + 0.01)
                    - links[..., None] / mass.clip(1)[:, :, None]
                )
                force = (push * away).sum(2) * there
                length = np.linalg.norm(force, axis=2, keepdims=True)
                x += 0.5 * force * np.minimum(1.0, 2 * (1 - step / FEWEST) / np.maximum(length, 1e-12))
            found += [(each, x[one, : len(each)]) for one, each in enumerate(batch)]
    return found


def settled(adjacency: sparse.csr_array, rng: np.random.Generator) -> Floats:
    r"""Edges pull, nodes push each other away, until they rest: places [N, 2] of a connected graph.

    .. math::
        F_i = \sum_{j \sim i} (x_j - x_i) + m_i \sum_j m_j \frac{x_i - x_j}{|x_i - x_j|^2 + ε^2} - g\, m_i x_i,
        \qquad m = degree + 1

    The forces of ForceAtlas2. All pairs push, which a mesh makes cheap: masses are laid on a grid, convolved with the
    force of one mass by FFT, and read at the nodes, O(N + G² log G) for a grid of G × G.
    """
    nodes = adjacency.shape[0]
    degree = np.diff(adjacency.indptr).astype(np.float64)
    mass = degree + 1
    steps = int(np.clip(2e6 / max(nodes, 1), FEWEST, MOST))
    x = _slow_waves(adjacency, degree, rng, steps) * np.sqrt(nodes)
    grid = int(np.clip(2 ** np.ceil(np.log2(np.sqrt(nodes) + 1)), 32, 256))
    for step in range(steps):
        push, pull = _push(x, mass, grid), adjacency @ x - degree[:, None] * x
        force = push + pull - 0.02 * np.sqrt(nodes) * mass[:, None] * x / (np.linalg.norm(x, axis=1, keepdims=True) + 1)
        force /= mass[:, None]  # a heavy node moves no faster than a light one
        length = np.linalg.norm(force, axis=1, keepdims=True)
        extent = float(x.std()) + 1e-9
        furthest = 0.2 * extent * (1 - step / steps) ** 1.5 + 1e-6
        x += force * np.minimum(1.0, furthest / np.maximum(length, 1e-12)) * 0.5
    x = x - np.median(x, axis=0)
    radius = np.linalg.norm(x, axis=1)
    rim = RIM * float(np.quantile(radius, 0.995))  # the few that hardly anything holds would be far away
    return apart(x * np.minimum(1.0, rim / np.maximum(radius, 1e-12))[:, None], adjacency, rng)


def apart(x: Floats, adjacency: sparse.csr_array, rng: np.random.Generator) -> Floats:
    """The same places [N, 2], those closer to each other than a small share of an edge moved away from each other.

    The mesh does not see what lies within one of its cells, so that nodes with the same neighbours would lie on one point.
    The share is a sixth of the median edge, or less where the picture has no room for that many.
    """
    source, target = adjacency.nonzero()
    edge = float(np.median(np.linalg.norm(x[source] - x[target], axis=1)))
    room = float(np.sqrt(np.prod(4 * x.std(0)) / len(x)))  # of one node, were all spread evenly
    least = min(edge / 6, 0.3 * room)
    many = min(NEAREST + 1, len(x))
    for _ in range(ROUNDS):
        length, other = cKDTree(x).query(x, many, distance_upper_bound=least)
        some = np.flatnonzero(np.isfinite(length[:, 1]))  # the first is the node itself
        if not len(some):
            break
        length, other = length[some], other[some]
        close = np.isfinite(length) & (other != some[:, None])
        away = (x[some, None] - x[np.where(close, other, 0)]) / np.maximum(length, 1e-12)[..., None]
        away = np.where((length > 1e-9)[..., None], away, rng.normal(size=away.shape))  # on one point: anywhere
        missing = np.where(close, 1.05 * least - np.where(close, length, 0), 0)
        x[some] += 0.5 * (missing[..., None] * away).sum(1)
    return x


def _upright(x: Floats) -> Floats:
    """Longest from left to right, as screens are; of mean square one."""
    x = x - x.mean(0)
    x = x @ np.linalg.eigh(x.T @ x)[1][:, ::-1]
    return x / max(float(np.sqrt(np.square(x).sum(1).mean())), 1e-9)


def _padded(size: int) -> int:
    return int(2 ** np.ceil(np.log2(size)))


def _slow_waves(adjacency: sparse.csr_array, degree: Floats, rng: np.random.Generator, steps: int) -> Floats:
    """A start: two vectors that change little along edges, by block power iteration, [N, 2], of unit variance."""
    nodes = len(degree)
    root = np.sqrt(np.maximum(degree, 1))
    flat = (root / np.linalg.norm(root))[:, None]
    x = rng.normal(size=(nodes, 2))
    for _ in range(steps):
        x = 0.5 * (x + (adjacency @ (x / root[:, None])) / root[:, None])
        x -= flat * (flat.T @ x)
        x, _ = np.linalg.qr(x) if nodes > 2 else (x, None)
    x = x / root[:, None]
    x = x / np.maximum(x.std(0), 1e-9)
    # Equal nodes, such as the leaves of a star, would never part; far-flung ones would leave the rest on a heap.
    return np.sign(x) * np.sqrt(np.abs(x)) + 0.05 * rng.normal(size=x.shape)


def _push(x: Floats, mass: Floats, grid: int) -> Floats:
    """Σ_j m_i m_j (x_i - x_j) / (|x_i - x_j|² + ε²) by a mesh of grid × grid cells, [N, 2]; ε is one cell."""
    low = x.min(0)
    cell = max(float((x.max(0) - low).max()), 1e-9) / (grid - 2)
    at = (x - low) / cell
    corner = np.minimum(at.astype(np.int64), grid - 2)
    part = at - corner
    weights = [((1 - part[:, 0]) * (1 - part[:, 1]), 0, 0), (part[:, 0] * (1 - part[:, 1]), 1, 0),
               ((1 - part[:, 0]) * part[:, 1], 0, 1), (part[:, 0] * part[:, 1], 1, 1)]  # fmt: skip
    flat = [(share, (corner[:, 0] + right) * grid + corner[:, 1] + up) for share, right, up in weights]
    masses = sum(np.bincount(index, weights=share * mass, minlength=grid * grid) for share, index in flat)
    away = np.fft.fftfreq(2 * grid, 1 / (2 * grid)) * cell
    square = away[:, None] ** 2 + away[None, :] ** 2 + cell**2
    spread = np.fft.rfft2(np.reshape(masses, (grid, grid)), (2 * grid, 2 * grid))
    force = []
    for kernel in (away[:, None] / square, away[None, :] / square):
        field = np.fft.irfft2(spread * np.fft.rfft2(kernel), (2 * grid, 2 * grid))[:grid, :grid].ravel()
        force.append(sum(share * field[index] for share, index in flat))
    return mass[:, None] * np.stack(force, axis=1)
