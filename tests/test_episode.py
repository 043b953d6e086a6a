"""Context and targets are drawn as asked, and labels outside the context stay hidden."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.episode import Episode, Sampling, sample_episode
from mpnp.errors import UserError
from mpnp.graphs import GraphSet, plain_edges


def batch_of(*labels: list[int]) -> Data:
    """One edgeless graph per list of labels."""
    empty = torch.empty(2, 0, dtype=torch.long)
    graphs = [Data(x=torch.zeros(len(y), 1), edge_index=empty, y=torch.tensor(y)) for y in labels]
    return GraphSet.from_data_list(graphs).select(torch.arange(len(graphs)))


def draw(batch: Data, sampling: Sampling, seed: int = 0, num_classes: int = 3) -> Episode:
    return sample_episode(batch, num_classes, sampling, torch.Generator().manual_seed(seed))


def per_graph(mask: Tensor, episode: Episode) -> list[int]:
    return torch.zeros(episode.num_graphs, dtype=torch.long).index_add(0, episode.batch, mask.long()).tolist()


# 10, 4, 1, 6 labelled nodes, and none.
PARTIAL = ([0] * 10, [1, -1, 0, 2, -1, 0], [-1, 2], [0, 1, 2, 0, 1, 2], [-1, -1, -1])


@pytest.mark.parametrize(
    ("rate", "counts"),
    [
        (0.0, [0, 0, 0, 0, 0]),
        (0.01, [1, 1, 1, 1, 0]),  # at least one where there is one
        (0.3, [3, 1, 1, 2, 0]),
        (1.0, [10, 4, 1, 6, 0]),
    ],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_context_count_at_a_fixed_rate(rate: float, counts: list[int], seed: int) -> None:
    episode = draw(batch_of(*PARTIAL), Sampling.fixed(rate), seed)
    assert per_graph(episode.context, episode) == counts
    assert per_graph(episode.target, episode) == [10, 4, 1, 6, 0]
    assert not (episode.context & ~episode.target).any()
    assert not (episode.target & (episode.y == -1)).any()
    assert torch.equal(episode.unlabelled_targets, (episode.y != -1) & ~episode.context)


@pytest.mark.parametrize(
    ("context", "extra", "counts"),
    [(0.3, 0.5, [8, 3, 1, 5, 0]), (0.8, 0.5, [10, 4, 1, 6, 0]), (0.0, 0.5, [5, 2, 1, 3, 0])],
)
def test_extra_targets_come_on_top_of_the_context(context: float, extra: float, counts: list[int]) -> None:
    episode = draw(batch_of(*PARTIAL), Sampling((context, context), (extra, extra)))
    assert per_graph(episode.target, episode) == counts
    assert not (episode.context & ~episode.target).any()
    assert not (episode.target & (episode.y == -1)).any()


def test_every_labelled_node_is_drawn_equally_often() -> None:
    graphs = 3000
    episode = draw(batch_of(*[[0, -1, 1, 2, 0, 1]] * graphs), Sampling((0.4, 0.4), (0.2, 0.2)))
    share = episode.context.reshape(graphs, 6).double().mean(0)
    extra = episode.unlabelled_targets.reshape(graphs, 6).double().mean(0)
    labelled = torch.tensor([1, 0, 1, 1, 1, 1], dtype=torch.double)
    torch.testing.assert_close(share, 0.4 * labelled, rtol=0, atol=0.04)
    torch.testing.assert_close(extra, 0.2 * labelled, rtol=0, atol=0.04)


def test_rates_are_drawn_per_graph_over_the_whole_range() -> None:
    batch = batch_of(*[[0] * 100] * 500)
    uniform = draw(batch, Sampling((0.2, 0.6), (0.1, 0.3)))
    context = torch.tensor(per_graph(uniform.context, uniform))
    extra = torch.tensor(per_graph(uniform.unlabelled_targets, uniform))
    for count, low, high in ((context, 20, 60), (extra, 10, 30)):
        assert low <= count.min() <= low + 2
        assert high - 2 <= count.max() <= high
    assert context.double().mean() == pytest.approx(40, abs=2)


def test_log_uniform_rates_are_as_often_below_as_above_the_geometric_mean() -> None:
    episode = draw(batch_of(*[[0] * 400] * 400), Sampling((0.01, 1.0), log_uniform=True))
    share = torch.tensor(per_graph(episode.context, episode)) / 400
    assert (share <= 0.1).double().mean() == pytest.approx(0.5, abs=0.08)
    assert share.min() <= 0.0125
    assert share.max() >= 0.9


def test_the_same_seed_draws_the_same_episode() -> None:
    batch = batch_of(*[[0, 1, 2, -1, 0, 1, 2, 2, 1, 0]] * 20)
    sampling = Sampling((0.1, 0.8), (0.1, 0.5), arbitrary=True)
    first, again, other = draw(batch, sampling, 5), draw(batch, sampling, 5), draw(batch, sampling, 6)
    for key in ("context", "target", "y"):
        assert torch.equal(getattr(first, key), getattr(again, key)), key
        assert not torch.equal(getattr(first, key), getattr(other, key)), key


def test_arbitrary_labelling_is_one_permutation_per_graph() -> None:
    labels, graphs = torch.tensor([0, 1, 2, -1, 2, 1, 0, 1]), 1200
    episode = draw(batch_of(*[labels.tolist()] * graphs), Sampling.fixed(0.5, arbitrary=True))
    renamed = episode.y.reshape(graphs, -1)
    permutation = renamed[:, :3]
    assert torch.equal(permutation.sort(1).values, torch.arange(3).expand(graphs, 3))
    for column, label in enumerate(labels.tolist()):
        expected = torch.full((graphs,), -1) if label == -1 else permutation[:, label]
        assert torch.equal(renamed[:, column], expected)
    drawn = [tuple(row) for row in permutation.tolist()]
    for each in itertools.permutations(range(3)):
        assert drawn.count(each) / graphs == pytest.approx(1 / 6, abs=0.05)


def test_relabelled_by_hand() -> None:
    batch = batch_of([0, 1, 2, -1], [2, 0])
    episode = draw(batch, Sampling.fixed(1.0)).relabelled(torch.tensor([[1, 2, 0], [2, 1, 0]]))
    assert episode.y.tolist() == episode.graph.y.tolist() == [1, 2, 0, -1, 0, 2]
    assert episode.only(1).y.tolist() == episode.only(1).graph.y.tolist() == [0, 2]
    assert batch.y.tolist() == [0, 1, 2, -1, 2, 0]  # whoever else holds the graphs keeps the labels they had


def test_repr_tells_sizes() -> None:
    episode = draw(batch_of([0, 1, 2, -1], [2, 0]), Sampling.fixed(0.4))
    assert repr(episode) == "Episode(graphs=2, nodes=6, classes=3, context=2, targets=5)"


def test_shown_is_zero_outside_the_context() -> None:
    episode = Episode.from_graphs([batch_of([2, 0, -1, 1])], torch.tensor([True, False, True, True]), num_classes=3)
    assert episode.shown().tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 1, 0]]
    # Every node is a target here, but the unlabelled one has nothing to show.
    assert episode.shown(episode.target).tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 1, 0]]


def test_hidden_labels_have_no_influence_on_what_is_shown() -> None:
    episode = draw(batch_of(*PARTIAL), Sampling.fixed(0.3))
    before = episode.shown()
    episode.y = torch.where(episode.context, episode.y, (episode.y + 1) % 3)
    assert torch.equal(episode.shown(), before)


def test_with_context_leaves_the_rest_alone() -> None:
    episode = draw(batch_of([0, 1, 2]), Sampling.fixed(1.0))
    other = episode.with_context(torch.tensor([False, True, False]))
    assert episode.context.tolist() == [True, True, True]
    assert other.context.tolist() == [False, True, False]
    assert other.unlabelled_targets.tolist() == [True, False, True]
    assert other.y is episode.y


def test_from_graphs_shows_every_label_and_asks_for_every_node() -> None:
    empty = torch.empty(2, 0, dtype=torch.long)
    graphs = [
        Data(x=torch.zeros(3, 1), edge_index=empty, y=torch.tensor([0, -1, 3])),
        Data(x=torch.zeros(2, 1), edge_index=empty),
    ]
    episode = Episode.from_graphs(graphs)
    assert episode.context.tolist() == [True, False, True, False, False]
    assert episode.target.all()
    assert (episode.num_classes, episode.num_graphs, episode.num_nodes) == (4, 2, 5)
    assert episode.batch.tolist() == [0, 0, 0, 1, 1]
    assert Episode.from_graphs(graphs[1:], num_classes=6).num_classes == 6
    with pytest.raises(UserError, match=r"label 3 was given, but there are 2 classes"):
        Episode.from_graphs(graphs, num_classes=2)


@pytest.mark.parametrize(
    ("context", "extra", "log_uniform"),
    [
        ((0.5, 0.3), None, False),
        ((-0.1, 0.3), None, False),
        ((0.5, 1.1), None, False),
        ((0.1, 0.3), (0.4, 0.2), False),
        ((0.0, 0.5), None, True),
    ],
)
def test_impossible_rates_are_refused(
    context: tuple[float, float], extra: tuple[float, float] | None, log_uniform: bool
) -> None:
    with pytest.raises(UserError, match="rates"):
        Sampling(context, extra, log_uniform)


def test_one_graph_of_a_batch_is_an_episode_of_its_own() -> None:
    graphs = [
        Data(x=torch.randn(3, 2), edge_index=torch.tensor([[0, 1], [1, 2]]), y=torch.tensor([0, 1, 2])),
        Data(x=torch.randn(4, 2), edge_index=torch.tensor([[3, 0, 0], [0, 2, 2]]), y=torch.tensor([1, -1, 0, 2])),
    ]
    for graph in graphs:
        graph.edge_type = torch.arange(graph.edge_index.size(1))
    whole = Episode.from_graphs(graphs, torch.tensor([True, False, False, True, False, False, True]))
    alone = whole.only(1)
    torch.testing.assert_close(alone.graph.x, graphs[1].x)
    assert alone.y.tolist() == [1, -1, 0, 2]
    assert alone.context.tolist() == [True, False, False, True]
    assert sorted(plain_edges(alone.graph.edge_index).T.tolist()) == [[0, 2], [0, 2], [3, 0]]
    assert sorted(alone.graph.edge_type.tolist()) == [0, 1, 2]
    assert (alone.num_graphs, alone.num_nodes, alone.num_classes) == (1, 4, 3)


def test_a_part_keeps_every_field_of_its_nodes_and_edges() -> None:
    graphs = [Data(x=torch.zeros(3, 1), edge_index=torch.tensor([[2, 0, 1, 0], [0, 1, 2, 2]])) for _ in range(3)]
    batch = GraphSet.from_data_list(graphs).select(torch.arange(3))
    source, target = plain_edges(batch.edge_index)
    batch.edge_weight = (10 * source + target).float()  # names the edge's two ends
    batch.edge_attr = torch.stack([source, target], 1)
    batch.age, batch.pos = torch.arange(9), torch.arange(18.0).reshape(9, 2)
    part = Episode(batch, batch.y, batch.y >= 0, batch.y < 0, 2).part(1, 3).graph
    assert part.age.tolist() == [3, 4, 5, 6, 7, 8]
    assert torch.equal(part.pos, batch.pos[3:])
    source, target = plain_edges(part.edge_index)
    assert part.edge_weight.tolist() == (10 * (source + 3) + target + 3).tolist()
    assert torch.equal(part.edge_attr, torch.stack([source, target], 1) + 3)
    assert (part.ptr.tolist(), part.batch.tolist()) == ([0, 3, 6], [0, 0, 0, 1, 1, 1])


def test_the_share_shown_counts_all_nodes_of_a_graph() -> None:
    edges = torch.zeros(2, 0, dtype=torch.long)
    graphs = [Data(x=torch.ones(len(y), 1), edge_index=edges, y=torch.tensor(y)) for y in ([0, 1, -1, -1], [-1, -1])]
    assert Episode.from_graphs(graphs).share_shown.tolist() == [0.5, 0]
