"""Ridge regression: leave-one-out predictions against fits without the node."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from mpnp.experts import parts
from mpnp.experts import ridge as module
from mpnp.experts.ridge import LAMBDAS, Fit, kernel_ridge, ridge, spanned_ridge

N, C = 9, 3


def data(width: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(width)
    basis = torch.randn(N, width, generator=generator, dtype=torch.double)
    return basis, torch.randn(N, C, generator=generator, dtype=torch.double)


def refitted(kernel: Tensor, y: Tensor, lam: float) -> Tensor:
    """Every node from all others, one fit each."""
    values = torch.empty_like(y)
    for i in range(N):
        rest = torch.arange(N) != i
        alpha = torch.linalg.solve(kernel[rest][:, rest] + lam * torch.eye(N - 1, dtype=torch.double), y[rest])
        values[i] = kernel[i, rest] @ alpha
    return values


def of(kind: str, basis: Tensor, y: Tensor) -> Fit:
    return ridge(basis, y) if kind == "linear" else kernel_ridge(basis @ basis.t(), y)


@pytest.mark.parametrize("kind", ["linear", "kernel"])
@pytest.mark.parametrize("width", [2, 9, 20])  # fewer columns than nodes, as many, more
def test_left_out_is_as_if_the_node_had_not_been_there(kind: str, width: int) -> None:
    basis, y = data(width)
    kernel = basis @ basis.t()
    fit = of(kind, basis, y)
    for place, share in enumerate(LAMBDAS):
        lam = share * float(kernel.diagonal().mean())
        expected = refitted(kernel, y, lam)
        own = (kernel @ torch.linalg.inv(kernel + lam * torch.eye(N, dtype=torch.double))).diagonal()
        far = own < 0.999  # beyond, a node is hardly seen by others and its share in its own fit is bounded
        torch.testing.assert_close(fit.left_out[place][far], expected[far], rtol=1e-6, atol=1e-6)
        alpha = torch.linalg.solve(kernel + lam * torch.eye(N, dtype=torch.double), y)
        fitted = basis @ fit.weights(place) if kind == "linear" else kernel @ fit.weights(place)
        torch.testing.assert_close(fitted, kernel @ alpha, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_the_own_label_has_no_part_in_what_is_left_out(kind: str) -> None:
    basis, y = data(4)
    other = y.clone()
    other[3] += 5
    one, two = of(kind, basis, y).left_out, of(kind, basis, other).left_out
    torch.testing.assert_close(one[:, 3], two[:, 3])
    assert not torch.allclose(one[:, 4], two[:, 4])


@pytest.mark.parametrize("kind", ["linear", "kernel"])
@pytest.mark.parametrize("basis", ["nothing", "one value", "twins", "huge", "tiny", "one node"])
def test_kernels_without_an_inverse_give_finite_values(kind: str, basis: str) -> None:
    x, y = data(3)
    given = {
        "nothing": torch.zeros(N, 3),
        "one value": torch.ones(N, 3),
        "twins": x[:1].expand(N, -1),
        "huge": 1e15 * x,
        "tiny": 1e-15 * x,
        "one node": x[:1],
    }[basis].double()
    fit = of(kind, given, y[: given.size(0)])
    assert fit.left_out.isfinite().all() and fit.weights(0).isfinite().all()
    assert fit.left_out.shape == (len(LAMBDAS), given.size(0), C)
    if basis == "nothing":
        assert not fit.left_out.any()


def test_columns_spanned_by_landmarks_are_regressed_as_if_written_out() -> None:
    columns, y = data(4)
    half = torch.randn(4, 4, generator=torch.Generator().manual_seed(1), dtype=torch.double)
    plain, short = ridge(columns @ half, y), spanned_ridge(columns, half, y)
    torch.testing.assert_close(short.left_out, plain.left_out)
    for place in range(len(LAMBDAS)):
        torch.testing.assert_close(short.weights(place), half @ plain.weights(place))


def test_nodes_and_columns_may_come_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = torch.Generator().manual_seed(0)
    columns, y = torch.randn(150, 5, generator=generator), torch.randn(150, C, generator=generator)
    half = torch.randn(5, 5, generator=generator, dtype=torch.double)
    whole = spanned_ridge(columns, half, y)
    monkeypatch.setattr(parts, "PART", 1)  # 64 rows
    monkeypatch.setattr(module, "BLOCK", 2)
    again = spanned_ridge(columns, half, y)
    torch.testing.assert_close(again.left_out, whole.left_out)
    torch.testing.assert_close(again.weights(2), whole.weights(2))
