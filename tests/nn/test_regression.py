"""Labels regressed on representations, against scikit-learn's ridge regression."""

from __future__ import annotations

import pytest
import torch
from sklearn.linear_model import Ridge
from torch import Tensor
from torch_geometric import EdgeIndex
from torch_geometric.data import Data

from mpnp.nn.neighbours import Neighbours
from mpnp.nn.regression import Regression

WIDTH, RANK, CLASSES = 5, 4, 3
GRAPH = torch.tensor([0, 0, 0, 0, 2, 2, 2, 2, 2, 3])  # graph 1 is empty, no label is known of graph 3
CONTEXT = torch.tensor([0, 1, 3, 5, 6, 7])


def regression() -> Regression:
    torch.manual_seed(0)
    return Regression(WIDTH, RANK, smoothing=10)


def nodes() -> tuple[Tensor, Tensor]:
    """Representations and one-hot labels."""
    generator = torch.Generator().manual_seed(1)
    u = torch.randn(GRAPH.numel(), WIDTH, generator=generator)
    return u, torch.eye(CLASSES)[torch.randint(CLASSES, (GRAPH.numel(),), generator=generator)]


def answers(model: Regression, u: Tensor, y: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
    phi = model.directions(u, None)
    return model(phi, GRAPH, model.solve(phi[context], y[context], GRAPH[context], int(GRAPH.max()) + 1))


def test_every_graph_and_ridge_is_a_ridge_regression_of_its_own() -> None:
    model, (u, y) = regression(), nodes()
    evidence, doubt = answers(model, u, y, CONTEXT)
    phi = model.directions(u, None).detach()
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
    torch.testing.assert_close(
        doubt[alone], model.directions(u[alone], None).square().sum(1, keepdim=True).expand(-1, 3)
    )


def test_some_of_the_nodes_are_answered_as_all_are() -> None:
    model, (u, y) = regression(), nodes()
    phi = model.directions(u, None)
    solution = model.solve(phi[CONTEXT], y[CONTEXT], GRAPH[CONTEXT], 4)
    whole = model(phi, GRAPH, solution)
    for some in (slice(2, 6), slice(5, 9), slice(9, 10), slice(3, 3)):
        for part, expected in zip(model(phi[some], GRAPH[some], solution), whole, strict=True):
            torch.testing.assert_close(part, expected[some])


def test_very_many_labels_do_not_drown_the_ridge() -> None:
    """In single precision the sum of so many squares would not be positive definite."""
    model = regression()
    with torch.no_grad():
        model.log_ridge.fill_(-12)
    phi = torch.ones(200_000, RANK) + 1e-4 * torch.randn(200_000, RANK, generator=torch.Generator().manual_seed(0))
    graph = torch.zeros(200_000, dtype=torch.long)
    solution = model.solve(phi, torch.eye(2)[torch.arange(200_000) % 2], graph, 1)
    evidence, doubt = model(phi[:5], graph[:5], solution)
    assert evidence.isfinite().all() and (doubt >= -1e-6).all()


def test_directions_are_smoothed_along_edges() -> None:
    model, (u, _) = regression(), nodes()
    ring = torch.tensor([[3, 0, 1, 2], [0, 1, 2, 3]])
    edges = EdgeIndex(ring, sparse_size=(GRAPH.numel(), GRAPH.numel()), sort_order="col")
    apart = model.directions(u, None)
    together = model.directions(u, Neighbours(Data(x=u, edge_index=edges, batch=GRAPH)))
    torch.testing.assert_close(together[4:], apart[4:])
    torch.testing.assert_close(together[:4].mean(0), apart[:4].mean(0))
    assert together[:4].std(0).sum() < apart[:4].std(0).sum() / 2
