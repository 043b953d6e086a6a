"""The study of single graphs, on a made-up one: two cliques with an edge between them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from studies.nodes import __main__ as program
from studies.nodes import arenas, attentive, chart, contestants, page, per_graph, storing
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
    monkeypatch.setattr(contestants, "attentive", lambda case: attentive.attentive(case, attentive.Lessons(4, 2)))
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

    assert "†" not in text and "### Conformal sets" in text

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


def test_of_two_scalings_the_one_better_on_validation_labels_is_taken(
    arena: arenas.Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {"length one": per_graph.Trained(torch.zeros(1), 0.4), "sum one": per_graph.Trained(torch.ones(1), 0.6)}
    monkeypatch.setattr(per_graph, "trained", lambda case, edges, rows, training: answers[rows])
    assert per_graph.train(arena.published(0), edges=True).item() == 1
    assert per_graph.train(arena.drawn(1, seed=0), edges=True).item() == 0  # no validation labels: nothing to choose by


def test_rows_are_scaled_and_empty_ones_stay() -> None:
    x = torch.tensor([[3.0, 4.0], [0.0, 0.0]])
    assert per_graph.row_normalised(x).toarray().tolist() == [pytest.approx([0.6, 0.8]), [0, 0]]
    assert per_graph.row_normalised(x, "sum one").toarray().tolist() == [pytest.approx([3 / 7, 4 / 7]), [0, 0]]


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


def test_label_propagation_predicts_labelled_nodes_without_their_own_label(arena: arenas.Arena) -> None:
    case = arena.published(0)
    turned = arena.public.graph.clone()
    turned.y = turned.y.clone()
    turned.y[case.context[0]] = 1 - turned.y[case.context[0]]
    public = arena.public
    other = arenas.Arena("turned", Public(turned, public.train, public.val, public.test), 2).published(0)
    told, lied = (contestants.label_propagation(each).probabilities[case.context[0]] for each in (case, other))
    torch.testing.assert_close(told, lied)


def test_sets_are_counted_where_a_promise_can_be_made(arena: arenas.Arena) -> None:
    """Nine labels promise 90 %, the six of a published split do not."""
    sure = Prediction.certain(torch.nn.functional.one_hot(Y, 2) * 0.98 + 0.01)
    one = contestants.Contestant("sure", lambda _: sure, leaves_out=True)
    found = storing.sets(one, arena.drawn(6, seed=0), sure)
    assert found == {"covered 0.9": 1, "size 0.9": 1, "covered 0.92": 1, "size 0.92": 1}
    assert storing.sets(one, arena.drawn(2, seed=0), sure) == {}
    assert storing.sets(contestants.Contestant("sure", lambda _: sure), arena.drawn(6, seed=0), sure) == {}


def test_what_other_experts_or_another_recipe_measured_is_marked() -> None:
    now = {"figures": "1", "cases": 2, "experts": list(contestants.SINGLE)}
    assert not contestants.outdated("universal", now) and not contestants.outdated("stack", now)
    assert contestants.outdated("universal", now | {"experts": ["x"]}) and contestants.outdated("stack", {"cases": 2})
    assert not contestants.outdated("label-propagation", {"cases": 2})
    assert contestants.outdated("gcn", {"stopped": {"epochs": 200}})


def test_ampnp_learns_the_one_graph(arena: arenas.Arena) -> None:
    case = arena.published(0)
    p = attentive.attentive(case, attentive.Lessons(30, 10)).probabilities
    assert float((p[case.test].argmax(1) == Y[case.test]).float().mean()) == 1
