"""Where nodes are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from mpnp.studio import layout


def ring(nodes: int) -> np.ndarray:
    around = np.arange(nodes)
    return np.stack([around, (around + 1) % nodes])


def test_own_places_are_kept_in_shape() -> None:
    places = layout.place(ring(3), 3, np.array([[10, 0], [30, 0], [20, 5]]))
    assert places.tolist() == [[-1, -0.25], [1, -0.25], [0, 0.25]]


def test_neighbours_lie_together() -> None:
    edges = ring(40)
    x = layout.place(edges, 40)
    apart = np.linalg.norm(x[edges[0]] - x[edges[1]], axis=1)
    every = np.linalg.norm(x[:, None] - x[None], axis=2)
    assert apart.max() < 0.5 * every.max()
    assert np.abs(x).max() == pytest.approx(1)


def test_two_groups_come_apart() -> None:
    rng = np.random.default_rng(0)
    pairs = [(a, b) for a in range(40) for b in range(a) if rng.random() < (0.5 if a // 20 == b // 20 else 0.01)]
    x = layout.force_directed(np.array(pairs).T, 40)
    one, two = x[:20], x[20:]
    assert np.linalg.norm(one.mean(0) - two.mean(0)) > one.std() + two.std()


def test_nodes_without_edges_lie_on_a_rim() -> None:
    edges = np.stack([np.arange(19), np.arange(1, 20)])
    x = layout.force_directed(edges, 30)
    assert np.isfinite(x).all()
    assert len({tuple(row) for row in x.round(6).tolist()}) == 30


@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_tiny_graphs(nodes: int) -> None:
    x = layout.place(np.zeros((2, 0), dtype=np.int64), nodes)
    assert x.shape == (nodes, 2) and np.isfinite(x).all()


def test_a_layout_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = layout.place(ring(23), 23)
    monkeypatch.setattr(layout, "force_directed", lambda *_: pytest.fail("computed again"))
    assert (layout.place(ring(23), 23) == first).all()


def test_the_mesh_pushes_as_pairs_do() -> None:
    """Two far groups of masses: what the mesh makes of them is what the sum over pairs is."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 20])
    mass = rng.integers(1, 5, 60).astype(float)
    away = x[:, None] - x[None]
    cell = (x.max(0) - x.min(0)).max() / 126
    exact = mass[:, None] * (mass[None, :, None] * away / ((away**2).sum(-1, keepdims=True) + cell**2)).sum(1)
    found = layout._push(x, mass, 128)
    assert np.linalg.norm(found - exact) < 0.1 * np.linalg.norm(exact)
