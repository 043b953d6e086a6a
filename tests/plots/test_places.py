"""Where nodes are drawn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from mpnp.plots import places as layout


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


def parts() -> tuple[np.ndarray, list[np.ndarray]]:
    """A large ring, three small ones, a pair, and nodes without edges: edges and members."""
    edges, members, first = [], [], 0
    for size in (100, 6, 6, 9, 2):
        edges.append(ring(size)[:, : size if size > 2 else 1] + first)
        members.append(np.arange(first, first + size))
        first += size
    return np.concatenate(edges, axis=1), [*members, *(np.array([first + i]) for i in range(12))]


def test_parts_lie_side_by_side_and_single_nodes_aside() -> None:
    edges, members = parts()
    x = layout.force_directed(edges, 135)
    boxes = [(x[each].min(0), x[each].max(0)) for each in members]
    for i, (low, high) in enumerate(boxes):
        assert all((low > h).any() or (high < lo).any() for lo, h in boxes[:i])  # they do not overlap
    assert x[123:, 1].max() < x[:123, 1].min()


def test_parts_of_a_kind_have_a_like_size() -> None:
    edges, members = parts()
    x = layout.force_directed(edges, 135)
    spread = [np.linalg.norm(x[each] - x[each].mean(0), axis=1).mean() / np.sqrt(len(each)) for each in members[:5]]
    assert max(spread) < 1.5 * min(spread)


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


@pytest.mark.parametrize("leaves", [70, 700])
def test_nodes_with_the_same_neighbours_lie_apart(leaves: int) -> None:
    """Five hubs in a row, each with so many leaves that nothing tells one from another."""
    hubs, n = 5, 5 + 5 * leaves
    along = np.stack([np.arange(hubs - 1), np.arange(1, hubs)])
    out = np.stack([np.repeat(np.arange(hubs), leaves), np.arange(hubs, n)])
    edges = np.concatenate([along, out], axis=1)
    places = layout.force_directed(edges, n)
    nearest = cKDTree(places).query(places, 2)[0][:, 1]
    edge = np.median(np.linalg.norm(places[edges[0]] - places[edges[1]], axis=1))
    assert nearest.min() > 0.35 * edge * np.sqrt(
        np.pi / leaves
    )  # the leaves of a hub share a disc of one edge's radius
    assert len(np.unique(places.round(3), axis=0)) == n
