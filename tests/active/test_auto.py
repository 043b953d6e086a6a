"""One strategy for everybody: it rehearses, or looks ahead."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch_geometric.data import Data

from mpnp.active import STRATEGIES, ask, auto, rehearse
from mpnp.active.auto import better
from mpnp.active.contract import Choice
from mpnp.defaults import STRATEGY
from mpnp.episode import Episode
from mpnp.models.label_propagation import LabelPropagation


def two_rings(size: int = 10, labels: int = 1) -> Episode:
    """Two rings of one class each, with so many labels on both."""
    around = torch.arange(size)
    edges = torch.stack([around, around.roll(1)])
    y = torch.cat([torch.zeros(size, dtype=torch.long), torch.ones(size, dtype=torch.long)])
    graph = Data(x=torch.zeros(2 * size, 1), edge_index=torch.cat([edges, edges + size], 1), y=y)
    context = torch.zeros(2 * size, dtype=torch.bool)
    context[:labels] = context[size : size + labels] = True
    return Episode.from_graphs([graph], context, 2)


class Fixed:
    """Asks for the nodes it is told."""

    says = "told"

    def __init__(self, *nodes: int) -> None:
        self.nodes = torch.tensor(nodes)

    def choose(self, episode: Episode, prediction: Any, pool: Any, count: int, noise: Any) -> Choice:
        free = self.nodes[pool[self.nodes]]
        return Choice(free, torch.zeros(free.numel()))


def worth(strategies: Any, **told: list[float]) -> dict[str, list[torch.Tensor]]:
    """By graph, the same in three draws; what is not told is worth -0.5."""
    graphs = len(next(iter(told.values())))
    return {name: [torch.full((3,), value) for value in told.get(name, graphs * [-0.5])] for name in strategies}


def test_it_is_the_default_and_looks_ahead_where_the_model_is_not_given() -> None:
    episode = two_rings(labels=auto.COVER)
    prediction = LabelPropagation().predict(episode)
    assert STRATEGY == "auto"
    got = ask("auto", episode, prediction, count=3)
    assert torch.equal(got.nodes, ask("expected", episode, prediction, count=3).nodes)


def test_with_few_labels_it_looks_at_nodes_that_stand_for_others() -> None:
    """In both of two graphs, of which one has labels enough."""
    few, enough = two_rings(), two_rings(labels=auto.COVER)
    context = torch.cat([few.context, enough.context])
    episode = Episode.from_graphs([two_rings().graph, two_rings().graph], context, 2)
    prediction = LabelPropagation().predict(episode)
    got = ask("auto", episode, prediction, count=3).nodes
    standing = ask("featprop", episode, prediction, count=3).nodes
    ahead = ask("expected", episode, prediction, count=3).nodes
    assert set(got[:3].tolist()) == set(standing[:3].tolist())
    assert got[3:].tolist() == ahead[3:].tolist()


def test_with_a_model_it_asks_as_rehearsed_until_so_many_labels_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[int]] = []

    def told(predictor: Any, episode: Any, prediction: Any, strategies: Any, counts: Any, **options: Any) -> Any:
        seen.append(counts)
        return worth(strategies, margin=[-0.3])

    monkeypatch.setattr(auto, "rehearse", told)
    episode, predictor = two_rings(), LabelPropagation()
    prediction = predictor.predict(episode)
    got = ask("auto", episode, prediction, count=2, predictor=predictor)
    assert torch.equal(got.nodes, ask("margin", episode, prediction, count=2).nodes) and seen == [[auto.LEAST]]
    ask("auto", episode.with_context(torch.arange(20) < 2 + auto.LEAST - 1), prediction, predictor=predictor)
    assert len(seen) == 1
    ask("auto", episode.with_context(torch.arange(20) < 2 + auto.LEAST), prediction, predictor=predictor)
    assert seen[1:] == [[2 + auto.LEAST]]  # as many as there are
    ask("auto", episode.with_context(torch.arange(20) < 2 + auto.LEAST), prediction, predictor=LabelPropagation())
    assert len(seen) == 3  # another model makes another thing of the same labels
    monkeypatch.setattr(auto, "MOST_NODES", 5)  # too large to rehearse on: by the first
    big = two_rings()
    got = ask("auto", big, prediction, count=2, predictor=predictor)
    assert torch.equal(got.nodes, ask("spread", big, prediction, count=2).nodes) and len(seen) == 3


def test_every_graph_is_asked_by_what_is_best_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(predictor: Any, episode: Any, prediction: Any, strategies: Any, counts: Any, **options: Any) -> Any:
        return worth(strategies, margin=[-0.3, -0.9], typical=[-0.4, -0.2])

    monkeypatch.setattr(auto, "rehearse", told)
    episode = Episode.from_graphs([two_rings().graph, two_rings().graph], two_rings().context.repeat(2), 2)
    predictor = LabelPropagation()
    prediction = predictor.predict(episode)
    got = ask("auto", episode, prediction, count=2, predictor=predictor).nodes
    assert got[:2].tolist() == ask("margin", episode, prediction, count=2).nodes[:2].tolist()
    assert got[2:].tolist() == ask("typical", episode, prediction, count=2).nodes[2:].tolist()
    pool = torch.arange(40) >= 20  # nothing is left to ask on the first
    assert ask("auto", episode, prediction, pool, count=2, predictor=predictor).nodes.tolist() == got[2:].tolist()


def test_a_graph_is_asked_alike_alone_and_in_a_batch() -> None:
    """With real rehearsals, of graphs that differ in size and in labels."""
    alone = [two_rings(10, 1), two_rings(7, 2)]
    both = Episode.from_graphs([one.graph for one in alone], torch.cat([one.context for one in alone]), 2)
    predictor = LabelPropagation()
    together = ask("auto", both, predictor.predict(both), count=3, predictor=predictor).nodes
    apart = [ask("auto", one, predictor.predict(one), count=3, predictor=predictor).nodes for one in alone]
    assert together.tolist() == [*apart[0].tolist(), *(20 + apart[1]).tolist()]


def test_a_rehearsal_tells_good_questions_from_bad_ones() -> None:
    """A third ring is far from both labels: to ask there tells more than to ask beside a label."""
    around = torch.arange(8)
    edges = torch.cat([torch.stack([around, around.roll(1)]) + 8 * ring for ring in range(3)], 1)
    graph = Data(x=torch.zeros(24, 1), edge_index=edges, y=torch.zeros(24, dtype=torch.long))
    context = torch.zeros(24, dtype=torch.bool)
    context[[0, 8]] = True
    graph.y[8] = 1
    episode = Episode.from_graphs([graph, graph], context.repeat(2), 2)
    noise = torch.rand(48, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    open_ring, known = [20, 16, 18, 22], [1, 9, 7, 15]
    asked = {
        "open": Fixed(*open_ring, *(24 + node for node in known)),
        "known": Fixed(*known, *(24 + node for node in open_ring)),
    }
    predictor = LabelPropagation()
    found = rehearse(
        predictor, episode, predictor.predict(episode), asked, [8, 8], pool=~episode.context, noise=noise, draws=6
    )
    assert all(values.shape == (6,) and values.max() <= 0 for one in found.values() for values in one)
    assert found["open"][0].mean() > found["known"][0].mean() and found["open"][1].mean() < found["known"][1].mean()
    assert [better({name: one[graph] for name, one in found.items()}) for graph in (0, 1)] == ["open", "known"]


def test_made_up_answers_are_shown_where_they_were_asked_for_and_true_ones_are_not_seen() -> None:
    seen: list[torch.Tensor] = []

    class Watched(LabelPropagation):
        def predict(self, episode: Episode, **options: Any) -> Any:  # type: ignore[override]
            seen.append(episode.context.view(-1, 20))
            return super().predict(episode, **options)

    episode = two_rings()
    other = two_rings()
    other.y[~other.context] = 1 - other.y[~other.context]
    prediction, pool = LabelPropagation().predict(episode), ~episode.context
    found = [
        rehearse(Watched(), one, prediction, {"told": Fixed(3, 4, 5)}, [2], pool=pool, noise=torch.rand(20), draws=3)
        for one in (episode, other)
    ]
    assert torch.equal(found[0]["told"][0], found[1]["told"][0])
    assert seen[0].tolist() == 3 * [[node in (0, 3, 4, 10) for node in range(20)]]


def test_the_first_stands_unless_another_is_better_for_sure() -> None:
    first = torch.tensor([-0.3, -0.2, -0.4])
    assert better({"first": first, "worse": first - 0.1, "equal": first.clone()}) == "first"
    assert better({"first": first, "by chance": first + torch.tensor([0.4, -0.1, 0.0])}) == "first"
    assert better({"first": first, "better": first + 0.1, "best": first + torch.tensor([0.2, 0.22, 0.21])}) == "best"
    assert better({"first": first[:1], "once": first[:1] + 1}) == "first"  # one draw makes nobody sure


def test_all_that_is_rehearsed_is_a_strategy() -> None:
    chooser = STRATEGIES["auto"]
    assert isinstance(chooser, auto.Auto)
    assert set(chooser.rehearsed) <= set(STRATEGIES) and "random" in chooser.rehearsed
