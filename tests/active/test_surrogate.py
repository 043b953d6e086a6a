"""The stand-in for a model that looks ahead: a Gaussian process, checked against fitting it anew."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.active.surrogate import NOISE, Surrogate
from mpnp.experts.views import Views


def two_rings(size: int = 6) -> Views:
    """Two rings without an edge between them; features tell the rings apart, and a little more."""
    around = torch.arange(size)
    edges = torch.stack([around, around.roll(1)])
    x = torch.randn(2 * size, 3, generator=torch.Generator().manual_seed(0)) / 3
    x[:size, 0] += 2
    return Views.of(Data(x=x, edge_index=torch.cat([edges, edges + size], 1)))


def even(nodes: int = 12) -> Tensor:
    return torch.full((nodes, 2), 0.5)


def stand_in(shown: list[int], y: list[int], candidates: list[int]) -> Surrogate:
    judged = torch.arange(12)
    return Surrogate(
        two_rings(), torch.tensor(shown).long(), torch.tensor(y).long(), even(), torch.tensor(candidates), judged
    )


def test_an_answer_reaches_its_own_ring_more_than_the_other() -> None:
    reach = stand_in([0, 6], [0, 1], [3, 9]).reach
    assert reach[[2, 4], 0].min() > reach[6:, 0].max()
    assert reach[[8, 10], 1].min() > reach[:6, 1].max()
    assert reach[3, 0] == pytest.approx(float(reach[9, 1]), abs=0.2)


def test_beliefs_move_towards_the_answer_and_not_on_average() -> None:
    model = stand_in([0, 6], [0, 1], [3])
    (share, first), (other, second) = model.after(torch.tensor([[0, 1]]))
    assert float(share) + float(other) == pytest.approx(1)
    assert first[4, 0, 0] > 0.5 > second[4, 0, 0]
    torch.testing.assert_close((first + second)[:, 0] / 2, even(), atol=1e-5, rtol=0)
    torch.testing.assert_close(first.sum(-1), torch.ones(12, 1))


def test_settling_a_candidate_is_labelling_it() -> None:
    """Weights of the likenesses follow from the labels, so these are held the same by labels that say nothing of them."""
    before = stand_in([], [], [3, 9])
    torch.testing.assert_close(before.weights, torch.full_like(before.weights, 1 / before.weights.numel()))
    before.settle(0)
    assert float(before.among[0, 0]) < NOISE  # what is answered varies no longer
    own = stand_in([], [], [3, 9])
    k, c = own.among, own.across
    torch.testing.assert_close(before.among[1, 1], k[1, 1] - k[0, 1] ** 2 / (k[0, 0] + NOISE))
    torch.testing.assert_close(before.across[:, 1], c[:, 1] - c[:, 0] * k[0, 1] / (k[0, 0] + NOISE))


def test_what_predicts_the_labels_weighs_more() -> None:
    """Labels follow the rings, which the features tell apart, or do not."""
    by_ring = stand_in([0, 2, 4, 6, 8, 10], [0, 0, 0, 1, 1, 1], [1]).weights
    mixed = stand_in([0, 2, 4, 6, 8, 10], [0, 1, 0, 0, 1, 0], [1]).weights
    assert by_ring[0] > mixed[0]
    assert float(by_ring.sum()) == pytest.approx(1)


def test_graphs_without_features_or_edges() -> None:
    bare = Views.of(Data(x=torch.zeros(4, 0), edge_index=torch.empty(2, 0, dtype=torch.long)))
    reach = Surrogate(bare, torch.tensor([0]), torch.tensor([1]), even(4), torch.tensor([1, 2]), torch.arange(4)).reach
    assert reach.shape == (4, 2) and bool(reach.isfinite().all())
