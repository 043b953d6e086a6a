"""Features of all kinds as a few columns."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from mpnp.experts.features import LIMIT, MOST, prepare, read


def measured(nodes: int = 30, columns: int = 4) -> Tensor:
    return torch.randn(nodes, columns, generator=torch.Generator().manual_seed(0))


def words(nodes: int = 40, columns: int = 50) -> Tensor:
    return torch.poisson(0.3 * torch.ones(nodes, columns), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    "x",
    [
        torch.zeros(5, 0),
        torch.ones(5, 3),
        torch.full((5, 40), 1e30),
        torch.randn(1, 3),
        torch.eye(40),
        torch.eye(20),
        3 * torch.eye(12),
        torch.zeros(6, 100),
    ],
    ids=["none", "constant", "huge constant", "one node", "identity", "small identity", "scaled identity", "zeros"],
)
def test_what_no_two_nodes_share_says_nothing(x: Tensor) -> None:
    assert prepare(x) is None


def test_a_column_by_hand() -> None:
    """Quartiles 1 and 3: a robust deviation of 2 / 1.349. What lies far outside says no more than six of them."""
    z = prepare(torch.tensor([[0.0], [1.0], [2.0], [3.0], [4.0]]))
    assert z is not None
    torch.testing.assert_close(z.flatten(), torch.tensor([-2.0, -1, 0, 1, 2]) * 1.349 / 2)
    far = prepare(torch.tensor([[0.0], [1.0], [2.0], [3.0], [1e6]]))
    assert far is not None
    assert float(far.max() - far[2]) == pytest.approx(LIMIT)


def test_a_column_that_is_mostly_alike_is_measured_by_its_plain_deviation() -> None:
    z = prepare(torch.tensor([[0.0]] * 8 + [[5.0]] * 2))
    assert z is not None
    torch.testing.assert_close(z.square().mean().sqrt(), torch.tensor(0.8944), rtol=1e-3, atol=0)
    assert z.flatten()[:8].unique().numel() == 1 and z[9] > z[0]


@pytest.mark.parametrize("scale", [1e-30, 0.01, 1.0, 1e30])
def test_units_of_measurements_do_not_matter(scale: float) -> None:
    x = measured()
    torch.testing.assert_close(prepare(scale * x), prepare(x), rtol=1e-4, atol=1e-4)


def test_shifted_measurements_are_the_same() -> None:
    x = measured()
    torch.testing.assert_close(prepare(100 * x - torch.tensor([7.0, 0, 3, 1])), prepare(x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("x", [measured(), measured(30, 60), words(), measured(30, 400), words(40, 400)])
def test_the_order_of_columns_does_not_matter(x: Tensor) -> None:
    order = torch.randperm(x.size(1), generator=torch.Generator().manual_seed(1))
    one, two = prepare(x), prepare(x[:, order])
    assert one is not None and two is not None
    torch.testing.assert_close(one @ one.t(), two @ two.t(), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("x", [measured(), measured(30, 60), words(), measured(30, 400)])
def test_the_order_of_nodes_does_not_matter(x: Tensor) -> None:
    order = torch.randperm(x.size(0), generator=torch.Generator().manual_seed(1))
    one, two = prepare(x), prepare(x[order])
    assert one is not None and two is not None
    torch.testing.assert_close((one @ one.t())[order][:, order], two @ two.t(), rtol=1e-3, atol=1e-3)


def test_words_count_more_the_rarer_they_are() -> None:
    """Nodes 0 and 1 share a word that half of all have, nodes 2 and 3 one that is theirs alone; private words do not count."""
    x = torch.zeros(12, 40)
    x[:6, 0] = 1
    x[2:4, 1] = 1
    x[:, 2] = 1  # as good as none: everyone has it
    x[torch.arange(12), 10 + torch.arange(12)] = 1
    z = prepare(x)
    assert z is not None and z.size(1) == 3
    torch.testing.assert_close(z.norm(dim=1), torch.ones(12))
    likeness = z @ z.t()
    assert likeness[0, 1] == pytest.approx(1) and likeness[2, 3] == pytest.approx(1)
    assert likeness[2, 0] < likeness[0, 1]
    assert z[2, 1] > z[2, 0] > z[2, 2]


def test_words_said_more_often_count_more_up_to_their_scale() -> None:
    x = words()
    torch.testing.assert_close(prepare(1e30 * x), prepare(x), rtol=1e-4, atol=1e-4)
    often = x.clone()
    often[0] = often[0] * torch.linspace(1, 9, 50)
    assert not torch.allclose(prepare(often), prepare(x))  # type: ignore[arg-type]


def test_a_node_without_words_is_at_the_origin() -> None:
    x = words()
    x[5] = 0
    z = prepare(x)
    assert z is not None and not z[5].any() and z.isfinite().all()


@pytest.mark.parametrize("x", [measured(60, 400), words(60, 400)], ids=["measured", "words"])
def test_many_columns_keep_their_inner_products(x: Tensor) -> None:
    whole = prepare(x)
    assert whole is not None and whole.size(1) <= min(MOST, 59)
    few = prepare(x[:, :MOST])
    assert few is not None
    direct = torch.nn.functional.normalize(whole, dim=1)
    torch.testing.assert_close(direct.square().sum(1), torch.ones(60))
    # Rows had length one before the reduction; nearly nothing of it is lost with the last of 60 directions.
    assert float((whole.norm(dim=1) - 1).abs().max()) < 0.35
    assert float((whole.norm(dim=1) - 1).abs().mean()) < 0.05


def test_twins_stay_twins_and_constant_columns_are_left_out() -> None:
    x = measured()
    x[3] = x[7]
    x[:, 1] = 1e30
    z = prepare(x)
    assert z is not None and z.size(1) == 3
    assert torch.equal(z[3], z[7])


def test_very_many_nodes_are_measured_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a hundred thousand, quartiles come from sorting."""
    x = torch.arange(100_001.0).unsqueeze(1)
    z = prepare(x)
    assert z is not None
    torch.testing.assert_close(float(z[75_000] - z[25_000]), 1.349, rtol=1e-4, atol=0)


def test_how_much_a_node_shows_by_hand() -> None:
    """Half of the nodes have three words, half have seven, said as often as may be: one deviation below, one above."""
    x = torch.zeros(10, 40)
    x[:5, :3], x[5:, :7] = 2, 0.5
    shown = read(x)[1]
    assert shown is not None
    torch.testing.assert_close(shown.flatten(), torch.tensor([-1.0] * 5 + [1.0] * 5))
    torch.testing.assert_close(read(1e30 * x)[1], shown)


@pytest.mark.parametrize("x", [measured(30, 60), measured(), torch.eye(40), torch.ones(40, 50).triu(1).roll(25, 0)])
def test_measurements_and_what_says_nothing_have_no_amount(x: Tensor) -> None:
    assert read(x)[1] is None


def test_all_showing_as_much_have_no_amount() -> None:
    x = torch.zeros(12, 40)
    for node in range(12):
        x[node, node : node + 4] = 1
    assert read(x)[0] is not None and read(x)[1] is None


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
@pytest.mark.parametrize("x", [words(), words(40, 400), measured(30, 60), measured(), torch.eye(40)])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse_features_are_read_as_dense_ones_are(x: Tensor, layout: torch.layout) -> None:
    for sparse, dense in zip(read(x.to_sparse(layout=layout)), read(x), strict=True):
        assert (sparse is None) == (dense is None)
        if sparse is not None and dense is not None:
            torch.testing.assert_close(sparse @ sparse.t(), dense @ dense.t(), rtol=1e-4, atol=1e-4)


def test_a_stored_zero_is_none() -> None:
    x = words()
    row, column = x.nonzero().t()
    place = torch.stack([torch.cat([row, torch.tensor([0])]), torch.cat([column, (x[0] == 0).nonzero()[0]])])
    stored = torch.sparse_coo_tensor(place, torch.cat([x[row, column], torch.zeros(1)]), x.shape)
    torch.testing.assert_close(read(stored)[1], read(x)[1])
