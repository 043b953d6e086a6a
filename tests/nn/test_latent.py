"""The latent's distribution: bounded spread, any leading shape."""

from __future__ import annotations

import pytest
import torch

from mpnp.nn.latent import LatentHead


@pytest.mark.parametrize("shape", [(3,), (3, 2), (3, 2, 5)])
def test_shapes(shape: tuple[int, ...]) -> None:
    q = LatentHead(4, 6, 7)(torch.randn(*shape, 4))
    assert q.loc.shape == q.scale.shape == (*shape, 7)


def test_the_spread_lies_between_a_tenth_and_one() -> None:
    torch.manual_seed(0)
    head = LatentHead(4, 64, 32)
    mild = head(torch.randn(200, 4)).scale
    assert (mild > 0.1).all() and (mild < 1).all()
    wild = head(1e4 * torch.randn(200, 4)).scale  # the sigmoid rounds to 0 or 1
    assert wild.min().item() == pytest.approx(0.1) and wild.max().item() == pytest.approx(1.0)


def test_by_hand() -> None:
    head = LatentHead(2, 2, 1)
    with torch.no_grad():
        head.hidden.weight.copy_(torch.tensor([[1.0, 0], [0, 1]]))
        head.hidden.bias.copy_(torch.tensor([0.0, -1]))
        head.mean.weight.copy_(torch.tensor([[2.0, 3]]))
        head.mean.bias.fill_(0.5)
        head.scale.weight.copy_(torch.tensor([[1.0, -1]]))
        head.scale.bias.fill_(-1)
    q = head(torch.tensor([[1.0, 0.5], [-1, 3]]))
    # ReLU(r) = (1, 0) and (0, 2); σ = 0.1 + 0.9 sigmoid(0) and 0.1 + 0.9 sigmoid(-3).
    torch.testing.assert_close(q.loc, torch.tensor([[2.5], [6.5]]))
    torch.testing.assert_close(q.scale, torch.tensor([[0.55], [0.1 + 0.9 / (1 + 2.718281828**3)]]))


def test_a_spread_may_be_the_variance() -> None:
    torch.manual_seed(0)
    head = LatentHead(3, 4, 2)
    r = torch.randn(5, 3)
    deviation = head(r).scale
    head.variance = True
    torch.testing.assert_close(head(r).scale ** 2, deviation)
