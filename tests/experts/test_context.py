"""Labelled nodes, the landmarks among them, and their folds."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.experts import context as module
from mpnp.experts.context import FOLDS, Context
from mpnp.experts.judge import Judge
from mpnp.experts.views import Views

from .made import two_towns

SHOWN = torch.arange(0, 60, 2)


def given(graph: Data | None = None, nodes: Tensor = SHOWN) -> Context:
    graph = graph or two_towns()
    return Context(Views.of(graph), nodes, Judge(graph.y[nodes], 3))


def test_labels_of_a_class_lie_in_as_many_folds_as_may_be() -> None:
    context = given()
    for label in range(3):
        sizes = torch.bincount(context.fold[context.judge.y == label], minlength=FOLDS)
        assert int(sizes.max() - sizes.min()) <= 1
    two = given(nodes=torch.tensor([0, 2]))
    assert two.fold.unique().numel() == 2


@pytest.mark.parametrize("edges", ["as they are", "none", "a ring"])
def test_folds_do_not_depend_on_how_nodes_are_numbered(edges: str) -> None:
    """Not even where all places are alike: there features part them."""
    graph, around = two_towns(), torch.arange(60)
    if edges != "as they are":
        graph.edge_index = torch.stack([around, around.roll(1)]) if edges == "a ring" else graph.edge_index[:, :0]
    order = torch.randperm(60, generator=torch.Generator().manual_seed(3))
    place = order.argsort()
    moved = Data(x=graph.x[order], y=graph.y[order], edge_index=place[graph.edge_index])
    shown = place[SHOWN].sort().values
    assert torch.equal(given(moved, shown).fold, given(graph).fold[torch.searchsorted(SHOWN, order[shown])])


def test_few_labelled_nodes_are_all_landmarks() -> None:
    context = given()
    assert context.exact and torch.equal(context.landmarks, SHOWN)
    units = context.at_landmarks()
    assert torch.equal(units[SHOWN], torch.eye(30)) and int(units.sum()) == 30


def test_many_labelled_nodes_are_stood_for_by_some_of_every_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LANDMARKS", 10)
    graph = two_towns()
    context = given(graph)
    assert not context.exact
    assert context.landmarks.unique().numel() == 10 and torch.isin(context.landmarks, SHOWN).all()
    assert graph.y[context.landmarks].unique().tolist() == graph.y[SHOWN].unique().tolist()


def test_an_opinion_is_left_one_out_on_the_context() -> None:
    context = given(nodes=torch.tensor([4, 1]))
    said = context.opinion(torch.zeros(60, 3), torch.tensor([[1.0, 2, 3], [4, 5, 6]]).double())
    assert said[4].tolist() == [1, 2, 3] and said[1].tolist() == [4, 5, 6] and int(said.sum()) == 21
    assert context.shown.sum(1).nonzero().flatten().tolist() == [1, 4]
