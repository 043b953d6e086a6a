"""What there is to see without labels."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.experts import views as module
from mpnp.experts.views import Views

from .made import both, two_towns, views


def clustering(edges: Tensor, nodes: int) -> list[float]:
    return views(edges, nodes)._clustering.flatten().tolist()


def test_features_are_seen_smoothed_and_set_against_the_neighbours() -> None:
    """On the path 0 - 1 - 2 with node 3 apart; the prepared features stand for themselves."""
    seen = Views(views(both([(0, 1), (1, 2)]), 4).walks, torch.tensor([[3.0], [1.0], [-3.0], [-1.0]]))
    linear = {name: view.flatten().tolist() for name, view in seen.linear.items()}
    assert linear["x"] == [3, 1, -3, -1]
    assert linear["ax"] == [1, 0, 1, -1]  # who has no neighbours keeps what it has
    assert linear["hx"] == [2, 1, -4, 0]
    assert linear["h2x"] == [1, 2, -5, 0]  # x - 2 ax + a2x with a2x = (0, 1, 0, -1)
    assert linear["a2x"] == [0, 1, 0, -1]
    assert set(linear) == {"x", "ax", "a2x", "pprx", "farx", "hx", "h2x"}
    assert set(seen.radial) == {"struct", "x_rbf", "ax_rbf", "pprx_rbf"}


def test_smoothing_along_pagerank_is_the_sum_it_stands_for() -> None:
    seen = Views.of(two_towns(12))
    assert seen.x is not None
    step = seen.walks.normalised(torch.eye(12))
    dense = sum((0.12 * 0.88**t * torch.linalg.matrix_power(step, t) for t in range(10)), torch.zeros(12, 12))
    dense = dense + 0.88**10 * torch.linalg.matrix_power(step, 10)
    torch.testing.assert_close(seen.linear["pprx"], dense @ seen.x, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("x", [None, torch.zeros(3, 0), torch.ones(3, 2)])
def test_without_features_the_structure_is_left(x: Tensor | None) -> None:
    seen = Views.of(Data(x=x, edge_index=both([(0, 1)]), num_nodes=3))
    assert seen.x is None and seen.linear == {} and set(seen.radial) == {"struct"}


def test_clustering_by_hand() -> None:
    assert clustering(both([(0, 1), (1, 2), (2, 0)]), 3) == [1, 1, 1]
    assert clustering(both([(0, 1), (1, 2), (2, 3), (3, 0)]), 5) == [0, 0, 0, 0, 0]
    # A triangle with a tail at 0: one of the three pairs of neighbours of 0 know each other.
    assert clustering(both([(0, 1), (1, 2), (2, 0), (0, 3)]), 4) == pytest.approx([1 / 3, 1, 1, 0])


def test_where_triangles_are_too_many_they_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EXACT", 0)
    everyone = [(i, j) for i in range(20) for j in range(i)]
    torn = [(i, j) for i, j in everyone if (i + j) % 2]  # between odd and even alone: no triangle
    knit, loose = clustering(both(everyone), 20), clustering(both(torn), 20)
    assert sum(knit) / 20 > 0.6 and sum(loose) / 20 < 0.3


def test_places_that_are_alike_look_alike() -> None:
    """A ladder of two squares: its corners are alike, and so are its two middle nodes; a node apart is neither."""
    structure = views(both([(0, 1), (1, 2), (2, 5), (5, 4), (4, 3), (3, 0), (1, 4)]), 7).structure
    torch.testing.assert_close(structure[[0, 2, 3]], structure[[5, 5, 5]], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(structure[1], structure[4], rtol=1e-4, atol=1e-4)
    assert float((structure[0] - structure[1]).abs().max()) > 0.5
    assert float((structure[0] - structure[6]).abs().max()) > 0.5


@pytest.mark.parametrize("nodes", [3, 30, 1000])
def test_where_all_places_are_alike_structure_says_nothing(nodes: int) -> None:
    """Not even by what rounding leaves of a difference."""
    ring = torch.arange(nodes)
    assert not views(torch.cat([torch.stack([ring, ring.roll(k)]) for k in (1, -1)], 1), nodes).structure.any()
    assert not views(both([]), nodes).structure.any()


def test_directions_are_part_of_the_structure() -> None:
    edges = torch.tensor([[0, 1, 2], [1, 2, 3]])
    assert views(edges, 4).structure.size(1) == views(both([(0, 1), (1, 2), (2, 3)]), 4).structure.size(1) + 2


def test_how_much_is_shown_stands_beside_what_the_neighbours_show() -> None:
    x = torch.zeros(4, 40)
    x[:2, :3], x[2:, :9] = 1, 1
    seen = views(both([(0, 1), (1, 2)]), 4, x).radial["amount"]
    torch.testing.assert_close(seen, torch.tensor([[-1.0, -1], [-1, 0], [1, -1], [1, 1]]))
    assert "amount" not in views(both([(0, 1)]), 4, torch.randn(4, 3)).radial
