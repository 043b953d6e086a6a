"""Layers are PyG's and the paper's, and a joined input is a concatenated one."""

from __future__ import annotations

import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, GraphConv, RGCNConv

from mpnp.errors import UserError
from mpnp.graphs import GraphSet, plain_edges
from mpnp.nn import backbones
from mpnp.nn.backbones import Convolution, Dense, Maxout, MessagePassing, Nodes, Pairs, Relational, Stack
from mpnp.nn.neighbours import Neighbours

UNDIRECTED = torch.tensor([[0, 1, 1, 2, 2, 0, 4, 5], [1, 0, 2, 1, 0, 2, 5, 4]])
DIRECTED = torch.tensor([[0, 0, 0, 2, 5, 4], [1, 1, 2, 0, 4, 2]])  # one edge twice, node 3 isolated


def batch_of(*edge_indices: Tensor, typed: bool = False) -> Data:
    """One graph of six nodes per edge_index, with edge types 0, 1, 0, 1, … if ``typed``."""
    graphs = [Data(x=torch.zeros(6, 1), edge_index=edge_index) for edge_index in edge_indices]
    for graph in graphs:
        if typed:
            graph.edge_type = torch.arange(graph.edge_index.size(1)) % 2
    return GraphSet.from_data_list(graphs).select(torch.arange(len(graphs)))


def gradients(out: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    weight = torch.linspace(-1, 2, out.numel()).view_as(out)
    # Without edges nothing flows to the weight of the messages.
    return torch.autograd.grad((out * weight).sum(), inputs, materialize_grads=True)


@pytest.mark.parametrize("edge_index", [UNDIRECTED, DIRECTED, DIRECTED[:, :0]], ids=["undirected", "directed", "none"])
def test_convolution_is_gcn_conv_with_a_skip(edge_index: Tensor) -> None:
    torch.manual_seed(0)
    graph = batch_of(edge_index)
    layer, theirs = Convolution(3, 5), GCNConv(3, 5, bias=False)
    theirs.lin.weight.data.copy_(layer.message.weight)
    h = torch.randn(6, 3)
    expected = layer.skip(h) + theirs(h, plain_edges(graph.edge_index))
    torch.testing.assert_close(layer(h, Neighbours(graph)), expected)


@pytest.mark.parametrize("edge_index", [UNDIRECTED, DIRECTED, DIRECTED[:, :0]], ids=["undirected", "directed", "none"])
@pytest.mark.parametrize("aggr", ["add", "mean"])
@pytest.mark.parametrize(("in_width", "out_width"), [(3, 5), (5, 3)])
def test_message_passing_is_graph_conv(edge_index: Tensor, aggr: str, in_width: int, out_width: int) -> None:
    torch.manual_seed(0)
    graph = batch_of(edge_index)
    ours = MessagePassing(in_width, out_width, mean=aggr == "mean")
    theirs = GraphConv(in_width, out_width, aggr=aggr)
    theirs.lin_root.weight = nn.Parameter(ours.skip.weight.detach().clone())
    theirs.lin_rel.weight = nn.Parameter(ours.message.weight.detach().clone())
    theirs.lin_rel.bias = nn.Parameter(ours.skip.bias.detach().clone())
    h = torch.randn(6, in_width, requires_grad=True)
    out, expected = ours(h, Neighbours(graph)), theirs(h, plain_edges(graph.edge_index))
    torch.testing.assert_close(out, expected)
    for got, want in zip(
        gradients(out, h, ours.skip.weight, ours.message.weight, ours.skip.bias),
        gradients(expected, h, theirs.lin_root.weight, theirs.lin_rel.weight, theirs.lin_rel.bias),
        strict=True,
    ):
        torch.testing.assert_close(got, want)


@pytest.mark.parametrize("together", [2**24, 1], ids=["types in one product", "one by one"])
def test_relational_is_rgcn_conv(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backbones, "TOGETHER", together)
    torch.manual_seed(0)
    # Nodes with several neighbours of one type, of both, of one only; an edge of each type twice.
    source, target = torch.tensor([1, 2, 3, 4, 4, 0, 0, 2, 2, 2]), torch.tensor([0, 0, 0, 0, 0, 1, 1, 3, 3, 5])
    edges = Data(x=torch.zeros(6, 1), edge_index=torch.stack([source, target]))
    edges.edge_type = torch.tensor([0, 0, 1, 1, 1, 0, 0, 1, 0, 1])
    graph = GraphSet.from_data_list([edges, edges]).select(torch.arange(2))
    ours, theirs = Relational(3, 4, relations=2), RGCNConv(3, 4, num_relations=2)
    theirs.weight = nn.Parameter(torch.stack([layer.weight.detach().t() for layer in ours.message]))  # type: ignore[operator]
    theirs.root = nn.Parameter(ours.skip.weight.detach().t().clone())
    theirs.bias = nn.Parameter(ours.skip.bias.detach().clone())
    h = torch.randn(12, 3, requires_grad=True)
    out = ours(h, Neighbours(graph))
    expected = theirs(h, plain_edges(graph.edge_index), graph.edge_type)
    torch.testing.assert_close(out, expected)
    torch.testing.assert_close(gradients(out, h), gradients(expected, h))


def test_maxout_by_hand() -> None:
    layer = Maxout(2, 2)
    with torch.no_grad():
        layer.pieces.weight.copy_(torch.tensor([[1.0, 0], [0, 1], [-1, 0], [2, 2]]))
        layer.pieces.bias.copy_(torch.tensor([0.0, 1, 0.5, -1]))
    # First piece (x, y + 1), second (0.5 - x, 2 x + 2 y - 1).
    out = layer(torch.tensor([[1.0, 2], [-1, 0]]))
    assert out.tolist() == [[1, 5], [1.5, 1]]


def test_words_are_layers_in_their_order() -> None:
    torch.manual_seed(0)
    neighbours = Neighbours(batch_of(DIRECTED))
    stack = Stack(3, ("linear:4", "mp:5", "maxout:6", "r-mp:3", "out:2"))
    assert [type(layer) for layer in stack.layers] == [Dense, MessagePassing, Maxout, Relational, Dense]
    assert stack.out_width == 2
    linear, passing, maxout, relational, last = stack.layers
    h = torch.randn(6, 3)
    expected = passing(linear(h).relu(), neighbours).relu()
    expected = last(relational(maxout(expected), neighbours).relu())
    out = stack(h, neighbours, torch.empty(6, 1, 0))
    assert out.shape == (6, 1, 2)
    torch.testing.assert_close(out.squeeze(1), expected)
    assert (out < 0).any()  # nothing after 'out'


def concatenated(layer: nn.Module, joiner: nn.Module) -> nn.Module:
    """The layer on [h ‖ j] whose matrices are those of ``layer`` and ``joiner`` side by side."""

    def side_by_side(first: nn.Linear, second: nn.Linear) -> nn.Linear:
        whole = nn.Linear(first.in_features + second.in_features, first.out_features, bias=first.bias is not None)
        whole.weight = nn.Parameter(torch.cat([first.weight, second.weight], 1))
        if first.bias is not None:
            whole.bias = first.bias
        return whole

    if isinstance(layer, MessagePassing):
        assert isinstance(joiner, MessagePassing)
        passing = MessagePassing(1, 1, mean=layer.mean)
        passing.skip = side_by_side(layer.skip, joiner.skip)
        passing.message = side_by_side(layer.message, joiner.message)
        return passing
    if isinstance(layer, Relational):
        assert isinstance(joiner, Relational)
        relational = Relational(1, 1)
        relational.skip = side_by_side(layer.skip, joiner.skip)
        pairs = zip(layer.message, joiner.message, strict=True)
        relational.message = nn.ModuleList(side_by_side(a, b) for a, b in pairs)  # type: ignore[arg-type]
        return relational
    assert isinstance(layer, Dense) and isinstance(joiner, Dense)
    whole, dense = side_by_side(layer, joiner), Dense(1, 1)
    dense.weight, dense.bias = whole.weight, whole.bias
    return dense


@pytest.mark.parametrize("per_graph", [False, True])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("word", ["linear:4", "mp:4", "r-mp:4", "out:4"])
def test_a_join_is_the_layer_on_a_concatenation(word: str, mean: bool, first: bool, per_graph: bool) -> None:
    torch.manual_seed(0)
    graph = batch_of(DIRECTED, UNDIRECTED, typed=True)
    neighbours, versions, join = Neighbours(graph), 3, 2
    words = ("join", word, "mp:3", "out:2") if first else ("mp:5", "join", word, "mp:3", "out:2")
    stack = Stack(3, words, join, mean=mean, relations=2)
    h = torch.randn(12, 3, requires_grad=True)
    joined = torch.randn(2 if per_graph else 12, versions, join, requires_grad=True)
    out = stack(h, neighbours, joined, graph.batch if per_graph else None)
    assert out.shape == (12, versions, 2)

    layers = list(stack.layers)
    position = 0 if first else 1
    both = concatenated(layers[position], stack.joiners[str(position)])
    expected = []
    for version in range(versions):
        j = joined[graph.batch, version] if per_graph else joined[:, version]
        below = h if first else layers[0](h, neighbours).relu()
        below = both(torch.cat([below, j], 1), neighbours)
        below = below if word.startswith("out") else below.relu()
        expected.append(layers[-1](layers[-2](below, neighbours).relu()))
    wanted = torch.stack(expected, 1)
    torch.testing.assert_close(out, wanted, rtol=1e-5, atol=1e-5)
    for got, want in zip(gradients(out, h, joined), gradients(wanted, h, joined), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)


def test_versions_at_once_are_versions_one_by_one() -> None:
    torch.manual_seed(0)
    graph = batch_of(UNDIRECTED, DIRECTED)
    neighbours = Neighbours(graph)
    stack = Stack(3, ("mp:6", "maxout:6", "join", "linear:4", "mp:4", "out:2"), 5, norm=True, mean=True)
    h, joined = torch.randn(12, 3), torch.randn(2, 4, 5)
    together = stack(h, neighbours, joined, graph.batch)
    for version in range(4):
        alone = stack(h, neighbours, joined[:, version : version + 1], graph.batch)
        torch.testing.assert_close(together[:, version : version + 1], alone)
    assert not torch.allclose(together[:, 0], together[:, 1])


@pytest.mark.parametrize("per_graph", [False, True])
@pytest.mark.parametrize(
    "words",
    [
        ("linear:4", "mp:4", "join", "linear:4", "maxout:3", "out:2"),
        ("join", "mp:4", "linear:3"),
        ("linear:4", "join", "mp:3"),  # neighbours to the last
        ("join", "linear:4", "maxout:3", "out:2"),  # no neighbours at all
        ("join", "r-mp:4"),
    ],
    ids="-".join,
)
def test_some_rows_are_those_of_the_whole(words: tuple[str, ...], per_graph: bool) -> None:
    torch.manual_seed(0)
    graph = batch_of(UNDIRECTED, DIRECTED, typed=True)
    neighbours, graph_of = Neighbours(graph), graph.batch if per_graph else None
    stack = Stack(3, words, 5, norm=True, relations=2)
    h, joined = torch.randn(12, 3), torch.randn(2 if per_graph else 12, 4, 5)
    whole = stack(h, neighbours, joined, graph_of)
    for rows in ([1, 2, 7, 11], [8], []):
        chosen = torch.tensor(rows, dtype=torch.long)
        torch.testing.assert_close(stack(h, neighbours, joined, graph_of, Nodes(chosen)), whole[chosen])
        if not per_graph:
            pairs = torch.cat([chosen * 4 + 1, chosen * 4 + 3])
            some = stack(h, neighbours, joined, chosen=Pairs(pairs, 4)).squeeze(1)
            torch.testing.assert_close(some, whole.flatten(0, 1)[pairs])


def test_mean_reaches_every_message_passing_layer() -> None:
    for mean in (False, True):
        stack = Stack(2, ("join", "mp:3", "linear:3", "mp:3"), 1, mean=mean)
        passing = [layer for layer in stack.modules() if isinstance(layer, MessagePassing)]
        assert [layer.mean for layer in passing] == [mean] * 3


def test_norm_stands_before_every_relu_and_nowhere_else() -> None:
    torch.manual_seed(0)
    neighbours = Neighbours(batch_of(DIRECTED))
    stack = Stack(3, ("linear:4", "mp:5", "r-mp:4", "maxout:6", "out:2"), norm=True)
    assert set(stack.norms) == {"0", "1", "2"}
    h = torch.randn(6, 3)
    expected = h
    for i, layer in enumerate(stack.layers):
        expected = layer(expected, neighbours)
        if i < 3:
            expected = F.layer_norm(expected, expected.shape[-1:]).relu()
    torch.testing.assert_close(stack(h, neighbours, torch.empty(6, 1, 0)).squeeze(1), expected)
    assert len(Stack(3, ("linear:4", "mp:5"), norm=False).norms) == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("gat:8",), "There is no layer named 'gat'"),
        (("linear:4", "Linear:4"), "did you mean 'linear'"),
        (("linear",), "a width of at least 1 is expected"),
        (("mp:many",), "'mp:many'"),
        (("mp:-3",), "'mp:-3'"),
        (("linear:4", "join"), "'join' stands last"),
        ((), "at least one layer"),
        (("linear:4", "join", "maxout:4"), "not linear in a joined input"),
    ],
)
def test_words_that_stand_for_no_layer_are_refused(words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UserError) as told:
        Stack(3, words, 2)
    assert sentence in str(told.value)
