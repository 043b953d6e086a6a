"""One strategy for everybody: it looks ahead, or rehearses."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch_geometric.data import Data

from mpnp.active import STRATEGIES, ask, auto, expected, rehearse
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
        free = self.nodes[pool[self.nodes]][:count]
        return Choice(free, torch.zeros(free.numel()))


def test_it_is_the_default_and_looks_ahead_where_it_can() -> None:
    episode, predictor = two_rings(labels=auto.COVER), LabelPropagation()
    prediction = predictor.predict(episode)
    assert STRATEGY == "auto"
    for given in (None, predictor):
        got = ask("auto", episode, prediction, count=3, predictor=given)
        assert torch.equal(got.nodes, ask("expected", episode, prediction, count=3, predictor=given).nodes)


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


def test_where_it_cannot_it_asks_as_rehearsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected, "AFFORDABLE", 10)
    seen: list[int] = []

    def told(*given: Any, **options: Any) -> dict[str, float]:
        seen.append(1)
        return {"random": 0.5, "margin": 0.7, "spread": 0.6}

    monkeypatch.setattr(auto, "rehearse", told)
    episode, predictor = two_rings(), LabelPropagation()
    prediction = predictor.predict(episode)
    got = ask("auto", episode, prediction, count=2, predictor=predictor)
    assert torch.equal(got.nodes, ask("margin", episode, prediction, count=2).nodes)
    more = episode.with_context(episode.context | (torch.arange(20) == 5))
    ask("auto", more, prediction, predictor=predictor)
    assert len(seen) == 1  # until the labels have doubled
    ask("auto", episode.with_context(torch.arange(20) < 5), prediction, predictor=predictor)
    assert len(seen) == 2
    monkeypatch.setattr(auto, "MOST_NODES", 5)  # too large to rehearse: the stand-in looks ahead
    big = two_rings()
    got = ask("auto", big, prediction, count=2, predictor=predictor)
    assert torch.equal(got.nodes, ask("expected", big, prediction, count=2).nodes) and len(seen) == 2


def test_a_rehearsal_tells_good_questions_from_bad_ones() -> None:
    """A third ring is far from both labels: to ask there tells more than to ask beside a label."""
    around = torch.arange(8)
    edges = torch.cat([torch.stack([around, around.roll(1)]) + 8 * ring for ring in range(3)], 1)
    graph = Data(x=torch.zeros(24, 1), edge_index=edges, y=torch.zeros(24, dtype=torch.long))
    context = torch.zeros(24, dtype=torch.bool)
    context[[0, 8]] = True
    graph.y[8] = 1
    episode = Episode.from_graphs([graph], context, 2)
    noise = torch.rand(24, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    asked = {"open": Fixed(20, 16, 18, 22), "known": Fixed(1, 9, 7, 15)}
    worth = rehearse(LabelPropagation(), episode, asked, pool=~context, noise=noise, draws=6)
    assert worth["open"] > worth["known"] and all(0 <= value <= 1 + 1e-9 for value in worth.values())


def test_all_that_is_rehearsed_is_a_strategy() -> None:
    chooser = STRATEGIES["auto"]
    assert isinstance(chooser, auto.Auto)
    assert set(chooser.rehearsed) <= set(STRATEGIES) and "random" in chooser.rehearsed
