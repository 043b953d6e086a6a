"""Query strategies keep one contract, and each asks for what it says."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.active import STRATEGIES, Choice, ask
from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.prediction import Prediction

EDGES = [
    [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 0), (0, 3)],
    [(0, 1), (0, 1), (2, 1), (4, 2), (5, 0), (3, 3), (1, 5)],
    [],
    [],
    [(1, 3), (3, 1)],
]
SIZES = [7, 6, 1, 4, 5]


def graph(nodes: int, edges: list[tuple[int, int]], both: bool = True) -> Data:
    edge_index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()
    edge_index = torch.cat([edge_index, edge_index.flip(0)], 1) if both else edge_index
    return Data(x=torch.ones(nodes, 1), edge_index=edge_index, y=torch.arange(nodes) % 3)


def episode_of(*graphs: Data, context: tuple[int, ...] = ()) -> Episode:
    mask = torch.zeros(sum(g.num_nodes for g in graphs), dtype=torch.bool)
    mask[list(context)] = True
    return Episode.from_graphs(list(graphs), mask, 3)


def prediction_of(*probabilities: float) -> Prediction:
    """Two classes, the probability of the second given."""
    p = torch.tensor(probabilities)
    return Prediction.certain(torch.stack([1 - p, p], 1))


def nodes_of(strategy: str, *arguments: object, **options: object) -> list[int]:
    return ask(strategy, *arguments, **options).nodes.tolist()  # type: ignore[arg-type]


# --- The contract ----------------------------------------------------------------------------------------------------


@pytest.fixture(params=STRATEGIES)
def strategy(request: pytest.FixtureRequest) -> str:
    return request.param


def odd_graphs() -> list[Data]:
    return [graph(size, edges, both=size == 7) for size, edges in zip(SIZES, EDGES, strict=True)]


def odd_case() -> tuple[Episode, Prediction, Tensor]:
    """Odd graphs with labels, predictions with ties among them, and a pool with one graph's whole and another's nothing."""
    episode = episode_of(*odd_graphs(), context=(0, 8, 9))
    logits = 2 * torch.randn(5, sum(SIZES), 3, generator=torch.Generator().manual_seed(0))
    logits[:, 15:18] = logits[:, 14:15]
    pool = torch.arange(sum(SIZES)) % 4 != 1
    pool[14:18], pool[13] = True, False
    return episode, Prediction.from_samples(logits.softmax(-1)), pool


@pytest.mark.parametrize("count", [1, 2, 50, 10**30])
def test_so_many_nodes_of_every_graphs_pool(strategy: str, count: int) -> None:
    episode, prediction, pool = odd_case()
    nodes, scores = ask(strategy, episode, prediction, pool, count)
    allowed = pool & ~episode.context
    assert nodes.unique().numel() == nodes.numel() == scores.numel()
    assert allowed[nodes].all()
    there = torch.bincount(episode.batch[allowed], minlength=5)
    assert torch.bincount(episode.batch[nodes], minlength=5).tolist() == there.clamp(max=min(count, 99)).tolist()
    # Graph by graph, and the best of each first.
    graphs = episode.batch[nodes]
    assert (graphs.diff() >= 0).all()
    assert (scores.diff()[graphs.diff() == 0] <= 1e-6).all()


def same(got: Choice, expected: Choice) -> bool:
    return torch.equal(got.nodes, expected.nodes) and torch.equal(got.scores, expected.scores)


def test_the_seed_decides(strategy: str) -> None:
    episode, prediction, pool = odd_case()
    state = torch.get_rng_state()
    first = ask(strategy, episode, prediction, pool, 3, seed=7)
    assert torch.equal(torch.get_rng_state(), state)
    assert same(ask(strategy, episode, prediction, pool, 3, seed=7), first)
    # Nodes 14 to 17 are all alike and alone: whatever the strategy, chance decides between them.
    among = torch.arange(sum(SIZES)).ge(14) & torch.arange(sum(SIZES)).lt(18)
    assert len({nodes_of(strategy, episode, prediction, among, seed=seed)[0] for seed in range(30)}) == 4


def test_hidden_labels_have_no_influence(strategy: str) -> None:
    episode, prediction, pool = odd_case()
    expected = ask(strategy, episode, prediction, pool, 3)
    for y in (torch.where(episode.context, episode.y, -1), torch.where(episode.context, episode.y, 2 - episode.y)):
        assert same(ask(strategy, replace(episode, y=y), prediction, pool, 3), expected)


def test_a_graph_alone_is_asked_as_in_a_batch(strategy: str) -> None:
    episode, prediction, pool = odd_case()
    together, ptr = ask(strategy, episode, prediction, pool, 2), episode.graph.ptr
    for i in range(5):
        inside = torch.arange(int(ptr[i]), int(ptr[i + 1]))
        alone = ask(strategy, episode.only(i), prediction.at(inside), pool[inside], 2)
        mine = episode.batch[together.nodes] == i
        assert (alone.nodes + ptr[i]).tolist() == together.nodes[mine].tolist()
        torch.testing.assert_close(alone.scores, together.scores[mine])


def test_without_a_pool_all_but_the_context_may_be_asked(strategy: str) -> None:
    episode, prediction, _ = odd_case()
    asked = nodes_of(strategy, episode, prediction, count=50)
    assert sorted(asked) == (~episode.context).nonzero().flatten().tolist()


def test_nothing_to_ask(strategy: str) -> None:
    episode, prediction, pool = odd_case()
    assert nodes_of(strategy, episode, prediction, torch.zeros_like(pool), 2) == []
    with pytest.raises(UserError, match="0 nodes to ask for were given, at least 1"):
        ask(strategy, episode, prediction, pool, 0)


def test_an_unknown_strategy() -> None:
    episode, prediction, pool = odd_case()
    with pytest.raises(UserError, match="did you mean 'entropy'"):
        ask("entropi", episode, prediction, pool)


# --- Scores by hand --------------------------------------------------------------------------------------------------

# Node 0: sure of itself in contradictory ways; 1: always undecided; 2: nearly sure; 3: torn between two of three classes.
SAMPLES = torch.tensor(
    [
        [[0.9, 0.1, 0.0], [0.4, 0.3, 0.3], [0.8, 0.1, 0.1], [0.5, 0.5, 0.0]],
        [[0.1, 0.9, 0.0], [0.4, 0.3, 0.3], [1.0, 0.0, 0.0], [0.4, 0.6, 0.0]],
    ]
)


def h(*p: float) -> float:
    return -sum(x * log(x) for x in p if x)


@pytest.mark.parametrize(
    ("strategy", "order", "scores"),
    [
        ("entropy", [1, 0, 3, 2], [h(0.4, 0.3, 0.3), h(0.5, 0.5), h(0.45, 0.55), h(0.9, 0.05, 0.05)]),
        (
            "epistemic",
            [0, 2, 3, 1],
            [
                log(2) - h(0.9, 0.1),
                h(0.9, 0.05, 0.05) - h(0.8, 0.1, 0.1) / 2,
                h(0.45, 0.55) - (log(2) + h(0.4, 0.6)) / 2,
                0,
            ],
        ),
        ("margin", [0, 3, 1, 2], [1, 0.9, 0.9, 0.15]),
        ("deviation", [0, 2, 3, 1], [sqrt(0.32 / 3), sqrt((0.01 + 2 * 0.0025) / 3), sqrt(0.005 / 3), 0]),
    ],
)
def test_scores_by_hand(strategy: str, order: list[int], scores: list[float]) -> None:
    episode, prediction = episode_of(graph(4, [])), Prediction.from_samples(SAMPLES)
    nodes, got = ask(strategy, episode, prediction, count=4)
    torch.testing.assert_close(got, torch.tensor(scores), atol=1e-6, rtol=0)
    if strategy != "margin":  # nodes 1 and 3 are even there
        assert nodes.tolist() == order


def test_the_deviation_of_a_predictor_without_samples_is_the_labels() -> None:
    nodes, scores = ask("deviation", episode_of(graph(3, [])), prediction_of(0.9, 0.6, 1.0), count=3)
    assert nodes.tolist() == [1, 0, 2]
    torch.testing.assert_close(scores, torch.tensor([sqrt(0.24), 0.3, 0.0]))


def test_random_asks_each_node_as_often() -> None:
    episode, prediction = episode_of(graph(4, [])), prediction_of(0.1, 0.5, 0.9, 0.3)
    first = [nodes_of("random", episode, prediction, seed=seed)[0] for seed in range(400)]
    assert all(70 <= first.count(node) <= 130 for node in range(4))


# --- Spread ----------------------------------------------------------------------------------------------------------


def ring(nodes: int) -> Data:
    return graph(nodes, [(i, (i + 1) % nodes) for i in range(nodes)])


def apart(nodes: list[int], size: int) -> int:
    """The smallest distance of two nodes on a ring."""
    steps = [abs(a - b) for i, a in enumerate(nodes) for b in nodes[:i]]
    return min(min(step, size - step) for step in steps)


def test_spread_on_a_path_by_hand() -> None:
    """K of the path 0-1-2 is [[3/8, √2/4, 1/8], [√2/4, 1/2, √2/4], [1/8, √2/4, 3/8]]."""
    episode, prediction = episode_of(graph(3, [(0, 1), (1, 2)])), prediction_of(0.5, 0.5, 0.5)
    nodes, scores = ask("spread", episode, prediction, count=2)
    assert nodes[0] == 1
    left = 1 - sqrt(2) / 2  # what the middle one leaves of an end's uncertainty
    torch.testing.assert_close(scores, log(2) * torch.tensor([0.5 + sqrt(2) / 2, left / 2]))
    # The middle one labelled from the start is the same.
    nodes, scores = ask("spread", episode.with_context(torch.tensor([False, True, False])), prediction)
    torch.testing.assert_close(scores, log(2) * torch.tensor([left / 2]))


def test_spread_asks_no_neighbours() -> None:
    episode, uncertain = episode_of(ring(16)), [0.5 if i < 7 else 0.98 for i in range(16)]
    prediction = prediction_of(*uncertain)
    assert apart(nodes_of("entropy", episode, prediction, count=4), 16) == 1
    assert apart(nodes_of("spread", episode, prediction, count=3), 16) >= 2
    for seed in range(20):
        assert apart(nodes_of("spread", episode, prediction_of(*[0.5] * 16), count=4, seed=seed), 16) >= 2


def test_spread_keeps_away_from_labels() -> None:
    prediction = prediction_of(*[0.5] * 9)
    for seed in range(20):
        (node,) = nodes_of("spread", episode_of(ring(9), context=(0,)), prediction, seed=seed)
        assert apart([0, node], 9) >= 3


def test_spread_prefers_what_stands_for_others_to_an_outlier() -> None:
    """A star whose nodes are a little less uncertain than a node on its own; without a label its centre comes first."""
    star = graph(6, [(0, i) for i in range(1, 5)])
    episode, prediction = episode_of(star), prediction_of(*[0.4] * 5, 0.5)
    assert nodes_of("entropy", episode, prediction) == [5]
    assert nodes_of("spread", episode, prediction) == [0]
    assert nodes_of("spread", episode, prediction, count=2) == [0, 5]


def test_spread_reads_no_direction_loops_or_doubles() -> None:
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (1, 4), (5, 1)]
    prediction = prediction_of(0.5, 0.3, 0.4, 0.2, 0.5, 0.45)
    expected = ask("spread", episode_of(graph(6, edges)), prediction, count=3)
    for other in (graph(6, edges, both=False), graph(6, [*edges, (2, 2), (1, 0), (0, 1)])):
        assert same(ask("spread", episode_of(other), prediction, count=3), expected)


def test_spread_where_all_is_sure() -> None:
    """One class alone is known, so that nothing is uncertain: structure decides."""
    star = graph(5, [(3, i) for i in (0, 1, 2, 4)])
    prediction = Prediction.certain(torch.ones(5, 1))
    assert nodes_of("spread", episode_of(star), prediction) == [3]


# --- Typical ---------------------------------------------------------------------------------------------------------


def kinds(*values: float, edges: tuple[tuple[int, int], ...] = ()) -> Data:
    """Nodes whose one feature says of which kind they are."""
    found = graph(len(values), list(edges))
    found.x = torch.tensor(values).unsqueeze(1)
    return found


def test_typical_asks_for_the_common_open_case_first() -> None:
    """Four nodes of one kind, two of another, and one alone, which is the most uncertain."""
    episode, prediction = episode_of(kinds(20, 0, 10, 0, 10, 0, 0)), prediction_of(0.5, *[0.4] * 6)
    assert nodes_of("entropy", episode, prediction) == [0]
    nodes, scores = ask("typical", episode, prediction, count=3)
    assert episode.graph.x[nodes, 0].tolist() == [0, 10, 20]
    unsure = -(0.4 * log(0.4) + 0.6 * log(0.6))
    torch.testing.assert_close(scores, torch.tensor([4 * unsure, 2 * unsure, log(2)]))
    labelled = episode.with_context(torch.arange(7) == 3)
    assert episode.graph.x[nodes_of("typical", labelled, prediction, count=2), 0].tolist() == [10, 20]


def test_typical_looks_at_the_surroundings() -> None:
    """Six leaves that look alike themselves, two beside a node of one kind and four beside one of another."""
    hubs = tuple((0, i) for i in (2, 3)) + tuple((1, i) for i in (4, 5, 6, 7))
    episode, prediction = episode_of(kinds(-9, 9, *[1.0] * 6, edges=hubs)), prediction_of(0, 0, *[0.5] * 6)
    for seed in range(5):
        first, second = nodes_of("typical", episode, prediction, count=2, seed=seed)
        assert first in (4, 5, 6, 7) and second in (2, 3)


def test_typical_where_all_is_sure_or_nothing_differs() -> None:
    sure = Prediction.certain(torch.ones(5, 1))
    assert nodes_of("typical", episode_of(kinds(3, 3, 8, 3, 5)), sure)[0] in (0, 1, 3)
    same_looks = {nodes_of("typical", episode_of(kinds(*[1.0] * 5)), sure, seed=seed)[0] for seed in range(40)}
    assert same_looks == set(range(5))


def test_typical_of_a_large_graph_needs_few_witnesses() -> None:
    """A thousand of 3,000 nodes are enough to see which kind is the most common."""
    episode = episode_of(kinds(*[0.0] * 1400, *[10.0] * 1000, *[20.0] * 600))
    nodes = nodes_of("typical", episode, prediction_of(*[0.5] * 3000), count=3)
    assert episode.graph.x[nodes, 0].tolist() == [0, 10, 20]
