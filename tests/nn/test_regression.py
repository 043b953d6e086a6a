"""Labels regressed on representations, against scikit-learn's ridge regression."""

from __future__ import annotations

import pytest
import torch
from sklearn.linear_model import Ridge
from torch import Tensor

from mpnp.nn.regression import Regression

WIDTH, RANK, CLASSES = 5, 4, 3
GRAPH = torch.tensor([0, 0, 0, 0, 2, 2, 2, 2, 2, 3])  # graph 1 is empty, no label is known of graph 3
CONTEXT = torch.tensor([0, 1, 3, 5, 6, 7])


def regression() -> Regression:
    torch.manual_seed(0)
    return Regression(WIDTH, RANK)


def nodes() -> tuple[Tensor, Tensor]:
    """Representations and one-hot labels."""
    generator = torch.Generator().manual_seed(1)
    u = torch.randn(GRAPH.numel(), WIDTH, generator=generator)
    return u, torch.eye(CLASSES)[torch.randint(CLASSES, (GRAPH.numel(),), generator=generator)]


def answers(model: Regression, u: Tensor, y: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
    solution = model.solve(u[context], y[context], GRAPH[context], int(GRAPH.max()) + 1)
    return model(u, GRAPH, solution)


def test_every_graph_and_ridge_is_a_ridge_regression_of_its_own() -> None:
    model, (u, y) = regression(), nodes()
    evidence, doubt = answers(model, u, y, CONTEXT)
    phi = model.directions(u).detach()
    for graph in (0, 2):
        here, known = graph == GRAPH, CONTEXT[GRAPH[CONTEXT] == graph]
        for number, ridge in enumerate(model.log_ridge.exp().tolist()):
            told = y[known] - y[known].mean(0)
            expected = Ridge(alpha=ridge, fit_intercept=False).fit(phi[known], told).predict(phi[here])
            torch.testing.assert_close(evidence[here][..., number], torch.as_tensor(expected).float())
            # As a Gaussian process: what is left of the prior's variance |φ|² once the context is known.
            k, to_known = phi[known] @ phi[known].T + ridge * torch.eye(known.numel()), phi[here] @ phi[known].T
            left = phi[here].square().sum(1) - (to_known @ k.inverse() * to_known).sum(1)
            torch.testing.assert_close(doubt[here][:, number], left, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("context", [CONTEXT, torch.zeros(0, dtype=torch.long)], ids=["others know", "no one knows"])
def test_without_a_label_there_is_no_evidence_and_all_doubt(context: Tensor) -> None:
    model, (u, y) = regression(), nodes()
    evidence, doubt = answers(model, u, y, context)
    alone = slice(-1, None) if context.numel() else slice(None)
    assert (evidence[alone] == 0).all()
    torch.testing.assert_close(doubt[alone], model.directions(u[alone]).square().sum(1, keepdim=True).expand(-1, 3))


def test_some_of_the_nodes_are_answered_as_all_are() -> None:
    model, (u, y) = regression(), nodes()
    solution = model.solve(u[CONTEXT], y[CONTEXT], GRAPH[CONTEXT], 4)
    whole = model(u, GRAPH, solution)
    for some in (slice(2, 6), slice(5, 9), slice(9, 10), slice(3, 3)):
        for part, expected in zip(model(u[some], GRAPH[some], solution), whole, strict=True):
            torch.testing.assert_close(part, expected[some])


def test_very_many_labels_do_not_drown_the_ridge() -> None:
    """In single precision the sum of so many squares would not be positive definite."""
    model = regression()
    with torch.no_grad():
        model.log_ridge.fill_(-12)
    u = torch.ones(200_000, WIDTH) + 1e-4 * torch.randn(200_000, WIDTH, generator=torch.Generator().manual_seed(0))
    solution = model.solve(u, torch.eye(2)[torch.arange(200_000) % 2], torch.zeros(200_000, dtype=torch.long), 1)
    evidence, doubt = model(u[:5], torch.zeros(5, dtype=torch.long), solution)
    assert evidence.isfinite().all() and (doubt >= -1e-6).all()
