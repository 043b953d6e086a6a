"""The study of single graphs, on a made-up one: two cliques with an edge between them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from studies.nodes import __main__ as program
from studies.nodes import arenas, chart, contestants, page, per_graph, storing
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

import mpnp
from mpnp.models.pretrained import save
from mpnp.models.universal import Universal, UniversalConfig
from mpnp.prediction import Prediction
from mpnp.tasks.nodes import Public

SIZE = 8  # of a clique
Y = torch.arange(2 * SIZE) // SIZE


def two_cliques() -> Public:
    pairs = torch.cartesian_prod(torch.arange(2 * SIZE), torch.arange(2 * SIZE))
    inside = (Y[pairs[:, 0]] == Y[pairs[:, 1]]) & (pairs[:, 0] != pairs[:, 1])
    bridge = (pairs.sum(1) == 2 * SIZE - 1) & (pairs.amax(1) == SIZE)
    x = torch.cat([torch.nn.functional.one_hot(Y, 2), torch.ones(2 * SIZE, 1)], 1).float()
    graph = Data(x=x, edge_index=pairs[inside | bridge].t().contiguous(), y=Y)
    place = torch.arange(2 * SIZE) % SIZE
    masks = torch.stack([torch.stack([place // 2 == (part + shift) % 4 for shift in range(2)]) for part in range(3)])
    return Public(graph, *masks)


@pytest.fixture
def arena() -> arenas.Arena:
    return arenas.Arena("cliques", two_cliques(), 2)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arena: arenas.Arena) -> Path:
    """An empty place for results, where the two cliques are the only graph there is."""
    for module in (program, page, chart):
        monkeypatch.setattr(module, "GRAPHS", {"cliques": None})
    monkeypatch.setattr(arenas.Arena, "named", lambda _: arena)
    monkeypatch.setattr(arenas, "DRAWS", 2)
    monkeypatch.setattr(storing, "HERE", tmp_path / "node")
    monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
    quick = per_graph.Training(20, 5, dropout=0.0)
    monkeypatch.setattr(per_graph, "STOPPED", quick)
    monkeypatch.setattr(per_graph, "FIXED", quick)
    return tmp_path / "node"


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = tmp_path / "weights"
    folder.mkdir()
    torch.manual_seed(0)
    save(Universal(UniversalConfig()), folder, {})
    return folder


def test_everyone_is_measured_once_and_the_page_tells_of_it(
    here: Path, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.main(["--model", str(weights)])
    text = (here / "README.md").read_text(encoding="utf-8")
    assert (here / "few-labels.png").stat().st_size > 0
    for name in page.NAMES:
        record = storing.stored("cliques", name, "public")
        assert record is not None and len(record.rows) == 2 and f"`{name}`" in text
    for name in ("universal", "best-expert", "stack", "label-propagation", "gcn"):
        record = storing.stored("cliques", name, "few-3")
        assert record is not None and [row["labels"] for row in record.rows] == [6, 6]
    spread = storing.stored("cliques", "label-propagation", "public")
    assert spread is not None and spread.mean("accuracy") == 1  # a clique has one class

    monkeypatch.setattr(storing, "measure", lambda *_: pytest.fail("measured again"))
    program.main(["--model", str(weights)])
    program.main([])  # without a model, what was measured of it stands
    assert (here / "README.md").read_text(encoding="utf-8") == text


def test_other_weights_are_measured_again(here: Path, weights: Path, arena: arenas.Arena) -> None:
    everyone = contestants.contestants(weights)
    storing.measure(arena, "public", everyone)
    assert not storing.pending(arena, "public", everyone)
    place = storing.path("cliques", "universal", "public")
    content = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps(content | {"identity": content["identity"] | {"weights": "others"}}), encoding="utf-8")
    assert [one.name for one in storing.pending(arena, "public", everyone)] == ["universal"]


def test_labels_are_drawn_outside_the_test_mask_and_more_contain_fewer(arena: arenas.Arena) -> None:
    one, three = arena.drawn(1, seed=0), arena.drawn(3, seed=0)
    assert set(one.context.tolist()) < set(three.context.tolist())
    assert not set(three.context.tolist()) & set(three.test.tolist())
    assert three.shown.bincount().tolist() == [3, 3]
    assert arena.drawn(100, seed=0).shown.bincount().tolist() == [SIZE - 2, SIZE - 2]  # all that there are


def test_nobody_reads_a_test_label(arena: arenas.Arena, weights: Path) -> None:
    public = arena.public
    turned = public.graph.clone()
    turned.y = torch.where(public.test[0], 1 - public.graph.y, public.graph.y)
    other = arenas.Arena("turned", Public(turned, public.train, public.val, public.test), 2)
    for one in contestants.contestants(weights):
        told, untold = (one.predict(where.published(0)).probabilities for where in (arena, other))
        torch.testing.assert_close(told, untold, msg=one.name)


def test_the_network_is_a_gcn(arena: arenas.Arena) -> None:
    graph = arena.public.graph
    network = per_graph.Network(3, 4, 2)
    first, second = GCNConv(3, 4), GCNConv(4, 2)
    with torch.no_grad():
        first.lin.weight.copy_(network.first.t())
        second.lin.weight.copy_(network.second.t())
    x = per_graph.row_normalised(graph.x)
    nodes = torch.tensor([0, SIZE])
    field = per_graph.Field(x, per_graph.normalised(graph.edge_index, 2 * SIZE), nodes)
    answer = network(field)
    dense = torch.from_numpy(x.toarray())
    expected: Tensor = second(first(dense, graph.edge_index).relu(), graph.edge_index)[nodes]
    torch.testing.assert_close(answer, expected)
    answer.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(network.first.grad, first.lin.weight.grad.t())


def test_the_best_expert_is_the_one_that_was_right_on_the_context(
    arena: arenas.Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = arena.published(0)
    found = case.asked[0].evidence
    found.accuracy.zero_()
    chosen = contestants.SINGLE.index("lp2")
    found.accuracy[chosen] = 1.0
    found.accuracy[contestants.EXPERTS.index("stack")] = 2.0  # a combination, so it does not count
    asked: list[int] = []
    monkeypatch.setattr(
        contestants, "said", lambda _, expert: asked.append(expert) or Prediction.certain(torch.ones(1, 1))
    )
    contestants.best_expert(case)
    assert asked == [chosen]


def test_a_graph_that_does_not_exist_is_refused(here: Path) -> None:
    with pytest.raises(mpnp.UserError, match="atlantis"):
        program.main(["--graphs", "atlantis"])
