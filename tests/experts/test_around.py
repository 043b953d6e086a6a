"""What a node's surroundings are like, by hand."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from mpnp.experts import regression
from mpnp.experts.around import around, everything, few_shared_neighbours, shared_neighbours
from mpnp.experts.context import Context
from mpnp.experts.judge import Judge
from mpnp.experts.regression import spanned_by

from .made import both, two_towns, views


def given(edges: Tensor, nodes: int, labels: dict[int, int], classes: int = 2, x: Tensor | None = None) -> Context:
    y = torch.tensor(list(labels.values()))
    return Context(views(edges, nodes, x), torch.tensor(list(labels)), Judge(y, classes))


def shares(context: Context) -> list[list[list[float]]]:
    """Per hop and node the shares of the classes, without the prior taken off; empty where no label is near."""
    table, prior, classes = around(context), context.judge.shares.float(), context.judge.classes
    hops = []
    for hop in table.split(classes + 1, 1):
        known = hop[:, -1] > hop[:, -1].mean() - 1e-6
        if bool((hop[:, -1] == hop[0, -1]).all()):  # all of them or none
            known = hop[:, :-1].abs().sum(1) > 1e-6
        hops.append(
            [
                [round(v, 4) for v in (row + prior).tolist()] if k else []
                for row, k in zip(hop[:, :-1], known, strict=True)
            ]
        )
    return hops


def test_a_path_by_hand() -> None:
    """0 - 1 - 2 - 3 with 0 of class 0 and 2 of class 1. No one sees their own label: not at one hop, nor at two."""
    one, two = shares(given(both([(0, 1), (1, 2), (2, 3)]), 4, {0: 0, 2: 1}))
    assert one == [[], [0.5, 0.5], [], [0.0, 1.0]]
    assert two == [[0.0, 1.0], [], [1.0, 0.0], []]


def test_weights_and_loops_count_as_they_should() -> None:
    edges = torch.tensor([[0, 2, 1, 1, 0], [1, 1, 0, 2, 0]])
    context = Context(
        views(edges, 3, weight=torch.tensor([3.0, 1.0, 3.0, 1.0, 9.0])),
        torch.tensor([0, 2]),
        Judge(torch.tensor([0, 1]), 2),
    )
    assert shares(context)[0] == [[], [0.75, 0.25], []]


def test_directions_are_read_where_there_are_any() -> None:
    """1 leads to 0 and 2 leads to 1: what a node leads to and what leads to it are seen apart."""
    context = given(torch.tensor([[1, 2], [0, 1]]), 3, {0: 0, 2: 1})
    one, _, outgoing, incoming = shares(context)
    assert one[1] == [0.5, 0.5]
    assert outgoing == [[], [1.0, 0.0], []]
    assert incoming == [[], [0.0, 1.0], []]


@pytest.mark.parametrize("tips", range(2, 60))
def test_rounding_does_not_give_the_own_label_away(tips: int) -> None:
    """The centre of a star is the only one labelled: two steps lead back to it alone."""
    weight = 0.1 + torch.rand(tips, generator=torch.Generator().manual_seed(tips))
    edges = torch.tensor([[0] * tips, list(range(1, tips + 1))])
    table = around(
        Context(
            views(torch.cat([edges, edges.flip(0)], 1), tips + 1, weight=torch.cat([weight, weight])),
            torch.tensor([0]),
            Judge(torch.tensor([1]), 2),
        )
    )
    assert not table[0, 3:5].any()
    torch.testing.assert_close(table[1, :2], torch.tensor([0.0, 1.0]) - torch.tensor([1 / 3, 2 / 3]))


def test_neighbours_shared_with_landmarks() -> None:
    graph = two_towns(12)
    context = given(graph.edge_index, 12, {1: 0, 5: 1, 6: 0})
    a = context.views.walks.matrix.to_dense()
    root = torch.where(a.sum(1) > 0, a.sum(1).clamp(min=1e-9).rsqrt(), 0)
    dense = root[:, None] * (a @ (root.square()[:, None] * a)) * root
    torch.testing.assert_close(shared_neighbours(context, context.landmarks), dense[:, [1, 5, 6]])


def test_the_few_neighbours_shared_in_a_large_graph() -> None:
    graph = both([(i, i + 1) for i in range(99)])
    weight = 0.5 + torch.rand(99, generator=torch.Generator().manual_seed(0))
    context = Context(
        views(graph, 101, weight=torch.cat([weight, weight])),
        torch.tensor([0, 40, 100]),
        Judge(torch.tensor([0, 1, 1]), 2),
    )
    few = few_shared_neighbours(context, context.landmarks)
    assert few.nnz < 10
    torch.testing.assert_close(torch.from_numpy(few.toarray()), shared_neighbours(context, context.landmarks))
    star = given(both([(0, i) for i in range(1, 50)]), 50, {1: 0, 2: 1})
    assert few_shared_neighbours(star, star.landmarks) is None


def test_a_large_graph_is_regressed_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = both([(i, i + 1) for i in range(399)] + [(i, i + 2) for i in range(398)])
    context = given(graph, 400, {i: i // 200 for i in range(0, 400, 7)})

    def said() -> Tensor:
        return spanned_by(
            context, "adj", lambda n: shared_neighbours(context, n), lambda n: few_shared_neighbours(context, n)
        )

    dense = said()
    monkeypatch.setattr(regression, "LARGE", 0)
    monkeypatch.setattr(regression, "spanned", None)  # is not asked
    torch.testing.assert_close(said(), dense, rtol=1e-4, atol=1e-4)


def test_everything_side_by_side_has_one_weight_per_block() -> None:
    graph = two_towns()
    context = given(graph.edge_index, 60, {0: 0, 1: 1, 2: 0, 3: 1}, x=1000 * graph.x)
    labels = around(context)
    table = everything(context, labels)
    first = context.views.structure.size(1)
    for block in (table[:, :first], table[:, first : first + labels.size(1)]):
        assert float(block.square().sum(1).mean()) == pytest.approx(1, rel=1e-4)
    assert float(table.square().sum(1).mean()) == pytest.approx(4, rel=1e-4)
