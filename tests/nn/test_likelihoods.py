"""One contract for every likelihood, and the paper's by hand."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from mpnp.nn.likelihoods import LIKELIHOODS, GaussianLikelihood

CLASSES = 4


@pytest.mark.parametrize("versions", [(), (3,), (3, 2)])
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_contract(name: str, versions: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    likelihood = LIKELIHOODS[name]()
    out = (3 * torch.randn(5, *versions, likelihood.outputs(CLASSES))).requires_grad_()
    y = torch.tensor([0, 3, 1, 1, 2])

    log_p = likelihood.log_prob(out, y)
    assert log_p.shape == (5, *versions)
    distribution = likelihood(out)
    value = F.one_hot(y, CLASSES).float() if len(distribution.event_shape) else y
    for _ in versions:
        value = value.unsqueeze(1)
    value = value.expand(5, *versions, *distribution.event_shape)
    torch.testing.assert_close(log_p, distribution.log_prob(value))

    p = likelihood.probabilities(out)
    assert p.shape == (5, *versions, CLASSES)
    torch.testing.assert_close(p.sum(-1), torch.ones(5, *versions))
    assert (p > 0).all()
    torch.testing.assert_close(p, distribution.mean if name == "gaussian" else distribution.probs)  # type: ignore[attr-defined]

    scale = likelihood.scale(out)
    if name == "gaussian":
        torch.testing.assert_close(scale, distribution.stddev)
    else:
        assert scale is None

    (gradient,) = torch.autograd.grad(log_p.sum(), out)
    assert torch.isfinite(gradient).all() and (gradient.abs().sum(-1) > 0).all()


@pytest.mark.parametrize("size", [100.0, -100.0])
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_extreme_outputs_stay_finite(name: str, size: float) -> None:
    likelihood = LIKELIHOODS[name]()
    out = torch.linspace(-size, size, likelihood.outputs(CLASSES)).repeat(CLASSES, 1).requires_grad_()
    log_p = likelihood.log_prob(out, torch.arange(CLASSES))
    (gradient,) = torch.autograd.grad(log_p.sum(), out)
    assert torch.isfinite(log_p).all() and torch.isfinite(gradient).all()


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_a_larger_score_is_a_likelier_class(name: str) -> None:
    likelihood = LIKELIHOODS[name]()
    out = torch.zeros(CLASSES, likelihood.outputs(CLASSES))
    out[:, 2] = 1
    log_p = likelihood.log_prob(out, torch.arange(CLASSES))
    assert log_p.argmax() == 2
    assert likelihood.probabilities(out).argmax(-1).tolist() == [2] * CLASSES


def test_the_papers_gaussian_by_hand() -> None:
    """softmax(μ) = (1/4, 3/4); softplus(σ) = (1, 1/2), so scales 1 and 0.55; label 1 is the point (0, 1).

    log N(0; 1/4, 1) = -0.5 · 0.0625 - 0.918939 = -0.950189
    log N(1; 3/4, 0.55) = -0.5 · (0.25 / 0.55)² - ln 0.55 - 0.918939 = -0.424407
    """
    out = torch.tensor([[0, math.log(3), math.log(math.e - 1), math.log(math.exp(0.5) - 1)]])
    likelihood = GaussianLikelihood()
    torch.testing.assert_close(likelihood.probabilities(out), torch.tensor([[0.25, 0.75]]))
    torch.testing.assert_close(likelihood.log_prob(out, torch.tensor([1])), torch.tensor([-1.374596]))
    torch.testing.assert_close(likelihood(out).base_dist.stddev, torch.tensor([[1.0, 0.55]]))


def test_a_spread_may_be_the_variance() -> None:
    out = torch.randn(3, 2 * CLASSES, generator=torch.Generator().manual_seed(0))
    deviation, variance = GaussianLikelihood().scale(out), GaussianLikelihood(variance=True).scale(out)
    torch.testing.assert_close(variance**2, deviation)
