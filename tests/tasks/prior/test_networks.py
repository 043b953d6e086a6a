"""Made-up networks."""

from __future__ import annotations

import numpy as np
import pytest

from mpnp.tasks.prior import networks


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def pairs(edges: np.ndarray) -> set[tuple[int, int]]:
    return {(min(a, b), max(a, b)) for a, b in edges.T.tolist()}


def test_edges_go_both_ways_once_and_without_loops() -> None:
    ends = networks.both_ways(np.array([[0, 1, 2, 2, 0], [1, 0, 2, 0, 1]]), 3)
    assert sorted(map(tuple, ends.T.tolist())) == [(0, 1), (0, 2), (1, 0), (2, 0)]
    assert networks.both_ways(np.zeros((2, 0), dtype=np.int64), 3).shape == (2, 0)


def test_a_ring_a_board_and_a_tree_by_hand() -> None:
    assert pairs(networks.ring(random(), 5, 1, 0.0)) == {(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)}
    tree = networks.tree(random(), 20)
    assert tree.shape == (2, 19) and (tree[1] < tree[0]).all()  # every node but the first below an earlier one
    board = pairs(networks.board(random(), 9))
    straight = {(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8), (0, 3), (1, 4), (2, 5), (3, 6), (4, 7), (5, 8)}
    assert straight <= board and not {(2, 3), (5, 6)} & board  # rows do not run into each other


def test_points_are_joined_to_the_nearest() -> None:
    places = np.array([[0.0, 0], [1, 0], [10, 0], [11, 0]])
    assert pairs(networks.near_in_space(random(), places, 1)) == {(0, 1), (2, 3)}


def test_hubs_grow() -> None:
    degree = np.bincount(networks.preferential(random(), 500, 2).ravel())
    assert degree.max() > 10 * np.median(degree)


def test_blocks_meet_in_proportion_to_their_affinity() -> None:
    block = np.arange(100) % 2
    apart = networks.pairs_of_blocks(random(), block, np.eye(2), np.ones(100), 500)
    assert (block[apart[0]] == block[apart[1]]).all() and apart.shape == (2, 500)
    crossed = networks.pairs_of_blocks(random(), block, 1 - np.eye(2), np.ones(100), 500)
    assert (block[crossed[0]] != block[crossed[1]]).all()
    assert networks.pairs_of_blocks(random(), block, np.zeros((2, 2)), np.ones(100), 5).shape == (2, 0)
    eager = np.where(np.arange(100) < 10, 50.0, 1.0)
    drawn = networks.pairs_of_blocks(random(), block, np.ones((2, 2)), eager, 2000)
    assert (drawn < 10).mean() == pytest.approx(500 / 590, abs=0.05)


@pytest.mark.parametrize("seed", range(30))
def test_any_network_has_nodes_within_bounds(seed: int) -> None:
    edges = networks.any_network(random(seed), 70)
    assert edges.shape[0] == 2 and edges.size and edges.min() >= 0 and edges.max() < 70
