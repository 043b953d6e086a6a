"""The flagship's own promises: classes are interchangeable, and each road can be closed."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.episode import Episode, Sampling, sample_episode
from mpnp.errors import UserError
from mpnp.graphs import GraphSet
from mpnp.models.ampnp import AmpnpConfig, AttentiveMPNP
from mpnp.training.objectives import objective

FEATURES = 4
ROADS_CLOSED = {"latent": False, "attention": False, "local": False, "regression": False, "refine": 0}


def tiny(classes: int = 3, **options: Any) -> AmpnpConfig:
    sizes = {"width": 16, "heads": 2, "head_width": 4, "values": 3, "z_width": 6, "reaches": (1, 4)}
    return AmpnpConfig(FEATURES, classes, **{**sizes, **options})  # type: ignore[arg-type]


def model_of(configuration: AmpnpConfig, noise: float = 0.2) -> AttentiveMPNP:
    """Weights as if trained: zeros at the start would hide what a parameter does."""
    torch.manual_seed(0)
    model = AttentiveMPNP(configuration)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(noise * torch.randn_like(parameter))
    return model.eval()


def random_graph(nodes: int, classes: int, seed: int) -> Data:
    generator = torch.Generator().manual_seed(seed)
    edge_index = torch.randint(nodes, (2, 2 * nodes), generator=generator)
    y = torch.cat([torch.arange(classes), torch.randint(classes, (nodes,), generator=generator)])[:nodes]
    return Data(x=torch.randn(nodes, FEATURES, generator=generator), edge_index=edge_index, y=y)


def batch_of(classes: int, context: float = 0.5) -> Episode:
    store = GraphSet.from_data_list([random_graph(nodes, classes, seed) for seed, nodes in enumerate((12, 9, 5))])
    return sample_episode(
        store.select(torch.arange(3)), classes, Sampling.fixed(context), torch.Generator().manual_seed(0)
    )


def probabilities(model: AttentiveMPNP, episode: Episode, samples: int = 4) -> Tensor:
    return model.predict(episode, samples=samples).probabilities


# What it reads


def test_amounts_may_come_in_any_unit() -> None:
    model, episode = model_of(tiny(logs=True)), batch_of(3)
    x = episode.graph.x.exp()
    answers = []
    for unit in (1, 1000):
        model.standardise_by(unit * x)
        episode.graph.x = unit * x
        answers.append(probabilities(model, episode))
    torch.testing.assert_close(*answers, rtol=0, atol=1e-5)


# Classes


@pytest.mark.parametrize(
    "options", [{}, {"edges": False}, {"refine": 2}, {"local": False, "refine": 0}, {"regression": True}], ids=str
)
def test_relabelling_the_classes_relabels_the_output(options: dict[str, Any]) -> None:
    model, episode = model_of(tiny(**options)), batch_of(3)
    to = torch.tensor([[2, 0, 1], [1, 0, 2], [0, 2, 1]])  # another permutation on every graph: c becomes to[graph, c]
    renamed = episode.relabelled(to)
    q, r = (model.latent(model.read(each), each.shown().unsqueeze(1)) for each in (episode, renamed))
    of = to.argsort(1)  # which old class the new class c was
    for graph in range(3):
        torch.testing.assert_close(r.loc[graph], q.loc[graph][:, of[graph]])
        torch.testing.assert_close(r.scale[graph], q.scale[graph][:, of[graph]])
    noise = torch.randn(3, 5, 3, 6)
    z = q.loc + q.scale * noise
    z_renamed = torch.stack([z[graph][:, of[graph]] for graph in range(3)])
    everything = torch.arange(episode.num_nodes)
    out, out_renamed = (
        model.decode(model.read(episode), z, everything),
        model.decode(model.read(renamed), z_renamed, everything),
    )
    assert out.std(2).min() > 1e-4
    expected = out.gather(2, of[episode.batch].unsqueeze(1).expand_as(out))
    torch.testing.assert_close(out_renamed, expected, rtol=1e-4, atol=1e-5)


def test_relabelling_through_predict_up_to_the_noise_of_sampling() -> None:
    model, episode = model_of(tiny()), batch_of(3)
    to = torch.tensor([[1, 2, 0]]).expand(3, 3)
    expected = probabilities(model, episode, 3000)[:, to[0].argsort()]
    got = probabilities(model, episode.relabelled(to), 3000)
    torch.testing.assert_close(got, expected, rtol=0, atol=0.02)
    assert (got - probabilities(model, episode, 3000)).abs().max() > 0.05


@pytest.mark.parametrize("class_embedding", [False, True])
def test_the_same_weights_answer_any_number_of_classes(class_embedding: bool) -> None:
    model = model_of(tiny(classes=3, class_embedding=class_embedding), noise=0.0).train()
    optimiser = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(3):
        optimiser.zero_grad()
        objective("multi-sample", model, batch_of(3), 2).loss.backward()
        optimiser.step()
    for classes in (2, 3, 5, 11):
        episode = batch_of(classes)
        p = probabilities(model, episode)
        assert p.shape == (episode.num_nodes, classes)
        torch.testing.assert_close(p.sum(1), torch.ones(episode.num_nodes))
        # Class 0 shown as class 1 instead is another episode.
        other = probabilities(model, replace(episode, y=torch.where(episode.y == 0, 1, episode.y)))
        assert not torch.allclose(p, other)


def test_classes_nobody_has_seen_are_all_alike() -> None:
    model = model_of(tiny(z_width=0))
    episode = replace(batch_of(3), num_classes=6)
    p = probabilities(model, episode)
    torch.testing.assert_close(p[:, 3:], p[:, 3:4].expand(-1, 3))
    assert (p[:, :3].std(1) > 1e-4).all()


def test_a_name_means_something_only_with_class_embedding() -> None:
    """With an empty context nothing but its name tells one class from another."""
    episode = batch_of(3, context=0.0)
    uniform = torch.full((episode.num_nodes, 3), 1 / 3)
    torch.testing.assert_close(probabilities(model_of(tiny(z_width=0)), episode), uniform)
    sampled = model_of(tiny())
    torch.testing.assert_close(probabilities(sampled, episode, 4000), uniform, rtol=0, atol=0.03)
    reading = sampled.read(episode)
    q = sampled.latent(reading, episode.shown().unsqueeze(1))
    torch.testing.assert_close(q.loc, q.loc[:, :, :1].expand_as(q.loc))
    torch.testing.assert_close(q.scale, q.scale[:, :, :1].expand_as(q.scale))
    named = probabilities(model_of(tiny(z_width=0, class_embedding=True)), episode)
    assert (named.std(1) > 1e-4).all()


# Roads


OPEN_OR_NOT = ([True, False],) * 5
COMBINATIONS = list(itertools.product(*OPEN_OR_NOT, [0, 6], [0, 1]))


@pytest.mark.parametrize(("latent", "attention", "local", "regression", "edges", "z_width", "refine"), COMBINATIONS)
def test_any_roads_may_be_closed(
    latent: bool, attention: bool, local: bool, regression: bool, edges: bool, z_width: int, refine: int
) -> None:
    roads = {"latent": latent, "attention": attention, "local": local, "regression": regression}
    roads |= {"z_width": z_width, "refine": refine}
    model = model_of(tiny(**roads, edges=edges))
    for context in (0.0, 0.5, 1.0):
        episode = batch_of(3, context)
        p = model.predict(episode, samples=3)
        torch.testing.assert_close(p.probabilities.sum(1), torch.ones(episode.num_nodes))
        has_latent = latent and z_width > 0
        assert (p.epistemic.max() > 1e-5) == has_latent
        again = model.predict(episode, samples=3, seed=1)
        assert torch.equal(p.probabilities, again.probabilities) != has_latent
        result = objective("multi-sample", model, batch_of(3), 2)
        assert torch.isfinite(result.loss)


@pytest.mark.parametrize(
    "closed",
    [
        {"latent": False},
        {"z_width": 0},
        {"attention": False},
        {"local": False},
        {"regression": False},
        {"refine": 0},
        {"edges": False},
    ],
    ids=str,
)
def test_a_closed_road_has_no_parameters(closed: dict[str, Any]) -> None:
    def names(**options: Any) -> dict[str, int]:
        roads = {"regression": True, **options}
        return {name: p.numel() for name, p in AttentiveMPNP(tiny(**roads)).named_parameters()}

    whole, part = names(), names(**closed)
    assert set(part) < set(whole) or closed == {"edges": False}
    assert sum(part.values()) < sum(whole.values())
    if "latent" in closed:  # the latent road is prototypes and z
        assert set(part) < set(names(z_width=0))


def two_paths(labels: list[int]) -> Episode:
    """0 - 1 - 2 - 3 and 4 - 5 - 6 - 7, one graph; labels on the first path only."""
    forth = torch.tensor([[0, 1, 2, 4, 5, 6], [1, 2, 3, 5, 6, 7]])
    x = torch.randn(8, FEATURES, generator=torch.Generator().manual_seed(0))
    y = torch.tensor([*labels, -1, -1, -1, -1])
    graph = Data(x=x, edge_index=torch.cat([forth, forth.flip(0)], 1), y=y)
    return Episode.from_graphs([graph], num_classes=3)


@pytest.mark.parametrize(
    ("open_roads", "near", "far"),
    [
        ({}, False, False),
        ({"refine": 1}, False, False),
        ({"local": True}, True, False),
        ({"local": True, "refine": 2}, True, False),
        ({"attention": True}, True, True),
        ({"regression": True}, True, True),
        ({"latent": True, "z_width": 0}, True, True),
        ({"latent": True}, True, True),
    ],
    ids=str,
)
def test_what_each_road_carries(open_roads: dict[str, Any], near: bool, far: bool) -> None:
    """Two labels change places: the counts stay. ``near``: seen on their path; ``far``: seen on the other one."""
    model = model_of(tiny(**{**ROADS_CLOSED, **open_roads}))
    first, second = (probabilities(model, two_paths(labels)) for labels in ([0, -1, -1, 1], [1, -1, -1, 0]))
    # Nodes 1 and 2 show no label themselves.
    assert torch.allclose(first[1:3], second[1:3], rtol=0, atol=1e-6) != near
    assert torch.allclose(first[4:], second[4:], rtol=0, atol=1e-6) != far
    other_counts = probabilities(model, two_paths([0, -1, 0, 1]))
    assert not torch.allclose(first[4:], other_counts[4:], rtol=0, atol=1e-6)


def ring(labels: dict[int, int], nodes: int = 10) -> Episode:
    """Nodes that differ by nothing but their distances from the labels."""
    around = torch.arange(nodes)
    edge_index = torch.cat([torch.stack([around, around.roll(1)]), torch.stack([around.roll(1), around])], 1)
    y = torch.tensor([labels.get(node, -1) for node in range(nodes)])
    return Episode.from_graphs([Data(x=torch.ones(nodes, FEATURES), edge_index=edge_index, y=y)], num_classes=2)


def test_only_the_local_road_knows_how_far_a_label_is() -> None:
    without = probabilities(model_of(tiny(local=False)), ring({0: 1}))
    torch.testing.assert_close(without, without[:1].expand_as(without))
    near_and_far = probabilities(model_of(tiny()), ring({0: 1}))
    torch.testing.assert_close(near_and_far[1:5], near_and_far[6:].flip(0))
    assert (near_and_far[1] - near_and_far[5]).abs().max() > 1e-3


def test_a_context_node_sees_its_own_label_by_the_local_road() -> None:
    """Why evaluation cross-fits: node 1 between the labels and node 0, which shows one, differ in nothing else."""
    p = probabilities(model_of(tiny(**{**ROADS_CLOSED, "local": True})), ring({0: 1, 2: 0}))
    assert AttentiveMPNP.sees_own_label
    assert (p[0] - p[1]).abs().max() > 1e-2
    without = probabilities(model_of(tiny(**ROADS_CLOSED)), ring({0: 1, 2: 0}))
    torch.testing.assert_close(without[0], without[1])


@pytest.mark.parametrize("reaches", [(0, 2), (2, 2), (1, -1)])
def test_reaches_are_steps_each_once(reaches: tuple[int, ...]) -> None:
    with pytest.raises(UserError, match=r"reaches = .* each once"):
        AttentiveMPNP(replace(tiny(), reaches=reaches))
    AttentiveMPNP(replace(tiny(), reaches=reaches, local=False))  # they are not used


def test_smoothing_takes_no_steps_back() -> None:
    with pytest.raises(UserError, match=r"smoothing = -1 .* from 0 on"):
        AttentiveMPNP(tiny(regression=True, smoothing=-1))


def test_dropout_rests_while_predicting() -> None:
    model, episode = model_of(tiny(dropout=0.5)).train(), batch_of(3)
    first, second = (objective("multi-sample", model, episode, 1).loss for _ in range(2))
    assert first != second
    torch.testing.assert_close(probabilities(model, episode), probabilities(model, episode), rtol=0, atol=0)
