"""What every preset keeps to, whatever its architecture."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.evaluation.answers import cross_fit
from mpnp.models.base import LatentModel, Model
from mpnp.models.configs import MODELS, NETWORKS, PAPER_FAMILY, build, config
from mpnp.models.neural_process import NeuralProcess
from mpnp.prediction import Prediction
from mpnp.tasks import Task, get_task

from .sizes import SizesOnly

INDUCTIVE = ("gnn", "r-gcn")  # what they learned does not depend on the context


class AnyNames(SizesOnly):
    arbitrary = True


TASKS: dict[str, Task] = {
    "ca": get_task("ca/small-world"),
    "plain": SizesOnly("tud/enzymes", 5, 3, relations=2),
    "arbitrary": AnyNames("shapenet/mixed-2", 4, 3),
}


class Variant(NamedTuple):
    model: str
    task: str
    recipe: str = "default"

    def __str__(self) -> str:
        return "-".join(self)


VARIANTS = [
    *(
        Variant(model, task, recipe)
        for model in PAPER_FAMILY
        for task in ("ca", "plain")
        for recipe in ("default", "paper")
    ),
    *(Variant(model, task) for model in ("ampnp", "anp") for task in TASKS),
    *(Variant(model, "plain") for model in NETWORKS),
]


class Case(NamedTuple):
    """A model with weights as if trained, graphs of every odd kind, and an episode of them all."""

    variant: Variant
    model: Model
    graphs: list[Data]
    episode: Episode

    def predict(self, episode: Episode | None = None, **options: object) -> Prediction:
        return self.model.predict(episode or self.episode, **{"samples": 4, **options})  # type: ignore[arg-type]


# A ring with a chord; one-way and double edges and a loop; one node; no edges; isolated nodes beside a pair.
EDGES = [
    [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 0), (0, 3)],
    [(0, 1), (0, 1), (2, 1), (4, 2), (5, 0), (3, 3), (1, 5)],
    [],
    [],
    [(1, 3), (3, 1)],
]
SIZES = [7, 6, 1, 4, 5]


def make_graphs(features: int, classes: int, relations: int) -> list[Data]:
    generator = torch.Generator().manual_seed(0)
    graphs = []
    for edges, nodes in zip(EDGES, SIZES, strict=True):
        edge_index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()
        edge_index = torch.cat([edge_index, edge_index.flip(0)], 1) if nodes == 7 else edge_index
        x = torch.randn(nodes, features, generator=generator)
        graph = Data(x=x, edge_index=edge_index, y=torch.randint(classes, (nodes,), generator=generator))
        if relations > 1:
            graph.edge_type = torch.arange(edge_index.size(1)) % relations
        graphs.append(graph)
    return graphs


def context_of(graphs: list[Data]) -> Tensor:
    """Every other node; nothing on the last graph."""
    masks = [torch.arange(graph.num_nodes) % 2 == 0 for graph in graphs]
    return torch.cat([*masks[:-1], torch.zeros_like(masks[-1])])


def trained(configuration_of: Variant) -> Model:
    """Fresh weights and noise on all of them: zeros at the start would hide what a parameter does."""
    torch.manual_seed(0)
    model = build(config(configuration_of.model, TASKS[configuration_of.task], configuration_of.recipe))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.07 * torch.randn_like(parameter))
    model.standardise_by(1 + 2 * torch.randn(50, model.config.num_features))
    return model


@cache
def make_case(variant: Variant) -> Case:
    task = TASKS[variant.task]
    graphs = make_graphs(task.num_features, task.num_classes, task.num_relations)
    episode = Episode.from_graphs(graphs, context_of(graphs), task.num_classes)
    return Case(variant, trained(variant), graphs, episode)


@pytest.fixture(params=VARIANTS, ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    return make_case(request.param)


def close(got: Prediction, expected: Prediction) -> None:
    torch.testing.assert_close(got.probabilities, expected.probabilities, rtol=0, atol=1e-5)
    torch.testing.assert_close(got.aleatoric, expected.aleatoric, rtol=0, atol=1e-5)


def equal(got: Prediction, expected: Prediction) -> bool:
    same = torch.equal(got.probabilities, expected.probabilities)
    return same and torch.equal(got.aleatoric, expected.aleatoric)


def differ(got: Prediction, expected: Prediction) -> bool:
    return not torch.allclose(got.probabilities, expected.probabilities, rtol=0, atol=1e-5)


def with_labels(episode: Episode, y: Tensor) -> Episode:
    return replace(episode, y=y)


def flipped(episode: Episode, mask: Tensor) -> Episode:
    return with_labels(episode, torch.where(mask, (episode.y + 1) % episode.num_classes, episode.y))


def only(node: int, episode: Episode) -> Tensor:
    return torch.arange(episode.num_nodes) == node


def test_probabilities_sum_to_one(case: Case) -> None:
    for context in (case.episode.context, torch.zeros_like(case.episode.context), case.episode.y >= 0):
        prediction = case.predict(case.episode.with_context(context))
        assert prediction.probabilities.shape == (sum(SIZES), case.episode.num_classes)
        torch.testing.assert_close(prediction.probabilities.sum(1), torch.ones(sum(SIZES)))
        assert (prediction.probabilities >= 0).all()
        assert (prediction.aleatoric > 0).all()
        assert (prediction.total >= prediction.aleatoric - 1e-5).all()
        # And they say something: not the same for all nodes of a graph.
        assert prediction.probabilities[:7].std(0).max() > 1e-4


def test_the_order_of_nodes_and_edges_does_not_matter(case: Case) -> None:
    generator = torch.Generator().manual_seed(1)
    graphs, orders, start = [], [], 0
    for graph in case.graphs:
        nodes, edges = graph.num_nodes, graph.edge_index.size(1)
        order, edge_order = torch.randperm(nodes, generator=generator), torch.randperm(edges, generator=generator)
        moved = Data(x=graph.x[order], y=graph.y[order], edge_index=order.argsort()[graph.edge_index][:, edge_order])
        if "edge_type" in graph:
            moved.edge_type = graph.edge_type[edge_order]
        graphs.append(moved)
        orders.append(order + start)
        start += nodes
    order = torch.cat(orders)
    episode = Episode.from_graphs(graphs, case.episode.context[order], case.episode.num_classes)
    close(case.predict(episode), case.predict().at(order))
    model = case.model
    assert isinstance(model, LatentModel) == model.has_latent == (case.variant.model not in NETWORKS)
    if isinstance(model, LatentModel):
        first, second = (model.latent(model.read(each), each.shown().unsqueeze(1)) for each in (case.episode, episode))
        torch.testing.assert_close(first.loc, second.loc, rtol=0, atol=1e-5)
        torch.testing.assert_close(first.scale, second.scale, rtol=0, atol=1e-5)


def test_a_graph_alone_is_a_graph_in_a_batch(case: Case) -> None:
    together, ptr = case.predict(), case.episode.graph.ptr
    for i, graph in enumerate(case.graphs):
        nodes = torch.arange(int(ptr[i]), int(ptr[i + 1]))
        alone = Episode.from_graphs([graph], case.episode.context[nodes], case.episode.num_classes)
        close(case.predict(alone), together.at(nodes))


def test_labels_outside_the_context_have_no_influence(case: Case) -> None:
    hidden, expected = ~case.episode.context, case.predict()
    assert equal(case.predict(flipped(case.episode, hidden)), expected)
    unknown = with_labels(case.episode, torch.where(hidden, -1, case.episode.y))
    assert equal(case.predict(unknown), expected)
    assert equal(case.predict(replace(case.episode, target=case.episode.context)), expected)


def test_a_label_in_the_context_has_influence_on_its_graph_alone(case: Case) -> None:
    expected = case.predict()
    prediction = case.predict(flipped(case.episode, only(2, case.episode)))
    others = torch.tensor([0, 1, 3, 4, 5, 6])
    assert differ(prediction.at(others), expected.at(others)) == (case.variant.model not in INDUCTIVE)
    rest = torch.arange(7, sum(SIZES))
    close(prediction.at(rest), expected.at(rest))


def test_a_context_node_without_a_label_shows_nothing(case: Case) -> None:
    unlabelled = only(2, case.episode) | only(9, case.episode) | only(13, case.episode)
    episode = with_labels(case.episode, torch.where(unlabelled, -1, case.episode.y))
    close(case.predict(episode), case.predict(episode.with_context(episode.context & ~unlabelled)))


def test_some_nodes_are_predicted_as_among_all(case: Case) -> None:
    whole = case.predict()
    for nodes in ([20, 0, 13, 5, 5, 7], [14], list(range(22, -1, -1)), []):
        chosen = torch.tensor(nodes, dtype=torch.long)
        close(case.predict(nodes=chosen), whole.at(chosen))


def test_predicting_leaves_every_part_in_the_mode_it_was_in(case: Case) -> None:
    model = copy.deepcopy(case.model)
    frozen = list(model.children())[-1]
    for training in (True, False):
        model.train(training)
        frozen.eval()
        before = [part.training for part in model.modules()]
        model.predict(case.episode, samples=2)
        assert [part.training for part in model.modules()] == before
    with pytest.raises(UserError):
        model.train().predict(Episode.from_graphs(make_graphs(1 + model.config.num_features, 2, 1)))
    assert model.training


def test_the_seed_decides(case: Case) -> None:
    state = torch.get_rng_state()
    first = case.predict(seed=3)
    assert torch.equal(torch.get_rng_state(), state)  # nobody else's random numbers are used up
    torch.randn(7)
    assert equal(case.predict(seed=3), first)
    assert differ(case.predict(seed=4), first) == (case.variant.model not in NETWORKS)


def test_uncertainty_comes_from_several_samples(case: Case) -> None:
    one, many = case.predict(samples=1), case.predict(samples=32)
    torch.testing.assert_close(one.epistemic, torch.zeros(sum(SIZES)), rtol=0, atol=1e-6)
    assert (many.epistemic.max() > 1e-4) == (case.variant.model not in NETWORKS)


def test_edges_matter_to_those_that_read_them(case: Case) -> None:
    bare = []
    for graph in case.graphs:
        stripped = graph.clone()
        stripped.edge_index = graph.edge_index[:, :0]
        if "edge_type" in graph:
            stripped.edge_type = graph.edge_type[:0]
        bare.append(stripped)
    episode = Episode.from_graphs(bare, case.episode.context, case.episode.num_classes)
    prediction, expected = case.predict(episode), case.predict()
    if case.variant.model in ("np", "np-c", "anp"):
        assert equal(prediction, expected)
    else:
        ring, lonely = torch.arange(7), torch.tensor([13, 14, 15, 16, 17])
        assert differ(prediction.at(ring), expected.at(ring))
        close(prediction.at(lonely), expected.at(lonely))


def test_units_of_features_do_not_matter_once_standardised(case: Case) -> None:
    """Features in other units, with their own mean and spread, are the same features; a constant one stays finite."""
    x = case.episode.graph.x.clone()
    x[:, 0] = 3
    plain, converted = copy.deepcopy(case.model), copy.deepcopy(case.model)
    plain.standardise_by(x)
    converted.standardise_by(100 * x - 7)
    torch.testing.assert_close(plain.x_mean, x.mean(0))
    assert plain.x_scale[0] == converted.x_scale[0] == 1

    def predict(model: Model, features: Tensor) -> Prediction:
        graph = case.episode.graph.clone()
        graph.x = features
        return model.predict(replace(case.episode, graph=graph), samples=2)

    expected = predict(plain, x)
    torch.testing.assert_close(predict(converted, 100 * x - 7).probabilities, expected.probabilities, rtol=0, atol=1e-4)
    assert differ(predict(converted, x), expected)


def test_another_number_of_features_is_refused(case: Case) -> None:
    features = case.model.config.num_features
    for given in (features - 1, features + 1):
        graphs = make_graphs(given, 2, 1)
        with pytest.raises(UserError, match=f"has {given} features per node, but the model is made for {features}"):
            case.predict(Episode.from_graphs(graphs))


def test_another_number_of_classes_is_refused_or_answered(case: Case) -> None:
    classes = case.model.config.num_classes
    for given in (classes - 1, classes + 1, classes + 4):
        y = [graph.y % given for graph in case.graphs]
        graphs = [Data(**{**graph.to_dict(), "y": labels}) for graph, labels in zip(case.graphs, y, strict=True)]
        episode = Episode.from_graphs(graphs, case.episode.context, given)
        if case.variant.model not in ("ampnp", "anp"):
            with pytest.raises(UserError, match=f"has {given} classes, but .* is made for {classes}"):
                case.predict(episode)
        else:
            prediction = case.predict(episode)
            assert prediction.probabilities.shape == (sum(SIZES), given)
            torch.testing.assert_close(prediction.probabilities.sum(1), torch.ones(sum(SIZES)))


def test_cross_fitting_hides_a_nodes_own_label_from_it(case: Case) -> None:
    """Exactly. There are more context nodes than folds, so that some are held out together, and a node that is alone."""
    ring, features = torch.arange(14), case.model.config.num_features
    x = torch.randn(14, features, generator=torch.Generator().manual_seed(0))
    graph = Data(x=x, edge_index=torch.stack([ring, ring.roll(1)]), y=ring % case.episode.num_classes)
    if case.episode.graph.get("edge_type") is not None:
        graph.edge_type = ring % 2
    context = torch.cat([ring < 12, torch.tensor([True])])
    single = case.graphs[2]
    episode = Episode.from_graphs([graph, single], context, case.episode.num_classes)

    def fitted(of: Episode) -> tuple[Prediction, Tensor]:
        answers = cross_fit(case.model, of, torch.Generator().manual_seed(0), samples=2)
        return answers.prediction, answers.nodes

    expected, nodes = fitted(episode)
    assert sorted(nodes.tolist()) == context.nonzero().flatten().tolist()
    for node in nodes.tolist():
        prediction, again = fitted(flipped(episode, only(node, episode)))
        assert torch.equal(again, nodes)
        own = (nodes == node).nonzero().flatten()
        assert equal(prediction.at(own), expected.at(own))
        assert equal(prediction, expected) == (node == 14 or case.variant.model in INDUCTIVE)  # the others see it


def test_without_an_own_road_for_labels_twins_are_predicted_alike(case: Case) -> None:
    """Nodes 1 and 2 have the same features and neighbours, and only 1 shows its label."""
    x = torch.randn(5, case.model.config.num_features, generator=torch.Generator().manual_seed(0))
    x[2] = x[1]
    edge_index = torch.tensor([[0, 0, 1, 2, 3, 4], [1, 2, 3, 3, 4, 0]])
    graph = Data(x=x, edge_index=edge_index, y=torch.tensor([0, 1, 0, 1, 0]))
    if case.episode.graph.get("edge_type") is not None:
        graph.edge_type = torch.tensor([1, 1, 0, 0, 1, 0])
    context = torch.tensor([False, True, False, True, True])
    prediction = case.predict(Episode.from_graphs([graph], context, case.episode.num_classes))
    if case.model.sees_own_label:
        assert case.variant.model in ("ampnp", "anp", "unimp")
    else:
        close(prediction.at(torch.tensor([1])), prediction.at(torch.tensor([2])))


def test_all_presets_are_under_contract() -> None:
    elsewhere = {"universal"}  # made for no number of features: test_universal.py
    assert {variant.model for variant in VARIANTS} | elsewhere == set(MODELS)


def test_relations_have_weights_of_their_own() -> None:
    case = make_case(Variant("r-mpnp", "plain"))
    model = case.model
    assert isinstance(model, NeuralProcess) and model.config.relations == 2
    turned = [graph.clone() for graph in case.graphs]
    for graph in turned:
        graph.edge_type = 1 - graph.edge_type
    episode = Episode.from_graphs(turned, case.episode.context, case.episode.num_classes)
    assert differ(case.predict(episode), case.predict())
