"""The packed store gives back exactly the graphs that were put in."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from mpnp.errors import UserError
from mpnp.graphs import GraphSet, all_sound, check_graph, plain_edges


def edges(*pairs: tuple[int, int]) -> Tensor:
    return torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t()


def sorted_edges(edge_index: Tensor) -> list[list[int]]:
    return sorted(plain_edges(edge_index).t().tolist())


def dense(edge_index: Tensor, nodes: int) -> Tensor:
    """A[target, source] = number of such edges."""
    matrix = torch.zeros(nodes, nodes)
    for source, target in plain_edges(edge_index).t().tolist():
        matrix[target, source] += 1
    return matrix


def random_graph(nodes: int, num_edges: int, seed: int) -> Data:
    generator = torch.Generator().manual_seed(seed)
    return Data(
        x=torch.randn(nodes, 3, generator=generator),
        edge_index=torch.randint(nodes, (2, num_edges), generator=generator),
        y=torch.randint(-1, 4, (nodes,), generator=generator),
    )


@pytest.fixture
def graphs() -> list[Data]:
    return [
        random_graph(5, 12, 0),
        Data(x=torch.ones(1, 3), edge_index=edges(), y=torch.tensor([2])),  # one node
        Data(x=torch.zeros(4, 3), edge_index=edges(), y=torch.tensor([0, 1, -1, 0])),  # no edges
        Data(x=torch.ones(4, 3), edge_index=edges((3, 1), (3, 1), (1, 1)), y=torch.arange(4)),  # 0 and 2 isolated
        random_graph(9, 30, 1),
    ]


@pytest.mark.parametrize("index", [[0, 1, 2, 3, 4], [4, 0], [1], [2], [1, 2], [3, 3, 0], [2, 4, 1, 0]])
def test_select_is_pygs_batch(graphs: list[Data], index: list[int]) -> None:
    got = GraphSet.from_data_list(graphs).select(torch.tensor(index))
    expected = Batch.from_data_list([graphs[i] for i in index])
    for key in ("x", "y", "batch", "ptr"):
        assert torch.equal(got[key], expected[key]), key
    assert sorted_edges(got.edge_index) == sorted_edges(expected.edge_index)
    assert got.edge_index.sparse_size() == (expected.num_nodes, expected.num_nodes)


def test_select_sorts_edges_by_target(graphs: list[Data]) -> None:
    target = GraphSet.from_data_list(graphs).select(torch.tensor([4, 0, 3])).edge_index[1]
    assert (target.diff() >= 0).all()


def test_directed_and_duplicate_edges_are_kept() -> None:
    graph = Data(x=torch.zeros(3, 1), edge_index=edges((2, 0), (0, 1), (0, 1)), y=torch.zeros(3, dtype=torch.long))
    store = GraphSet.from_data_list([graph, graph])
    assert not store.undirected
    assert sorted_edges(store.edge_index) == [[0, 1], [0, 1], [2, 0], [3, 4], [3, 4], [5, 3]]


@pytest.mark.parametrize(
    ("edge_index", "undirected"),
    [
        (edges((0, 1), (1, 0), (1, 2), (2, 1)), True),
        (edges((0, 1), (1, 0), (0, 1), (1, 0), (2, 2)), True),
        (edges((0, 1), (1, 0), (0, 1)), False),  # once more in one direction than in the other
        (edges((0, 1), (1, 2), (2, 0)), False),
        (edges(), True),
    ],
)
def test_products_and_their_gradients(edge_index: Tensor, undirected: bool) -> None:
    """The undirected flag decides which matrix the backward pass multiplies with: a wrong one is a wrong gradient."""
    store = GraphSet.from_data_list([Data(x=torch.randn(3, 2), edge_index=edge_index) for _ in range(2)])
    assert store.undirected is undirected
    batch = store.select(torch.tensor([1, 0]))
    matrix = dense(batch.edge_index, 6)
    x = batch.x.clone().requires_grad_()
    out = batch.edge_index.matmul(x, transpose=True)
    torch.testing.assert_close(out, matrix @ batch.x)
    weight = torch.arange(12.0).reshape(6, 2)
    (gradient,) = torch.autograd.grad((out * weight).sum(), x)
    torch.testing.assert_close(gradient, matrix.t() @ weight)


def test_subset_is_a_store_of_its_own(graphs: list[Data]) -> None:
    store = GraphSet.from_data_list(graphs).subset(torch.tensor([4, 1, 0]))
    assert len(store) == 3
    assert store.sizes.tolist() == [9, 1, 5]
    assert (store.num_nodes, store.num_features) == (15, 3)
    got, expected = store.select(torch.tensor([2, 0])), Batch.from_data_list([graphs[0], graphs[4]])
    assert torch.equal(got.x, expected.x)
    assert torch.equal(got.y, expected.y)
    assert sorted_edges(got.edge_index) == sorted_edges(expected.edge_index)


def test_edge_type_follows_its_edge() -> None:
    def typed(*pairs: tuple[int, int]) -> Data:
        # The type names the edge's two ends, so it can be checked wherever the edge goes.
        index = edges(*pairs)
        return Data(x=torch.zeros(4, 1), edge_index=index, edge_type=index[0] * 10 + index[1])

    store = GraphSet.from_data_list([typed((3, 2), (0, 1), (2, 0)), typed((1, 3), (3, 0), (2, 1))])
    assert not store.undirected  # types of the two directions may differ
    for holder, index in ((store, [1, 0]), (store.subset(torch.tensor([1])), [0])):
        batch = holder.select(torch.tensor(index))
        source, target = plain_edges(batch.edge_index) % 4
        assert batch.edge_type.tolist() == (source * 10 + target).tolist()
        assert len(batch.edge_type) == 3 * len(index)


def weighted(*edges_with_weight: tuple[int, int, float]) -> Data:
    index = edges(*((source, target) for source, target, _ in edges_with_weight))
    weight = torch.tensor([weight for *_, weight in edges_with_weight])
    return Data(x=torch.zeros(4, 1), edge_index=index, edge_weight=weight)


def test_edge_weight_follows_its_edge() -> None:
    store = GraphSet.from_data_list([weighted((3, 2, 0.5), (0, 1, 2.0)), weighted((1, 3, 7.0), (3, 0, 0.0))])
    for holder, index in ((store, [1, 0]), (store.subset(torch.tensor([1, 0])), [0, 1])):
        batch = holder.select(torch.tensor(index))
        got = [
            (*edge, w) for edge, w in zip(plain_edges(batch.edge_index).t().tolist(), batch.edge_weight, strict=True)
        ]
        assert sorted(got) == [(1, 3, 7), (3, 0, 0), (4, 5, 2), (7, 6, 0.5)]


def test_a_store_is_undirected_only_if_both_directions_weigh_the_same() -> None:
    for back, undirected in ((2.0, True), (3.0, False)):
        store = GraphSet.from_data_list([weighted((0, 1, 2.0), (1, 2, 5.0), (2, 1, 5.0), (1, 0, back))])
        assert store.undirected is undirected


def test_weights_go_to_all_graphs_or_to_none() -> None:
    one, other = weighted((0, 1, 1.0)), weighted((0, 1, 1.0))
    other.edge_weight = None
    assert GraphSet.from_data_list([other]).select(torch.tensor([0])).get("edge_weight") is None
    with pytest.raises(UserError, match="Some graphs have an edge_weight and some have none"):
        GraphSet.from_data_list([one, other])


def test_repr_tells_sizes_and_fields(graphs: list[Data]) -> None:
    assert repr(GraphSet.from_data_list(graphs)) == "GraphSet(graphs=5, nodes=23, features=3)"
    assert (
        repr(GraphSet.from_data_list([weighted((0, 1, 1.0))])) == "GraphSet(graphs=1, nodes=4, features=1, edge_weight)"
    )


def test_positions_follow_their_nodes(graphs: list[Data]) -> None:
    for graph in graphs:
        graph.pos = graph.x[:, :2] + 1
    batch = GraphSet.from_data_list(graphs).subset(torch.tensor([3, 0, 2])).select(torch.tensor([1, 0]))
    assert torch.equal(batch.pos, batch.x[:, :2] + 1)


def test_graphs_without_labels_are_unlabelled() -> None:
    store = GraphSet.from_data_list([Data(x=torch.zeros(2, 1), edge_index=edges((0, 1)))])
    assert store.y.tolist() == [-1, -1]


def test_a_batch_can_be_packed_again(graphs: list[Data]) -> None:
    """Its edges are PyG's EdgeIndex by then, the store's stay ordinary tensors."""
    store = GraphSet.from_data_list(graphs)
    again = GraphSet.from_data_list([store.select(torch.tensor([i])) for i in range(len(graphs))])
    for each in (store, again, store.subset(torch.arange(len(graphs)))):
        assert type(each.edge_index) is Tensor
        assert torch.equal(each.edge_index, store.edge_index)
        assert torch.equal(each.edge_ptr, store.edge_ptr)


def test_no_edges_may_be_an_empty_float_tensor() -> None:
    lonely = Data(x=torch.zeros(1, 1), edge_index=torch.empty(2, 0))
    pair = Data(x=torch.zeros(2, 1), edge_index=edges((0, 1)))
    assert sorted_edges(GraphSet.from_data_list([lonely, pair]).edge_index) == [[1, 2]]


GOOD = {"x": torch.zeros(3, 2), "edge_index": edges((0, 1)), "y": torch.tensor([0, -1, 1])}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"x": None}, ["no x"]),
        ({"x": torch.zeros(3)}, ["[3]", "[nodes, features]"]),
        ({"x": torch.zeros(0, 2)}, ["no nodes"]),
        ({"x": torch.tensor([[0.0, 0], [0, float("nan")], [0, 0]])}, ["feature 1 of node 1", "nan", "finite"]),
        ({"x": torch.tensor([[0.0, 0], [0, 0], [float("-inf"), 0]])}, ["feature 0 of node 2", "-inf"]),
        ({"edge_index": None}, ["edge_index", "[2, edges]"]),
        ({"edge_index": torch.zeros(3, 2, dtype=torch.long)}, ["edge_index", "[2, edges]"]),
        ({"edge_index": edges((0, 3))}, ["node 3", "0 to 2"]),
        ({"edge_index": edges((-1, 0))}, ["node -1", "0 to 2"]),
        ({"edge_index": edges((0, 1)).float()}, ["edge_index", "whole"]),
        ({"edge_type": torch.tensor([0, 1])}, ["edge_type", "2 rows", "1 are expected"]),
        ({"edge_weight": torch.ones(2)}, ["edge_weight", "2 rows", "1 are expected"]),
        ({"edge_weight": torch.tensor(1.0)}, ["edge_weight", "no rows", "1 are expected"]),
        ({"edge_weight": torch.ones(1, 2)}, ["edge_weight", "[1, 2]", "one number per edge"]),
        ({"edge_weight": torch.tensor([-0.5])}, ["weight of edge 0", "-0.5", "not negative"]),
        ({"edge_weight": torch.tensor([float("nan")])}, ["weight of edge 0", "nan", "finite"]),
        ({"pos": torch.zeros(2, 2)}, ["pos", "2 rows", "3 are expected"]),
        ({"y": torch.tensor([0, 1])}, ["[2]", "[3]"]),
        ({"y": torch.tensor([[0], [1], [0]])}, ["[3, 1]", "[3]"]),
        ({"y": torch.tensor([0.5, 1, 0])}, ["whole numbers"]),
        ({"y": torch.tensor([0, 1, -2])}, ["-2", "-1"]),
    ],
)
def test_a_bad_graph_is_refused_in_one_sentence(change: dict[str, Tensor | None], words: list[str]) -> None:
    check_graph(Data(**GOOD))
    with pytest.raises(UserError) as caught:
        check_graph(Data(**{**GOOD, **change}), "graph 7")
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert "graph 7" in sentence
    for word in words:
        assert word in sentence


def test_the_bad_graph_of_a_list_is_named() -> None:
    with pytest.raises(UserError, match="graph 1"):
        GraphSet.from_data_list([Data(**GOOD), Data(**{**GOOD, "edge_index": edges((0, 9))})])
    with pytest.raises(UserError, match=r"Graph 1 has 5 features per node, graph 0 has 2"):
        GraphSet.from_data_list([Data(**GOOD), Data(**{**GOOD, "x": torch.zeros(3, 5)})])
    with pytest.raises(UserError, match="No graph"):
        GraphSet.from_data_list([])


def test_a_notebook_shows_sizes_and_no_tensor() -> None:
    around = torch.arange(4)
    graph = Data(x=torch.ones(4, 2), edge_index=torch.stack([around, around.roll(1)]), y=torch.tensor([0, 1, -1, -1]))
    page = GraphSet.from_data_list([graph, graph])._repr_html_()
    assert "tensor" not in page and "<td>8</td>" in page and "<td>4</td>" in page


def test_graphs_are_sound_together_if_each_of_them_is(graphs: list[Data]) -> None:
    assert all_sound(graphs)
    for name, value in (
        ("x", torch.full((5, 3), torch.nan)),
        ("x", torch.ones(5)),
        ("x", torch.ones(0, 3)),
        ("x", None),
        ("x", torch.ones(5, 4)),
        ("y", torch.full((5,), -2)),
        ("y", torch.zeros(4, dtype=torch.long)),
        ("y", torch.zeros(5)),
        ("edge_index", edges((0, 5))),
        ("edge_index", edges((-1, 2))),
        ("edge_index", torch.tensor([[0.0], [1.0]])),
        ("edge_index", torch.zeros(3, 1, dtype=torch.long)),
        ("edge_weight", -torch.ones(2)),
        ("edge_weight", torch.ones(3)),
        ("edge_type", torch.ones(3)),
    ):
        other = Data(x=torch.ones(5, 3), edge_index=edges((0, 1), (1, 0)), y=torch.zeros(5, dtype=torch.long))
        assert all_sound([*graphs, other])
        other[name] = value
        assert not all_sound([*graphs, other]), (name, value)
