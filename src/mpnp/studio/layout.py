"""Where to draw the nodes: their own places if they have some, else where forces along the edges put them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..files import replacing
from ..tasks.base import cache_folder

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

VERSION = 1  # of the forces: a layout kept by another version is computed again
FEWEST, MOST = 200, 500  # steps: a large graph gets fewer, a small one has time to unfold
RIM = 1.15  # where nodes without edges are drawn, in units of the radius of the rest


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
    r"""Edges pull, nodes push each other away, until they rest: [N, 2].

    .. math::
        F_i = \sum_{j \sim i} (x_j - x_i) + m_i \sum_j m_j \frac{x_i - x_j}{|x_i - x_j|^2 + ε^2} - g\, m_i x_i,
        \qquad m = degree + 1

    The forces of ForceAtlas2. All pairs push, which a mesh makes cheap: masses are laid on a grid, convolved with the
    force of one mass by FFT, and read at the nodes, O(N + G² log G) for a grid of G × G. ``once`` [2, E]: each edge once.
    """
    rng = np.random.default_rng(seed)
    ones = np.ones(2 * once.shape[1])
    adjacency = sparse.csr_array((ones, np.concatenate([once, once[::-1]], axis=1)), shape=(nodes, nodes))
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
    return _with_rim(x, degree)


def _with_rim(x: Floats, degree: Floats) -> Floats:
    """Nodes that no edge holds would fly away: they, and the few that are nearly as free, are drawn on a rim around the rest."""
    x = x - np.median(x, axis=0)
    radius = np.linalg.norm(x, axis=1)
    rim = RIM * float(np.quantile(radius[degree > 0], 0.995)) if (degree > 0).any() else 1.0
    x *= np.minimum(1.0, rim / np.maximum(radius, 1e-12))[:, None]
    free = np.flatnonzero(degree == 0)
    angle = 2 * np.pi * np.arange(len(free)) / max(len(free), 1)
    x[free] = rim * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return x @ np.linalg.eigh(x.T @ x)[1][:, ::-1]  # longest from left to right, as screens are


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
