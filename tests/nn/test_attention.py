"""Attention in padded buckets is attention graph by graph, node by node."""

from __future__ import annotations

import copy
import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from mpnp.nn.attention import ClassAttention

WIDTH, CLASSES = 6, 3
# (queries, keys) per graph: many and few, one of either, none of either.
COUNTS = [(5, 3), (2, 0), (0, 4), (1, 1), (7, 9), (3, 1), (0, 0), (4, 2)]


def attention(buckets: int = 4, places: int = 0) -> ClassAttention:
    torch.manual_seed(0)
    module = ClassAttention(WIDTH, heads=2, head_width=3, values=4, buckets=buckets, places=places)
    with torch.no_grad():
        module.log_scale.copy_(torch.tensor([0.7, -0.4]))
        module.empty.copy_(torch.tensor([0.5, -1.0]))
    return module


def inputs(counts: list[tuple[int, int]]) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    torch.manual_seed(1)
    queries, keys = torch.tensor(counts).t()
    query, key = torch.randn(int(queries.sum()), WIDTH), torch.randn(int(keys.sum()), WIDTH)
    label = F.one_hot(torch.randint(CLASSES, (int(keys.sum()),)), CLASSES).float()
    return query, key, label, queries, keys


def places(counts: list[tuple[int, int]], dimensions: int) -> list[Tensor]:
    """Where the keys and the queries are, if they are anywhere."""
    torch.manual_seed(2)
    queries, keys = torch.tensor(counts).sum(0).tolist()
    return [torch.randn(keys, dimensions), torch.randn(queries, dimensions)] if dimensions else []


def plain(
    module: ClassAttention, query: Tensor, key: Tensor, label: Tensor, queries: Tensor, keys: Tensor, *where: Tensor
) -> Tensor:
    """The same in loops: every query of every graph, every head, every class."""
    graph_of_query = torch.repeat_interleave(torch.arange(len(queries)), queries)
    graph_of_key = torch.repeat_interleave(torch.arange(len(keys)), keys)
    per_head = 1 + module.values + module.places
    rows = []
    for t in range(len(query)):
        mine = graph_of_key == graph_of_query[t]
        q, k, v = module.to_query(query[t]), module.to_key(key[mine]), module.to_value(key[mine])
        classes: list[list[Tensor]] = [[] for _ in range(CLASSES)]
        for head in range(module.heads):
            narrow = slice(head * module.head_width, (head + 1) * module.head_width)
            score = module.log_scale[head].exp() * (k[:, narrow] @ q[narrow]) / math.sqrt(module.head_width)
            value = v[:, head * module.values : (head + 1) * module.values]
            value = torch.cat([torch.ones(len(value), 1), value], 1)
            if where:
                way = (where[0][mine] - where[1][t]) * module.log_nearness[head].exp()
                score, value = score - way.norm(dim=1) ** 2, torch.cat([value, way], 1)
            weight = torch.cat([score, module.empty[head : head + 1]]).softmax(0)[:-1]
            for c in range(CLASSES):
                classes[c].append((weight * label[mine, c]) @ value)
        rows.append(torch.stack([torch.cat(parts) for parts in classes]))
    assert rows[0].shape == (CLASSES, module.heads * per_head)
    return torch.stack(rows)


@pytest.fixture(params=["one pass", "two passes"], autouse=True)
def passes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything here holds for few classes, read out in one pass, and for many, read out in two."""
    monkeypatch.setattr("mpnp.nn.attention.JOINT_WIDTH", 1000 if request.param == "one pass" else 0)


@pytest.mark.parametrize("dimensions", [0, 2])
@pytest.mark.parametrize("buckets", [1, 2, 4, 100])
def test_forward_and_gradient_are_those_of_loops(buckets: int, dimensions: int) -> None:
    module = attention(buckets, dimensions)
    query, key, label, queries, keys = inputs(COUNTS)
    where = places(COUNTS, dimensions)
    query.requires_grad_(), key.requires_grad_()
    out = module(query, key, label, queries, keys, *where)
    expected = plain(module, query, key, label, queries, keys, *where)
    assert out.shape == (22, CLASSES, module.out_width)
    torch.testing.assert_close(out, expected, rtol=1e-5, atol=1e-6)
    weight, variables = torch.randn_like(out), [query, key, *module.parameters()]
    for got, want in zip(
        torch.autograd.grad((out * weight).sum(), variables),
        torch.autograd.grad((expected * weight).sum(), variables),
        strict=True,
    ):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


def test_the_number_of_buckets_is_a_matter_of_speed() -> None:
    one, four = attention(1), attention(4)
    four.load_state_dict(copy.deepcopy(one.state_dict()))
    torch.testing.assert_close(one(*inputs(COUNTS)), four(*inputs(COUNTS)))


def test_without_context_nothing_is_seen() -> None:
    module = attention()
    nowhere = [(3, 0), (2, 0)]
    assert torch.equal(module(*inputs(nowhere)), torch.zeros(5, CLASSES, module.out_width))
    # Rows 5 and 6 are the queries of a graph without context, in a batch with others.
    out = module(*inputs(COUNTS))
    assert torch.equal(out[5:7], torch.zeros_like(out[5:7]))
    assert (out[:5].abs().sum((1, 2)) > 0).all()


def test_without_queries_there_is_no_answer() -> None:
    module = attention()
    assert module(*inputs([(0, 3), (0, 0)])).shape == (0, CLASSES, module.out_width)


def test_votes_and_the_empty_slot_add_up_to_one() -> None:
    module = attention()
    query, key, label, queries, keys = inputs([(4, 5)])
    votes = module(query, key, label, queries, keys).unflatten(2, (module.heads, -1))[..., 0].sum(1)
    assert ((votes > 0) & (votes < 1)).all()
    with torch.no_grad():
        module.empty.fill_(-1e4)
    votes = module(query, key, label, queries, keys).unflatten(2, (module.heads, -1))[..., 0].sum(1)
    torch.testing.assert_close(votes, torch.ones(4, module.heads))


def test_the_order_of_keys_does_not_matter_and_that_of_queries_is_kept() -> None:
    module = attention()
    query, key, label, queries, keys = inputs([(6, 8)])
    out = module(query, key, label, queries, keys)
    order = torch.randperm(8)
    torch.testing.assert_close(module(query, key[order], label[order], queries, keys), out)
    order = torch.randperm(6)
    torch.testing.assert_close(module(query[order], key, label, queries, keys), out[order])
    # A label belongs to its key.
    assert not torch.allclose(module(query, key, label.roll(1, 0), queries, keys), out)


def test_a_head_that_looks_near_sees_the_nearest_label_and_where_it_is() -> None:
    module = attention(places=2)
    with torch.no_grad():
        module.to_query.weight.zero_(), module.to_query.bias.zero_()  # all look alike, only places differ
        module.log_nearness.fill_(math.log(10))
        module.empty.fill_(-1e4)
    label = torch.eye(CLASSES)
    here, there = torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 0.0], [0.0, -1.0], [0.0, 4.0]])
    one, three = torch.tensor([1]), torch.tensor([3])
    out = module(torch.randn(1, WIDTH), torch.randn(3, WIDTH), label, one, three, there, here)
    said = out.unflatten(2, (module.heads, -1))[0]
    torch.testing.assert_close(said[..., 0], torch.tensor([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]))
    torch.testing.assert_close(said[1, :, -2:], torch.tensor([[0.0, -10.0], [0.0, -10.0]]))
    # Only the way from one to the other counts.
    moved = module(torch.zeros(1, WIDTH), torch.zeros(3, WIDTH), label, one, three, there + 7, here + 7)
    still = module(torch.zeros(1, WIDTH), torch.zeros(3, WIDTH), label, one, three, there, here)
    torch.testing.assert_close(moved, still, rtol=1e-4, atol=1e-4)


def test_renaming_the_classes_renames_the_output() -> None:
    module = attention()
    query, key, label, queries, keys = inputs(COUNTS)
    out = module(query, key, label, queries, keys)
    order = torch.tensor([2, 0, 1])
    torch.testing.assert_close(module(query, key, label[:, order], queries, keys), out[:, order])
