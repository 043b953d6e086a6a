"""Published strategies on graphs where what they ask for can be seen."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data

from mpnp.active import ask, rivals
from mpnp.active.seen import distances
from mpnp.episode import Episode
from mpnp.prediction import Prediction


def lumps(sizes: tuple[int, ...], context: tuple[int, ...] = ()) -> Episode:
    """Nodes without edges in lumps of like features, each with its middle first."""
    random, rows = torch.Generator().manual_seed(0), []
    for number, size in enumerate(sizes):
        place = torch.zeros(len(sizes))
        place[number] = 10.0
        rows += [place.unsqueeze(0), place + 0.5 * torch.randn(size - 1, len(sizes), generator=random)]
    x = torch.cat(rows)
    shown = torch.zeros(x.size(0), dtype=torch.bool)
    shown[list(context)] = True
    graph = Data(x=x, edge_index=torch.empty(2, 0, dtype=torch.long), y=torch.zeros(x.size(0), dtype=torch.long))
    return Episode.from_graphs([graph], shown, 3)


def sure(nodes: int) -> Prediction:
    return Prediction.certain(torch.full((nodes, 3), 1 / 3))


def lump(node: int, sizes: tuple[int, ...]) -> int:
    return next(i for i in range(len(sizes)) if node < sum(sizes[: i + 1]))


def test_featprop_takes_one_of_each_lump() -> None:
    sizes = (12, 8, 5)
    nodes = ask("featprop", lumps(sizes), sure(25), count=3).nodes.tolist()
    assert sorted(lump(node, sizes) for node in nodes) == [0, 1, 2]
    assert lump(ask("featprop", lumps(sizes, context=(0, 12)), sure(25)).nodes.tolist()[0], sizes) == 2


def test_medoids_are_those_of_looking_at_all_nodes_every_time() -> None:
    random = torch.Generator().manual_seed(0)
    places, noise = torch.rand(2000, 3, generator=random), torch.rand(2000, generator=random, dtype=torch.double)
    apart, pool = torch.cdist(places, places[:300]), torch.rand(2000, generator=random) < 0.7
    reached = apart[0]
    for node, gain in rivals._medoids(apart, reached, pool, 30, noise):
        plain = (reached - apart).clamp(min=0).mean(1).masked_fill(~pool, -1)
        assert int(node) == int(plain.argmax()) and float(gain) == pytest.approx(float(plain.max()))
        reached = torch.minimum(reached, apart[node[0]])
        pool[node] = False


def test_a_very_large_graph_has_fewer_witnesses(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, widths = (60, 50, 40), []
    measure = rivals.distances

    def seen(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        widths.append(other.size(0))
        return measure(one, other)

    monkeypatch.setattr(rivals, "distances", seen)
    monkeypatch.setattr(rivals, "MOST_APART", 100 * 150)
    nodes = ask("featprop", lumps(sizes), sure(150), count=3).nodes.tolist()
    assert widths == [100] and sorted(lump(node, sizes) for node in nodes) == [0, 1, 2]


def test_coverage_takes_what_no_label_is_near_to() -> None:
    sizes = (12, 8, 5)
    nodes = ask("grain", lumps(sizes, context=(0,)), sure(25), count=6).nodes.tolist()
    assert {lump(node, sizes) for node in nodes} == {0, 1, 2}


def test_coverage_follows_edges() -> None:
    """A star beside nodes that are alone: a node of the star influences the most."""
    hub = torch.tensor([[0] * 6, [1, 2, 3, 4, 5, 6]])
    graph = Data(x=torch.ones(12, 1), edge_index=torch.cat([hub, hub.flip(0)], 1), y=torch.zeros(12, dtype=torch.long))
    episode = Episode.from_graphs([graph], torch.zeros(12, dtype=torch.bool), 3)
    assert ask("grain", episode, sure(12)).nodes.tolist()[0] <= 6


def test_age_begins_with_the_centre_and_comes_to_doubt() -> None:
    """A wheel: with no label its hub is asked for; with many, the node in doubt."""
    around = torch.arange(1, 41)
    edges = torch.cat([torch.stack([around, torch.zeros_like(around)]), torch.stack([around, around.roll(1)])], 1)
    graph = Data(
        x=torch.ones(41, 1), edge_index=torch.cat([edges, edges.flip(0)], 1), y=torch.zeros(41, dtype=torch.long)
    )
    p = torch.full((41, 2), 0.5)
    p[:40] = torch.tensor([0.99, 0.01])
    doubt = Prediction.certain(p)
    episode = Episode.from_graphs([graph], torch.zeros(41, dtype=torch.bool), 2)
    assert ask("age", episode, doubt).nodes.tolist() == [0]
    labelled = episode.with_context((torch.arange(41) > 0) & (torch.arange(41) < 36))
    assert ask("age", labelled, doubt, torch.arange(41) > 0).nodes.tolist() == [40]


def test_distances_are_the_same_either_way_and_equal_rows_are_not_apart_where_there_are_few() -> None:
    rows = torch.randn(40, 7, generator=torch.Generator().manual_seed(0)).repeat(2, 1)
    few, many = distances(rows, rows[:5]), distances(rows, rows[:5], most=0)
    torch.testing.assert_close(few, many, rtol=0, atol=5e-3)
    assert torch.equal(few[:40], few[40:]) and bool((few[:5].diagonal() == 0).all())
