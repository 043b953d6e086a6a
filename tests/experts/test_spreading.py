"""Labels that spread along the edges."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.experts import spreading as module
from mpnp.experts.context import FOLDS, Context
from mpnp.experts.judge import Judge
from mpnp.experts.spreading import KEEP, SPREAD, folded, one_by_one, spread
from mpnp.experts.views import Views

from .made import both, two_towns, views

SHOWN = torch.arange(0, 30, 2)


def towns() -> Data:
    return two_towns(30)


def given(y: Tensor | None = None) -> Context:
    graph = towns()
    return Context(Views.of(graph), SHOWN, Judge((graph.y if y is None else y)[SHOWN], 3))


def arrived(context: Context, steps: int) -> Tensor:
    """Written out: what every node sends to every other within so many steps, [N, N]."""
    step = KEEP * context.views.walks.normalised(torch.eye(context.views.nodes))
    return sum((torch.linalg.matrix_power(step, t) for t in range(1, steps + 1)), torch.zeros_like(step))


@pytest.mark.parametrize("name", ["lp1", "lp2", "lp8"])
def test_context_nodes_hear_all_labels_but_their_own(name: str) -> None:
    context = given()
    sent = arrived(context, SPREAD[name])
    mass = sent @ context.shown
    others = torch.stack([sent[i] @ context.shown.index_fill(0, i, 0) for i in SHOWN])
    log_p, pinch, exponent = context.judge.spread(others, mass.sum(1).mean())
    said = dict(one_by_one(context))[name]
    torch.testing.assert_close(said[SHOWN], log_p.float(), rtol=1e-4, atol=1e-4)
    expected = context.judge.shared_out(mass, mass.sum(1).mean().double(), pinch, exponent).float()
    torch.testing.assert_close(said[1::2], expected[1::2], rtol=1e-4, atol=1e-4)


def test_the_own_label_has_no_part_in_the_opinion(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the shares of the classes and the sharpness, which all labels choose together: here they are given."""
    graph = towns()
    other = graph.y.clone()
    other[4] = (other[4] + 1) % 3

    def said(y: Tensor) -> dict[str, Tensor]:
        context = given(y)
        judge = context.judge
        judge.shares = torch.full((3,), 1 / 3).double()
        monkeypatch.setattr(judge, "spread", lambda mass, mean: (judge.shared_out(mass, mean, 0.1, 1.0), 0.1, 1.0))
        return dict(one_by_one(context))

    one, two = said(graph.y), said(other)
    for name in ("lp1", "lp2", "lp8"):
        torch.testing.assert_close(one[name][4], two[name][4], rtol=1e-4, atol=1e-4)
        assert not torch.allclose(one[name], two[name], atol=1e-3)


def test_folds_hear_the_labels_of_other_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    context = given()
    sent = arrived(context, 2)
    mass = sent @ context.shown
    others = torch.stack(
        [sent[i] @ context.shown.index_fill(0, SHOWN[context.fold == context.fold[k]], 0) for k, i in enumerate(SHOWN)]
    )
    log_p, _, _ = context.judge.spread(others * FOLDS / (FOLDS - 1), mass.sum(1).mean())
    torch.testing.assert_close(dict(folded(context))["lp2"][SHOWN], log_p.float(), rtol=1e-4, atol=1e-4)


def test_only_where_there_is_much_to_walk_folds_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    context = given()
    exact, rough = dict(one_by_one(context)), dict(folded(context))
    assert all(torch.equal(dict(spread(context))[name], exact[name]) for name in SPREAD)
    monkeypatch.setattr(module, "MOST_WALKED", 0)
    assert all(torch.equal(dict(spread(context))[name], rough[name]) for name in SPREAD)
    for name in SPREAD:  # both say much the same of nodes without a label
        agree = exact[name][1::2].argmax(1) == rough[name][1::2].argmax(1)
        assert agree.float().mean() > 0.8


def test_part_by_part_is_as_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = two_towns(200)
    shown = torch.arange(0, 200, 2)
    context = Context(Views.of(graph), shown, Judge(graph.y[shown], 3))
    whole = dict(one_by_one(context))
    monkeypatch.setattr(module, "LARGE", 0)
    monkeypatch.setattr(module, "CACHED", 1)  # a block of 64 labels, then another
    for name, said in one_by_one(context):
        torch.testing.assert_close(said, whole[name], rtol=1e-4, atol=1e-4)


def test_a_label_reaches_as_far_as_its_steps() -> None:
    """On a path with a label at either end."""
    path = both([(i, i + 1) for i in range(6)])
    context = Context(views(path, 7), torch.tensor([0, 6]), Judge(torch.tensor([0, 1]), 2))
    said = dict(spread(context))
    assert said["lp1"][1, 0] > said["lp1"][1, 1]
    torch.testing.assert_close(said["lp1"][2].exp(), torch.tensor([0.5, 0.5]))
    assert said["lp2"][2, 0] > said["lp2"][2, 1]
    for name in ("lp8", "lp50"):
        assert said[name].argmax(1)[[1, 2, 4, 5]].tolist() == [0, 0, 1, 1]


def test_where_no_label_arrives_the_shares_are_said() -> None:
    context = Context(views(both([(0, 1), (1, 2)]), 4), torch.tensor([0, 1]), Judge(torch.tensor([0, 0]), 2))
    for name, said in spread(context):
        assert said.isfinite().all()
        if name != "lp50":
            expected = context.judge.shares.float() ** torch.tensor([[0.5], [1.0], [2.0]])
            expected = expected / expected.sum(1, keepdim=True)
            assert float((said[3].exp() - expected).abs().sum(1).min()) < 1e-4
