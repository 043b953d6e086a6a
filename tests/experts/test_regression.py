"""Experts that regress labels on what nodes are like."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from mpnp.experts import context as module
from mpnp.experts.context import Context
from mpnp.experts.judge import Judge
from mpnp.experts.regression import linear, radial, spanned

from .made import both, views


def given(y: Tensor, nodes: int = 40, classes: int = 2) -> Context:
    """Every other node shows its label; there are no edges."""
    shown = torch.arange(0, nodes, 2)
    return Context(views(both([]), nodes), shown, Judge(y[shown], classes))


@pytest.fixture
def few_landmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LANDMARKS", 8)


LINE = torch.linspace(-1, 1, 40).unsqueeze(1)


def test_a_line_parts_two_classes_and_a_radius_three() -> None:
    half = (LINE > 0).long().flatten()
    said = linear(given(half), LINE)
    assert (said.argmax(1) == half).float().mean() > 0.9
    torch.testing.assert_close(said.exp().sum(1), torch.ones(40))
    middle = (LINE.abs() < 0.5).long().flatten()  # no line parts the middle from the rest
    assert (linear(given(middle), LINE).argmax(1) == middle).float().mean() < 0.7
    assert (radial(given(middle), LINE).argmax(1) == middle).float().mean() > 0.9


def test_where_a_kernel_has_few_directions_landmarks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    basis = torch.randn(40, 2, generator=torch.Generator().manual_seed(0))
    y = (basis[:, 0] > 0.2).long()
    kernel = basis @ basis.t()
    whole = spanned(given(y), kernel[:, torch.arange(0, 40, 2)])
    monkeypatch.setattr(module, "MOST_LANDMARKS", 8)
    few = given(y)
    assert few.landmarks.numel() == 8
    torch.testing.assert_close(spanned(few, kernel[:, few.landmarks]), whole, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(whole, linear(few, basis), rtol=1e-3, atol=1e-3)


def test_landmarks_span_a_radial_kernel(few_landmarks: None) -> None:
    middle = (LINE.abs() < 0.5).long().flatten()
    context = given(middle)
    assert not context.exact
    assert (radial(context, LINE).argmax(1) == middle).float().mean() > 0.85


def test_blocks_of_a_kernel_make_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    from mpnp.experts import regression

    y = (LINE > 0).long().flatten()
    whole = radial(given(y), LINE)
    monkeypatch.setattr(regression, "PART", 1)
    torch.testing.assert_close(radial(given(y), LINE), whole)


def flipped(y: Tensor, node: int) -> Tensor:
    other = y.clone()
    other[node] = 1 - other[node]
    return other


@pytest.mark.parametrize("landmarks", [512, 8])
@pytest.mark.parametrize("expert", ["linear", "radial", "spanned"])
def test_the_own_label_has_no_part_in_the_opinion(expert: str, landmarks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the shares of the classes, the λ and the sharpness, which all labels choose together: here they are given."""
    monkeypatch.setattr(module, "MOST_LANDMARKS", landmarks)
    y = (LINE > 0.3).long().flatten()

    def said(labels: Tensor) -> Tensor:
        context = given(labels)
        context.judge.shares = torch.full((2,), 0.5).double()
        if landmarks == 8:
            context.landmarks = torch.arange(0, 40, 5)
        choose = lambda fit: (2, 4.0, (4 * (fit.left_out[2] + 0.5)).log_softmax(-1))  # noqa: E731
        monkeypatch.setattr(context.judge, "choose", choose)
        if expert == "spanned":
            return spanned(context, torch.exp(-torch.cdist(LINE, LINE[context.landmarks])))
        return (linear if expert == "linear" else radial)(context, LINE)

    one, two = said(y), said(flipped(y, 10))
    torch.testing.assert_close(one[10], two[10], rtol=1e-4, atol=1e-4)
    assert not torch.allclose(one[11], two[11], atol=1e-3)


@pytest.mark.parametrize("basis", [torch.zeros(40, 3), torch.ones(40, 3), LINE.expand(-1, 3), 1e6 * LINE, 1e-12 * LINE])
@pytest.mark.parametrize("landmarks", [512, 8])
def test_ill_conditioned_kernels_give_probabilities(
    basis: Tensor, landmarks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_LANDMARKS", landmarks)
    context = given((LINE > 0).long().flatten())
    for said in (
        linear(context, basis),
        radial(context, basis),
        spanned(context, basis @ basis[context.landmarks].t()),
    ):
        assert said.isfinite().all()
        torch.testing.assert_close(said.exp().sum(1), torch.ones(40))
