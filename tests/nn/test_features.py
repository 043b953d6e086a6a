"""Features as a network reads them, by hand."""

from __future__ import annotations

import torch

from mpnp.nn.features import Logs, spread, waves


def test_the_spread_of_a_constant_is_one() -> None:
    torch.testing.assert_close(spread(torch.tensor([[1.0, 5], [3, 5]])), torch.tensor([1.0, 1]))


def test_places_at_several_scales_by_hand() -> None:
    x = torch.tensor([[0.0, torch.pi / 4]])
    half = 0.5**0.5
    torch.testing.assert_close(waves(x, 2), torch.tensor([[0, torch.pi / 4, 0, half, 0, 1, 1, half, 1, 0]]))
    assert waves(x, 0) is x


def test_logs_of_amounts_by_hand() -> None:
    """asinh(3) = ln(3 + √10), far out asinh(a) = ln(2 a); the spread of ±1 is 1."""
    x = torch.tensor([[3.0, 1e4, 0]]) / 25
    torch.testing.assert_close(Logs(3)(x), torch.tensor([[3 + 10**0.5, 2e4, 1]]).log())

    raw = torch.tensor([[1.0, 5], [3, 5], [1, 5], [3, 5]])  # mean 2, spread 1, and a constant
    bent = Logs(2)
    bent.standardise_by(raw, torch.tensor([2.0, 5]), torch.ones(2))
    torch.testing.assert_close(
        bent(raw - torch.tensor([2.0, 5])), raw[:, :1] * torch.tensor([1.0, 0]) - torch.tensor([2.0, 0])
    )
