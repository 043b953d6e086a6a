"""What ``universal`` keeps to: the contract of all models, for graphs, features and classes of every number and kind."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.experts.columns import Columns
from mpnp.experts.evidence import EXPERTS
from mpnp.experts.views import Views
from mpnp.models.universal import FACTS, MOST_PAIRS, PLAIN, STACK, Question, Universal, UniversalConfig
from mpnp.prediction import Prediction

from ..experts.made import both, two_towns

SHOWN = torch.arange(60) % 3 == 0


@cache
def model(shared: bool = False) -> Universal:
    """Fresh weights and noise on all of them: zeros at the start would hide what a parameter does."""
    torch.manual_seed(0)
    made = Universal(UniversalConfig(width=16, summary=16, z_width=4, shared=shared))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return made


def towns(**fields: Tensor) -> Data:
    graph = two_towns()
    for name, value in fields.items():
        graph[name] = value
    return graph


def predict(
    graph: Data | list[Data], context: Tensor | None = None, classes: int = 3, shared: bool = False
) -> Prediction:
    graphs = graph if isinstance(graph, list) else [graph]
    if context is None:
        context = torch.cat([torch.arange(each.num_nodes) % 3 == 0 for each in graphs])
    return model(shared).predict(Episode.from_graphs(graphs, context, classes), samples=4)


def sound(prediction: Prediction, nodes: int, classes: int) -> None:
    p = prediction.probabilities
    assert p.shape == (nodes, classes) and p.isfinite().all() and (p >= 0).all()
    torch.testing.assert_close(p.sum(1), torch.ones(nodes))
    assert prediction.aleatoric.isfinite().all() and (prediction.total >= prediction.aleatoric - 1e-5).all()


def close(got: Prediction, expected: Prediction, within: float = 1e-3) -> None:
    torch.testing.assert_close(got.probabilities, expected.probabilities, rtol=0, atol=within)
    torch.testing.assert_close(got.aleatoric, expected.aleatoric, rtol=0, atol=5 * within)


def differ(got: Prediction, expected: Prediction) -> bool:
    return not torch.allclose(got.probabilities, expected.probabilities, rtol=0, atol=1e-3)


def moved(graph: Data, order: Tensor) -> Data:
    return Data(x=graph.x[order], y=graph.y[order], edge_index=order.argsort()[graph.edge_index])


def test_the_order_of_nodes_and_edges_does_not_matter() -> None:
    graph, order = towns(), torch.randperm(60, generator=torch.Generator().manual_seed(1))
    other = moved(graph, order)
    other.edge_index = other.edge_index[:, torch.randperm(other.num_edges, generator=torch.Generator().manual_seed(2))]
    close(predict(other, SHOWN[order]), predict(graph, SHOWN).at(order))


BARE = torch.zeros(60, 0)


@pytest.mark.parametrize("x", ["measurements", "none"])
def test_relabelling_the_classes_relabels_the_answer(x: str) -> None:
    """Exactly where no expert works in folds, which follow the order of the classes; else nearly."""
    graph = towns(x=BARE) if x == "none" else towns()
    names = torch.tensor([2, 0, 1])
    expected = predict(graph)
    renamed = predict(towns(x=graph.x, y=names[graph.y])).probabilities[:, names]
    gap = (renamed - expected.probabilities).abs()
    assert float(gap.max()) < (1e-3 if x == "none" else 0.05)
    assert float(gap.mean()) < (1e-4 if x == "none" else 0.01)


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1e3, 1e30])
def test_units_and_order_of_measurements_do_not_matter(scale: float) -> None:
    graph = towns()
    expected = predict(graph)
    close(predict(towns(x=scale * graph.x)), expected, 5e-3)
    close(predict(towns(x=(graph.x * torch.tensor([1.0, 10, 100, 1000, 0.1]) - 3).flip(1))), expected, 5e-3)


def test_a_graph_alone_is_a_graph_in_a_batch() -> None:
    graphs = [
        towns(),
        two_towns(30, seed=1),
        Data(x=torch.ones(1, 5), edge_index=torch.empty(2, 0), y=torch.tensor([1])),
    ]
    together, start = predict(graphs), 0
    for graph in graphs:
        nodes = torch.arange(start, start + graph.num_nodes)
        close(together.at(nodes), predict(graph), 1e-4)
        start += graph.num_nodes


def test_labels_outside_the_context_have_no_influence() -> None:
    episode = Episode.from_graphs([towns()], SHOWN, 3)
    expected = model().predict(episode, samples=4).probabilities
    for hidden in ((episode.y + 1) % 3, torch.full_like(episode.y, -1)):
        other = replace(episode, y=torch.where(SHOWN, episode.y, hidden))
        assert torch.equal(model().predict(other, samples=4).probabilities, expected)


def test_a_label_in_the_context_has_influence_on_others() -> None:
    y = towns().y
    other = predict(towns(y=torch.where(torch.arange(60) == 3, (y + 1) % 3, y)))
    assert differ(other.at(torch.arange(4, 60)), predict(towns()).at(torch.arange(4, 60)))


def test_some_nodes_are_predicted_as_among_all() -> None:
    episode = Episode.from_graphs([towns(), two_towns(30)], torch.arange(90) % 3 == 0, 3)
    whole = model().predict(episode, samples=4)
    for nodes in ([70, 0, 13, 5, 5], [59], []):
        chosen = torch.tensor(nodes, dtype=torch.long)
        close(model().predict(episode, samples=4, nodes=chosen), whole.at(chosen), 1e-5)


def test_a_wrong_given_label_shows() -> None:
    """Context nodes are predicted without their own label: turning it round hardly moves the answer for that node."""
    graph = two_towns(60)
    graph.y = torch.arange(60) % 2  # the town
    context = torch.arange(60) < 40
    wrong = graph.clone()
    wrong.y[7] = 0
    assert int(predict(graph, context, 2).label[7]) == 1
    assert int(predict(wrong, context, 2).label[7]) == 1


@pytest.mark.parametrize("features", [0, 1, 2, 31, 33, 60, 300])
def test_any_number_of_features_is_answered(features: int) -> None:
    x = torch.randn(60, features, generator=torch.Generator().manual_seed(0))
    sound(predict(towns(x=x)), 60, 3)


def test_identity_features_are_no_features() -> None:
    for nothing in (torch.eye(60), torch.ones(60, 3), 5 * torch.eye(60)):
        close(predict(towns(x=nothing)), predict(towns(x=BARE)), 1e-5)


def test_words_are_answered() -> None:
    words = (torch.rand(60, 500, generator=torch.Generator().manual_seed(0)) < 0.02).float()
    sound(predict(towns(x=words)), 60, 3)


@pytest.mark.parametrize("classes", [1, 2, 20, 200])
def test_any_number_of_classes_is_answered(classes: int) -> None:
    graph = towns(y=torch.arange(60) % classes)
    sound(predict(graph, classes=classes), 60, classes)
    sound(predict(towns(x=BARE, y=torch.zeros(60, dtype=torch.long)), classes=classes), 60, classes)


@pytest.mark.parametrize("labels", [0, 1, 2, 3, 59, 60])
def test_any_context_is_answered(labels: int) -> None:
    for graph in (towns(), towns(x=BARE), towns(edge_index=torch.empty(2, 0, dtype=torch.long))):
        sound(predict(graph, torch.arange(60) < labels), 60, 3)


def test_classes_without_a_label_are_possible() -> None:
    y = towns().y.clamp(max=1)
    prediction = predict(towns(y=y), classes=5)
    sound(prediction, 60, 5)
    assert (prediction.probabilities > 0).all()
    assert prediction.label.max() <= 1


def test_isolated_nodes_and_single_nodes_are_answered() -> None:
    lonely = Data(
        x=torch.randn(8, 5, generator=torch.Generator().manual_seed(0)),
        edge_index=both([(0, 1)]),
        y=torch.arange(8) % 3,
    )
    one = Data(x=torch.ones(1, 5), edge_index=torch.tensor([[0], [0]]), y=torch.tensor([0]))
    sound(predict([lonely, one, towns()]), 69, 3)
    sound(predict(one, torch.tensor([False])), 1, 3)
    sound(predict(one, torch.tensor([True])), 1, 3)


STRANGE = {
    "constant": torch.ones(60, 4),
    "twins": torch.randn(2, 4, generator=torch.Generator().manual_seed(0)).repeat(30, 1),
    "huge": 1e30 * torch.randn(60, 4, generator=torch.Generator().manual_seed(0)),
    "one huge": torch.randn(60, 4).index_fill_(0, torch.tensor([5]), 1e30),
    "tiny": 1e-38 * torch.ones(60, 4).index_fill_(0, torch.tensor([5]), 2.0),
    "line": torch.arange(60.0).unsqueeze(1).expand(-1, 40),
    "huge words": 1e30 * (torch.rand(60, 80, generator=torch.Generator().manual_seed(0)) < 0.1).float(),
    "mostly blank": torch.zeros(60, 80).index_fill_(0, torch.tensor([1, 2]), 1.0),
}


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("edges", ["none", "complete"])
def test_strange_features_give_sound_answers(name: str, edges: str) -> None:
    everyone = [(i, j) for i in range(60) for j in range(i)]
    graph = towns(x=STRANGE[name], edge_index=both([] if edges == "none" else everyone))
    for context in (SHOWN, torch.arange(60) < 2):
        sound(predict(graph, context), 60, 3)


def test_weights_of_edges_change_the_answer() -> None:
    edges = towns().num_edges
    weight = torch.rand(edges // 2, generator=torch.Generator().manual_seed(0)).repeat(2)
    expected = predict(towns(x=BARE))
    assert differ(predict(towns(x=BARE, edge_weight=weight)), expected)
    close(predict(towns(x=BARE, edge_weight=torch.full((edges,), 7.0))), expected)


def test_directions_of_edges_change_the_answer() -> None:
    edges = towns().edge_index
    once = edges[:, : edges.size(1) // 2]
    one_way = predict(towns(x=BARE, edge_index=once))
    assert differ(one_way, predict(towns(x=BARE)))
    turned = torch.where(once[0] < once[1], once, once.flip(0))  # all from lower to higher numbers
    assert differ(one_way, predict(towns(x=BARE, edge_index=turned)))


def split_in_two() -> tuple[list[Data], Tensor]:
    """Two graphs alike in their features; the first shows class 0 alone, the second class 1 alone."""
    graphs = []
    for seed in (0, 1):
        graph = two_towns(40, seed=seed)
        graph.y = torch.arange(40) % 2
        graph.x = 3 * graph.y.unsqueeze(1) + torch.randn(40, 5, generator=torch.Generator().manual_seed(seed))
        graphs.append(graph)
    number = torch.arange(40)
    return graphs, torch.cat([(number % 2 == 0) & (number < 12), (number % 2 == 1) & (number < 12)])


def test_graphs_share_their_context_where_they_are_told_to() -> None:
    graphs, context = split_in_two()
    y = torch.cat([graph.y for graph in graphs])
    alone, together = predict(graphs, context, 2), predict(graphs, context, 2, shared=True)
    assert (together.label == y)[~context].float().mean() > 0.9
    assert (alone.label == y)[~context].float().mean() < 0.7
    sound(together, 80, 2)


def test_context_nodes_are_judged_without_their_own_label() -> None:
    """Another label moves what is said of its own node by shares and sharpness alone, which all labels choose together."""
    graph = towns()
    views, context = Views.of(graph), SHOWN.nonzero().squeeze(1)
    y = graph.y[context]
    question = Question.ask(views, context, y, 3)
    other = y.clone()
    other[5] = (other[5] + 1) % 3
    turned = Question.ask(views, context, other, 3)
    p, q = (each.evidence.log_p[context[5]].exp() for each in (question, turned))
    for name in ("x", "ax", "hx", "h2x", "x_rbf", "struct", "adj", "lp1", "lp2", "lp8"):
        e = EXPERTS.index(name)
        assert float((q - p)[other[5], e]) < 0.25, name  # a label that were seen would be believed


def test_a_question_by_hand() -> None:
    """A path of four with two labels: what is said of the problem, of its nodes and of its classes."""
    graph = Data(x=torch.zeros(4, 0), edge_index=both([(0, 1), (1, 2), (2, 3)]))
    asked = Question.ask(Views.of(graph), torch.tensor([0, 2]), torch.tensor([1, 1]), 2)
    assert asked.facts.shape == (FACTS,) and asked.facts.isfinite().all()
    assert asked.facts[3] == 0.5  # half of the nodes show a label
    assert asked.facts[6] == 1  # both of them could be told from the other
    assert asked.facts[8] == 1 and asked.facts[9] == 0.5  # one class has them all
    torch.testing.assert_close(
        asked.node[:, 1], torch.tensor([0, 1, 0, 1.0])
    )  # the share of neighbours that are labelled
    assert asked.kind[:, 2].tolist() == [1, 0]
    assert asked.told.tolist() == [0, 1]


def test_of_very_many_labels_a_part_is_read() -> None:
    ring = torch.arange(3000)
    graph = Data(x=torch.zeros(3000, 0), edge_index=torch.stack([ring, ring.roll(1)]))
    asked = Question.ask(Views.of(graph), ring, ring % 2, 2)
    assert 500 < asked.told.numel() <= MOST_PAIRS


def test_a_session_answers_as_predict_does() -> None:
    graph = towns()
    session = model().open(graph)
    y = torch.where(SHOWN, graph.y, -1)
    close(session.predict(y, 3, samples=4), predict(graph, SHOWN), 1e-4)
    more = torch.where(torch.arange(60) % 3 == 1, graph.y, y)
    close(session.predict(more, 3, samples=4), predict(graph, torch.arange(60) % 3 != 2), 1e-4)


@pytest.mark.parametrize("room", [2**26, 8 * 60 * 25])  # for the columns of all nodes, and of 25
@pytest.mark.parametrize("walked", [1e9, 1])  # every label spreads by itself, or all of a class together
def test_a_session_of_many_clicks_answers_as_one_that_has_just_begun(
    room: int, walked: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mpnp.experts.spreading.MOST_WALKED", walked)
    graph, generator = towns(), torch.Generator().manual_seed(0)
    session = model().open(graph)
    session.columns = Columns(60, room)
    y = torch.full((60,), -1)
    for click in range(40):  # labels come, change and go
        node = int(torch.randint(60, (1,), generator=generator))
        y[node] = -1 if click % 5 == 4 else (int(graph.y[node]) + click // 7) % 3
        if click % 4 == 0:
            close(session.predict(y, 3, samples=4), model().open(graph).predict(y, 3, samples=4), 1e-5)


def test_the_seed_decides() -> None:
    episode = Episode.from_graphs([towns()], SHOWN, 3)
    first = model().predict(episode, samples=4, seed=3)
    assert torch.equal(model().predict(episode, samples=4, seed=3).probabilities, first.probabilities)
    assert not torch.equal(model().predict(episode, samples=4, seed=4).probabilities, first.probabilities)
    assert float(first.epistemic.max()) > 1e-5


def test_loss_flows_into_every_parameter() -> None:
    from mpnp.training.objectives import objective

    made = Universal(UniversalConfig(width=16, summary=16, z_width=4))
    objective("multi-sample", made, Episode.from_graphs([towns()], SHOWN, 3), 2).loss.backward()
    for name, parameter in made.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


def few_experts(hedge: float = 0.0) -> Universal:
    torch.manual_seed(0)
    return Universal(UniversalConfig(width=8, summary=8, z_width=2, hedge=hedge, experts=["lp2", "stack", "x"])).eval()


def test_a_network_reads_the_experts_it_is_made_for_and_no_others() -> None:
    graph, made = towns(), few_experts()
    asked = Question.ask(Views.of(graph), SHOWN.nonzero().squeeze(1), graph.y[SHOWN], 3)
    before = made.score(asked, torch.zeros(1, 2), torch.arange(60))
    heard = [EXPERTS.index(name) for name in ("lp2", "stack", "x")]
    others = [e for e in range(len(EXPERTS)) if e not in heard]
    asked.evidence.log_p[..., others] = -3.0
    asked.facts[PLAIN:].view(3, -1)[:, others] = 7.0
    assert torch.equal(made.score(asked, torch.zeros(1, 2), torch.arange(60)), before)
    asked.evidence.log_p[..., heard[0]] = -3.0
    assert not torch.equal(made.score(asked, torch.zeros(1, 2), torch.arange(60)), before)


@pytest.mark.parametrize(
    ("experts", "says"), [(["x", "oracle"], "oracle"), (["x", "lp2"], "no 'stack'")], ids=["unknown", "no stack"]
)
def test_experts_that_do_not_exist_are_refused(experts: list[str], says: str) -> None:
    with pytest.raises(UserError, match=says):
        Universal(UniversalConfig(experts=experts))


@pytest.mark.parametrize(("labels", "share"), [([0, 1], 0.0), ([0, 1, 2, 3, 4, 5, 6, 8, 12, 14], 0.375)])
def test_the_stack_has_no_share_with_no_label_to_leave_out_and_more_with_more(labels: list[int], share: float) -> None:
    """By hand: 0.5 (10 + 5) / (10 + 10) with ten labels, two of a class at least."""
    graph = towns()
    graph.y[labels] = torch.arange(len(labels)) % 2
    context, z = torch.tensor(labels), torch.zeros(1, 2)
    asked = Question.ask(Views.of(graph), context, graph.y[context], 3)
    bold, careful = (few_experts(h).score(asked, z, torch.arange(60)).softmax(-1)[:, 0] for h in (0.0, 0.5))
    stack = asked.evidence.log_p[..., STACK].exp()
    torch.testing.assert_close(careful, (1 - share) * bold + share * stack, rtol=1e-3, atol=1e-4)
