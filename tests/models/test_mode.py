"""Predictors without parameters, on graphs small enough to check by hand."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.episode import Episode, Sampling, sample_episode
from mpnp.errors import UserError
from mpnp.models.mode import PREDICTORS, SMOOTHING, Mode, RulePosterior, RuleTable, StateMode
from mpnp.prediction import Predictor
from mpnp.tasks.cellular_automata import CellularAutomaton

NO_EDGES: list[tuple[int, int]] = []


def graph(state: list[int], edges: list[tuple[int, int]], y: list[int]) -> Data:
    x = torch.nn.functional.one_hot(torch.tensor(state), 2).float()
    return Data(x=x, edge_index=torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t(), y=torch.tensor(y))


def close(got: Tensor, expected: list[list[float]]) -> None:
    torch.testing.assert_close(got, torch.tensor(expected))


def smoothed(*counts: int) -> list[float]:
    return [(count + SMOOTHING) / (sum(counts) + SMOOTHING * len(counts)) for count in counts]


def test_mode_counts_the_context_of_each_graph() -> None:
    graphs = [graph([0] * 5, NO_EDGES, [2, 2, 0, 1, 1]), graph([0] * 3, NO_EDGES, [1, 0, 0]), graph([1], NO_EDGES, [2])]
    context = torch.tensor([True, True, True, False, False, True, True, False, False])
    prediction = Mode().predict(Episode.from_graphs(graphs, context))
    close(prediction.probabilities, [smoothed(1, 0, 2)] * 5 + [smoothed(1, 1, 0)] * 3 + [[1 / 3] * 3])
    # The most common label; the lowest of equals (graph 1) and without context (graph 2).
    assert prediction.label.tolist() == [2] * 5 + [0] * 3 + [0]
    assert prediction.epistemic.tolist() == [0] * 9


def test_mode_sees_nothing_but_the_context() -> None:
    episode = Episode.from_graphs([graph([0, 1, 0], NO_EDGES, [0, 1, 1])], torch.tensor([True, False, False]))
    assert Mode().predict(episode).label.tolist() == [0, 0, 0]


def test_state_mode_counts_nodes_with_equal_features() -> None:
    y = torch.tensor([0, 2, 2, 1, 1, 0, 0])
    x = torch.tensor([[0.5, 1], [0.5, 1], [0.5, 1], [-3, 1], [-3, 1], [7, 0], [0.5, 0]])
    one = Data(x=x, edge_index=torch.empty(2, 0, dtype=torch.long), y=y)
    two = Data(x=x[:1], edge_index=torch.empty(2, 0, dtype=torch.long), y=torch.tensor([1]))
    context = torch.tensor([True, True, True, True, False, False, False, False])
    prediction = StateMode().predict(Episode.from_graphs([one, two], context))
    fallback = smoothed(1, 1, 2)  # the mode of the graph, for states without context
    close(
        prediction.probabilities,
        [smoothed(1, 0, 2)] * 3 + [smoothed(0, 1, 0)] * 2 + [fallback] * 2 + [[1 / 3] * 3],
    )
    assert prediction.label.tolist() == [2, 2, 2, 1, 1, 2, 2, 0]


def test_rule_table_counts_state_and_living_neighbours() -> None:
    """Cells 2, 3, 4 and 6 are dead; 0 and 1 live. Living neighbours by incoming edges: 2, 3: one; 4: two; 6: none."""
    state = [1, 1, 0, 0, 0, 1, 0]
    edges = [(0, 2), (6, 2), (1, 3), (0, 4), (1, 4), (2, 0)]
    one = graph(state, edges, [1, 1, 1, 1, 0, 0, 0])
    context = torch.tensor([True, False, True, False, False, False, True])
    prediction = RuleTable().predict(Episode.from_graphs([one], context))
    close(
        prediction.probabilities,
        [
            smoothed(0, 1),  # alive, none: cell 0
            smoothed(0, 1),
            smoothed(0, 1),  # dead, one: cell 2
            smoothed(0, 1),
            smoothed(1, 1),  # dead, two: not in the context, so all dead cells, 2 and 6
            smoothed(0, 1),
            smoothed(1, 0),  # dead, none: cell 6
        ],
    )
    none_dead = Episode.from_graphs([one], torch.tensor([True] + [False] * 4 + [True, False]))
    # Dead cells are not in this context at all, so they take the graph's shares.
    close(RuleTable().predict(none_dead).probabilities[2:5], [smoothed(1, 1)] * 3)


def test_tables_agree_with_plain_counting() -> None:
    generator = torch.Generator().manual_seed(0)
    graphs = []
    for nodes in (1, 7, 30, 60):
        state = torch.randint(2, (nodes,), generator=generator).tolist()
        edges = torch.randint(nodes, (3 * nodes, 2), generator=generator).tolist()
        graphs.append(graph(state, edges, torch.randint(-1, 2, (nodes,), generator=generator).tolist()))
    context = torch.rand(98, generator=generator) < 0.4
    episode = Episode.from_graphs(graphs, context, num_classes=2)
    keys: list[tuple[tuple[int, ...], ...]] = []  # from the coarsest to the finest description of each node
    for number, one in enumerate(graphs):
        living = Counter(v for u, v in one.edge_index.t().tolist() if one.x[u, 1])
        for node, alive in enumerate(one.x[:, 1].int().tolist()):
            keys.append(((number,), (number, alive), (number, alive, living[node])))
    seen = Counter(
        (key, int(episode.y[node])) for node, all_keys in enumerate(keys) if episode.context[node] for key in all_keys
    )
    predictors: list[Predictor] = [Mode(), StateMode(), RuleTable()]
    for depth, predictor in enumerate(predictors, start=1):
        expected = []
        for all_keys in keys:
            counts = [[seen[key, 0], seen[key, 1]] for key in all_keys[:depth]]
            expected.append(smoothed(*next((pair for pair in reversed(counts) if sum(pair)), [0, 0])))
        close(predictor.predict(episode).probabilities, expected)


def half_and_three_quarters(labels: list[int]) -> Data:
    """Dead cells 4 (half of its neighbours live) and 5 (three quarters); cells 0 to 3 have no neighbours."""
    edges = [(0, 4), (3, 4), (0, 5), (1, 5), (2, 5), (3, 5)]
    return graph([1, 1, 1, 0, 0, 0], edges, [0, 0, 0, 0, *labels])


def test_rule_posterior_by_hand() -> None:
    """Cell 4 lives at density 1/2; cell 5 at 3/4 lives with probability 5/8.

    Interval rules that fit, k1 < 1/2 < k2: half of them; with k2 > 3/4 as well: 2 · 1/2 · 1/4 = 1/4. Inverted rules
    that fit, both thresholds on one side: half; of these both above 1/2 and 3/4 between: 2 · 1/4 · 1/4 = 1/8.
    Cell 5 lives under 1/4 + (1/2 - 1/8) = 5/8.
    """
    episode = Episode.from_graphs([half_and_three_quarters([1, 0])], torch.tensor([False] * 4 + [True, False]))
    prediction = RulePosterior().predict(episode)
    close(prediction.probabilities[4:], [[0, 1], [3 / 8, 5 / 8]])
    # Density 0 is never inside an interval, so the dead cell 3 tells inverted from not: one half. No living cell is
    # shown, which leaves the prior.
    close(prediction.probabilities[:4], [[0.5, 0.5]] * 4)
    assert prediction.aleatoric.tolist() == [0] * 6
    torch.testing.assert_close(prediction.epistemic, prediction.total)
    assert prediction.epistemic[4] == 0


def test_rule_posterior_with_the_other_label_is_the_mirror_image() -> None:
    context = torch.tensor([False] * 4 + [True, False])
    prediction = RulePosterior().predict(Episode.from_graphs([half_and_three_quarters([0, 1])], context))
    close(prediction.probabilities[4:], [[1, 0], [5 / 8, 3 / 8]])


def test_rule_posterior_agrees_with_rejection_sampling() -> None:
    """Draw rules from the prior, keep those that explain the context, let them vote."""
    generator = torch.Generator().manual_seed(3)
    nodes, rules = 40, 200_000
    state = torch.randint(2, (nodes,), generator=generator)
    edges = torch.randint(nodes, (160, 2), generator=generator)
    density = torch.zeros(nodes)
    for node in range(nodes):
        near = state[edges[edges[:, 1] == node, 0]]
        density[node] = near.float().mean() if len(near) else 0
    threshold = torch.rand(rules, 2, 2, generator=generator).sort(2).values
    turned = torch.rand(rules, 2, generator=generator) < 0.5
    low, high = threshold[:, state].unbind(2)
    outcome = ((low <= density) & (density <= high)) ^ turned[:, state]
    y, context = outcome[0].long(), torch.rand(nodes, generator=generator) < 0.2
    fits = (outcome[:, context] == outcome[0, context]).all(1)
    assert fits.sum() > 2000  # else this test says nothing
    episode = Episode.from_graphs([graph(state.tolist(), edges.tolist(), y.tolist())], context, num_classes=2)
    lives = RulePosterior().predict(episode).probabilities[:, 1]
    torch.testing.assert_close(lives, outcome[fits].float().mean(0), rtol=0, atol=0.04)


def test_a_graph_no_density_rule_explains_takes_the_rule_table() -> None:
    good, bad = half_and_three_quarters([1, 0]), half_and_three_quarters([1, 0])
    bad.y[:2] = torch.tensor([0, 1])  # two living cells without neighbours, one dies, one does not
    context = torch.tensor([False] * 4 + [True, False] + [True, True, False, False, True, False])
    episode = Episode.from_graphs([good, bad], context)
    prediction, table = RulePosterior().predict(episode), RuleTable().predict(episode)
    assert torch.equal(prediction.probabilities[6:], table.probabilities[6:])
    assert torch.equal(prediction.aleatoric[6:], table.aleatoric[6:])
    close(prediction.probabilities[5:6], [[3 / 8, 5 / 8]])
    assert prediction.aleatoric[:6].tolist() == [0] * 6


@pytest.mark.parametrize("family", ["small-world", "scale-free", "voronoi", "spherical-voronoi"])
def test_rule_posterior_is_right_about_its_own_doubt(family: str) -> None:
    """On data from its prior its log loss is its own entropy, and no table comes near it."""
    store = CellularAutomaton(family, graphs_total=400).graphs("train")
    batch = store.select(torch.arange(len(store)))
    episode = sample_episode(batch, 2, Sampling.fixed(0.1), torch.Generator().manual_seed(0))
    asked = episode.unlabelled_targets
    right = {}
    for name, make in PREDICTORS.items():
        prediction = make().predict(episode)
        right[name] = (prediction.label == episode.y)[asked].double().mean().item()
    loss = -prediction.probabilities[asked, episode.y[asked]].log().mean()
    assert loss.item() == pytest.approx(prediction.total[asked].mean().item(), abs=0.03)
    assert right["mode"] < right["state-mode"] < right["rule-table"] < right["rule-posterior"] - 0.05
    assert 0.89 < right["rule-posterior"] < 0.94
    everything = episode.with_context(episode.target)
    assert torch.equal(RulePosterior().predict(everything).label, episode.y)


def test_rule_table_knows_a_life_like_rule_once_all_pairs_are_shown() -> None:
    store = CellularAutomaton("life-like", graphs_total=20).graphs("test")
    batch = store.select(torch.arange(len(store)))
    episode = Episode(batch, batch.y, torch.ones_like(batch.y, dtype=torch.bool), batch.y >= 0, 2)
    assert torch.equal(RuleTable().predict(episode).label, episode.y)
    assert not torch.equal(StateMode().predict(episode).label, episode.y)


@pytest.mark.parametrize("name", PREDICTORS)
def test_every_predictor_keeps_to_the_protocol(name: str) -> None:
    predictor = PREDICTORS[name]()
    assert predictor.name == name
    assert predictor.sees_own_label is False
    graphs = [half_and_three_quarters([1, -1]), graph([1], NO_EDGES, [-1])]
    for context in (torch.ones(7, dtype=torch.bool), torch.zeros(7, dtype=torch.bool)):
        episode = Episode.from_graphs(graphs, context, num_classes=2)
        prediction = predictor.predict(episode, samples=3, seed=1)
        torch.testing.assert_close(prediction.probabilities.sum(1), torch.ones(7))
        # Without context nothing is known, so nothing is preferred.
        close(prediction.probabilities[6:] if context.any() else prediction.probabilities[:1], [[0.5, 0.5]])
        some = torch.tensor([5, 0, 6])
        part = predictor.predict(episode, nodes=some)
        assert torch.equal(part.probabilities, prediction.probabilities[some])
        assert torch.equal(part.aleatoric, prediction.aleatoric[some])
        hidden = episode.y.clone()
        hidden[~episode.context] = 1
        other = predictor.predict(Episode(episode.graph, hidden, episode.context, episode.target, 2))
        assert torch.equal(other.probabilities, prediction.probabilities)


@pytest.mark.parametrize("name", ["rule-table", "rule-posterior"])
@pytest.mark.parametrize(
    "x",
    [
        torch.eye(3),
        torch.ones(3, 1),
        torch.tensor([[0.3, 0.7]]),
        torch.tensor([[1.0, 1.0]]),
        torch.tensor([[2.0, -1.0]]),
    ],
)
def test_other_features_than_two_states_are_refused(name: str, x: Tensor) -> None:
    y = torch.arange(len(x)) % 2
    episode = Episode.from_graphs([Data(x=x, edge_index=torch.empty(2, 0), y=y)], num_classes=2)
    with pytest.raises(UserError, match="needs a cellular automaton's two state features"):
        PREDICTORS[name]().predict(episode)


def test_rule_posterior_refuses_more_than_two_classes() -> None:
    with pytest.raises(UserError, match="two classes"):
        RulePosterior().predict(Episode.from_graphs([graph([0, 1, 1], NO_EDGES, [0, 1, 2])]))
