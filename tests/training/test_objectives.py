"""Objectives against hand computation, and their promises for every model."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.distributions import Normal
from torch_geometric.data import Data

from mpnp.episode import Episode, Sampling, sample_episode
from mpnp.graphs import GraphSet
from mpnp.models.ampnp import AmpnpConfig, AttentiveMPNP
from mpnp.models.base import LatentModel, Model
from mpnp.models.configs import MODELS, NETWORKS, PAPER_FAMILY, build, config
from mpnp.models.neural_process import NeuralProcess, NeuralProcessConfig
from mpnp.tasks import Split, Task
from mpnp.training.objectives import (
    OBJECTIVES,
    balanced,
    elbo,
    importance_weighted,
    latent_health,
    multi_sample,
    objective,
)

FEATURES, CLASSES = 4, 3

WITH_LATENT = [name for name in MODELS if name not in NETWORKS]


class SizesOnly(Task):
    """A task of which only the sizes are known."""

    name = "own"
    num_features, num_classes, num_relations = FEATURES, CLASSES, 2
    rates = (0.1,)

    def scale(self) -> tuple[int, int]:
        return 100, 50

    def load(self) -> dict[Split, GraphSet]:
        raise AssertionError("the sizes are enough")


def fresh(name: str, recipe: str = "default") -> Model:
    torch.manual_seed(0)
    return build(config(name, SizesOnly(), recipe))


def with_latent(name: str) -> LatentModel:
    model = fresh(name)
    assert isinstance(model, LatentModel)
    return model


def graph(nodes: int, seed: int) -> Data:
    generator = torch.Generator().manual_seed(seed)
    edge_index = torch.randint(nodes, (2, 3 * nodes), generator=generator)
    return Data(
        x=torch.randn(nodes, FEATURES, generator=generator),
        edge_index=edge_index,
        edge_type=torch.arange(3 * nodes) % 2,
        y=torch.randint(CLASSES, (nodes,), generator=generator),
    )


GRAPHS = [graph(9, 0), graph(6, 1), graph(4, 2)]
# Targets are some of the nodes, context some of the targets: one of each class and more; one node; none.
CONTEXT = [[0, 1, 2, 3, 4], [5], []]
TARGET = [[0, 1, 2, 3, 4, 6, 8], [1, 3, 5], [0, 3]]


def episode_of(*chosen: int) -> Episode:
    batch = GraphSet.from_data_list([GRAPHS[i] for i in chosen]).select(torch.arange(len(chosen)))
    masks = []
    for rows in (CONTEXT, TARGET):
        picked = [torch.isin(torch.arange(GRAPHS[i].num_nodes), torch.tensor(rows[i])) for i in chosen]  # type: ignore[arg-type]
        masks.append(torch.cat(picked))
    return Episode(batch, batch.y, masks[0], masks[1], CLASSES)


# By hand


def small_model() -> NeuralProcess:
    torch.manual_seed(5)
    return NeuralProcess(
        NeuralProcessConfig(
            num_features=1,
            num_classes=2,
            encoder=("join", "mp:3", "out:2"),
            decoder=("join", "linear:4"),
            r_width=2,
            z_width=2,
        )
    )


X = torch.tensor([[0.5], [-1.0]])
ADJACENCY = torch.tensor([[0.0, 1], [1, 0]])


def pair() -> Episode:
    """Two nodes, joined; node 0 of class 1 is the context, both are targets."""
    data = Data(x=X, edge_index=torch.tensor([[0, 1], [1, 0]]), y=torch.tensor([1, 0]))
    return Episode.from_graphs([data], torch.tensor([True, False]))


def encode(w: dict[str, Tensor], shown: Tensor) -> tuple[Tensor, Tensor]:
    """μ and σ of q(z | shown), each [2], from the weights and nothing else."""
    h = X @ w["encoder.layers.0.skip.weight"].t() + w["encoder.layers.0.skip.bias"]
    h = h + ADJACENCY @ X @ w["encoder.layers.0.message.weight"].t()
    h = (
        h
        + shown @ w["encoder.joiners.0.skip.weight"].t()
        + ADJACENCY @ shown @ w["encoder.joiners.0.message.weight"].t()
    )
    r = h.relu() @ w["aggregator.project.weight"].t() + w["aggregator.project.bias"]
    summary = r[shown.sum(1) > 0].mean(0)
    hidden = (w["latent_head.hidden.weight"] @ summary + w["latent_head.hidden.bias"]).relu()
    mu = w["latent_head.mean.weight"] @ hidden + w["latent_head.mean.bias"]
    return mu, 0.1 + 0.9 * (w["latent_head.scale.weight"] @ hidden + w["latent_head.scale.bias"]).sigmoid()


def log_likelihood(w: dict[str, Tensor], z: Tensor) -> Tensor:
    """log p(y = (1, 0) | z) for one z [2]."""
    h = X @ w["decoder.layers.0.weight"].t() + w["decoder.layers.0.bias"] + w["decoder.joiners.0.weight"] @ z
    log_p = (h.relu() @ w["head.weight"].t() + w["head.bias"]).log_softmax(1)
    return log_p[0, 1] + log_p[1, 0]


def log_density(mu: Tensor, sigma: Tensor, z: Tensor) -> Tensor:
    return (-0.5 * ((z - mu) / sigma) ** 2 - sigma.log() - 0.5 * math.log(2 * math.pi)).sum()


CONTEXT_SHOWN, TARGET_SHOWN = torch.tensor([[0.0, 1], [0, 0]]), torch.tensor([[0.0, 1], [1, 0]])


@pytest.mark.parametrize("samples", [1, 3])
def test_elbo_by_hand(samples: int) -> None:
    model = small_model()
    w = {name: p.detach() for name, p in model.named_parameters()}
    (m_c, s_c), (m_t, s_t) = encode(w, CONTEXT_SHOWN), encode(w, TARGET_SHOWN)
    kl = ((s_c / s_t).log() + (s_t**2 + (m_t - m_c) ** 2) / (2 * s_c**2) - 0.5).sum()
    assert kl > 0.05 and (s_t - s_c).abs().min() > 0.01  # so that the other direction is another number
    torch.manual_seed(7)
    noise = torch.randn(1, samples, 2)[0]
    expected = torch.stack([log_likelihood(w, m_t + s_t * e) for e in noise]).mean()
    torch.manual_seed(7)
    result = elbo(model, pair(), samples)
    # Divided by the two scored nodes.
    torch.testing.assert_close(result.log_likelihood, expected / 2)
    torch.testing.assert_close(result.kl, kl / 2)
    torch.testing.assert_close(result.loss.detach(), (kl - expected) / 2)


@pytest.mark.parametrize("samples", [1, 3])
def test_multi_sample_by_hand(samples: int) -> None:
    model = small_model()
    w = {name: p.detach() for name, p in model.named_parameters()}
    mu, sigma = encode(w, CONTEXT_SHOWN)
    torch.manual_seed(7)
    likelihoods = [log_likelihood(w, mu + sigma * e).exp() for e in torch.randn(1, samples, 2)[0]]
    torch.manual_seed(7)
    result = multi_sample(model, pair(), samples)
    torch.testing.assert_close(result.loss.detach(), -(sum(likelihoods, torch.zeros(())) / samples).log() / 2)
    assert result.kl == 0


@pytest.mark.parametrize("samples", [1, 3])
def test_importance_weighted_by_hand(samples: int) -> None:
    model = small_model()
    w = {name: p.detach() for name, p in model.named_parameters()}
    (m_c, s_c), (m_t, s_t) = encode(w, CONTEXT_SHOWN), encode(w, TARGET_SHOWN)
    torch.manual_seed(7)
    weights = []
    for e in torch.randn(1, samples, 2)[0]:
        z = m_t + s_t * e
        weights.append((log_likelihood(w, z) + log_density(m_c, s_c, z) - log_density(m_t, s_t, z)).exp())
    torch.manual_seed(7)
    result = importance_weighted(model, pair(), samples)
    torch.testing.assert_close(result.loss.detach(), -(sum(weights, torch.zeros(())) / samples).log() / 2)


# For every model


@pytest.mark.parametrize("name", WITH_LATENT)
def test_multi_sample_with_one_sample_is_the_log_likelihood_of_that_sample(name: str) -> None:
    model, episode = with_latent(name), episode_of(0, 1, 2)
    torch.manual_seed(5)
    result = multi_sample(model, episode, 1)
    reading = model.read(episode)
    q = model.latent(reading, episode.shown().unsqueeze(1))
    torch.manual_seed(5)
    z = q.loc + q.scale * torch.randn(q.loc.shape)
    nodes = (episode.target if name in PAPER_FAMILY else episode.target & ~episode.context).nonzero().flatten()
    log_p = model.likelihood(model.decode(reading, z, nodes)).log_prob(episode.y[nodes].unsqueeze(1))
    torch.testing.assert_close(result.loss, -log_p.mean())


@pytest.mark.parametrize("name", WITH_LATENT)
def test_importance_weighted_with_one_sample_is_an_elbo_with_sampled_kl(name: str) -> None:
    model, episode = with_latent(name), episode_of(0, 1, 2)
    torch.manual_seed(5)
    bound = elbo(model, episode, 1)
    torch.manual_seed(5)
    weighted = importance_weighted(model, episode, 1)
    q = model.latent(model.read(episode), torch.stack([episode.shown(), episode.shown(episode.target)], 1))
    context, target = (Normal(q.loc[:, i], q.scale[:, i]) for i in (0, 1))
    torch.manual_seed(5)
    z = target.loc + target.scale * torch.randn(q.loc[:, :1].shape).squeeze(1)
    sampled = (target.log_prob(z) - context.log_prob(z)).sum() / model.scored(episode).numel()
    assert (sampled - bound.kl).abs() > 1e-6
    torch.testing.assert_close(weighted.kl, sampled.detach())
    torch.testing.assert_close(weighted.log_likelihood, bound.log_likelihood)
    torch.testing.assert_close(weighted.loss, sampled - bound.log_likelihood)


@pytest.mark.parametrize("name", MODELS)
def test_which_nodes_are_scored(name: str) -> None:
    every_target = [0, 1, 2, 3, 4, 6, 8, 10, 12, 14, 15, 18]
    outside_the_context = [6, 8, 10, 12, 15, 18]
    scored = fresh(name).scored(episode_of(0, 1, 2)).tolist()
    reads_labels = name in ("ampnp", "anp", "unimp", "universal")
    assert scored == (outside_the_context if reads_labels else every_target)


@pytest.mark.parametrize("aim", OBJECTIVES)
@pytest.mark.parametrize("name", MODELS)
def test_labels_that_are_no_targets_do_not_matter(name: str, aim: str) -> None:
    model, episode = fresh(name), episode_of(0, 1, 2)

    def loss(y: Tensor) -> Tensor:
        torch.manual_seed(2)
        return objective(aim, model, Episode(episode.graph, y, episode.context, episode.target, CLASSES), 2).loss

    expected = loss(episode.y)
    assert torch.equal(loss(torch.where(episode.target, episode.y, -1)), expected)
    for node in (0, 6):  # in the context, and a target outside it
        other = episode.y.clone()
        other[node] = (other[node] + 1) % CLASSES
        assert not torch.equal(loss(other), expected)


@pytest.mark.parametrize("aim", OBJECTIVES)
@pytest.mark.parametrize("name", MODELS)
def test_a_batch_is_its_graphs(name: str, aim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without noise, the loss of a batch is the mean of its graphs' losses, weighted by their scored nodes."""
    monkeypatch.setattr(torch, "randn", torch.zeros)
    model = fresh(name)

    def parts(*chosen: int) -> tuple[Tensor, int]:
        episode = episode_of(*chosen)
        result = objective(aim, model, episode, 2)
        scored = model.scored(episode).numel()
        return torch.stack([result.loss.detach(), result.log_likelihood, result.kl]) * scored, scored

    together, scored = parts(0, 1, 2)
    alone = [parts(i) for i in range(3)]
    assert scored == sum(count for _, count in alone)
    torch.testing.assert_close(together, torch.stack([part for part, _ in alone]).sum(0), rtol=1e-4, atol=1e-4)
    again, _ = parts(2, 0, 1)
    torch.testing.assert_close(together, again, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("aim", OBJECTIVES)
@pytest.mark.parametrize("recipe", ["default", "paper"])
@pytest.mark.parametrize("name", MODELS)
def test_every_parameter_learns(name: str, recipe: str, aim: str) -> None:
    """Contexts without some class and without any are in the batch, so even the stand-ins have something to do."""
    model = fresh(name, recipe)
    objective(aim, model, episode_of(0, 1, 2), 3).loss.backward()
    for parameter_name, parameter in model.named_parameters():
        gradient = parameter.grad
        assert gradient is not None, parameter_name
        assert torch.isfinite(gradient).all(), parameter_name
        assert gradient.abs().max() < 1e3, parameter_name  # one step must not be all about one parameter
        if parameter_name != "logit.bias":  # the softmax over the classes does not see it
            assert gradient.abs().max() > 0, parameter_name


@pytest.mark.parametrize("aim", OBJECTIVES)
@pytest.mark.parametrize("z_width", [0, 6])
@pytest.mark.parametrize("latent", [True, False])
def test_a_model_without_a_latent_has_a_likelihood_alone(latent: bool, z_width: int, aim: str) -> None:
    torch.manual_seed(0)
    model = AttentiveMPNP(AmpnpConfig(FEATURES, CLASSES, width=8, latent=latent, z_width=z_width))
    result = objective(aim, model, episode_of(0, 1), 3)
    result.loss.backward()
    if latent and z_width:
        assert result.loss != -result.log_likelihood or aim == "multi-sample"
    else:
        assert result.kl == 0
        torch.testing.assert_close(result.loss.detach(), -result.log_likelihood)
        assert objective(aim, model, episode_of(0, 1), 3).loss == result.loss


@pytest.mark.parametrize("aim", OBJECTIVES)
@pytest.mark.parametrize("name", ["mpnp", "ampnp"])
def test_the_more_likely_the_labels_the_smaller_the_loss(name: str, aim: str) -> None:
    model, episode = fresh(name), episode_of(0, 1, 2)
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    losses = []
    for _ in range(25):
        torch.manual_seed(0)
        result = objective(aim, model, episode, 2)
        optimiser.zero_grad()
        result.loss.backward()
        optimiser.step()
        losses.append(result.loss.item())
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize("aim", OBJECTIVES)
@pytest.mark.parametrize("name", ["mpnp", "ampnp"])
def test_nothing_to_score_is_no_loss(name: str, aim: str) -> None:
    """All nodes show their label, or none is asked for."""
    model = fresh(name)
    batch = GraphSet.from_data_list(GRAPHS).select(torch.arange(3))
    nobody = torch.zeros(19, dtype=torch.bool)
    for episode in (
        Episode(batch, batch.y, nobody, nobody, CLASSES),
        sample_episode(batch, CLASSES, Sampling.fixed(1.0), torch.Generator().manual_seed(0)),
    ):
        result = objective(aim, model, episode, 2)
        result.loss.backward()
        assert torch.isfinite(result.loss)
        assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)
        if name == "ampnp":
            assert result.log_likelihood == 0


# Health


@pytest.mark.parametrize("name", WITH_LATENT)
def test_latent_health(name: str) -> None:
    model, episode = with_latent(name), episode_of(0, 1, 2)
    health = latent_health(model, episode)
    assert set(health) == {"kl", "z_scale", "z_spread"}
    assert all(math.isfinite(value) for value in health.values())
    assert health["kl"] > 0 and 0.1 < health["z_scale"] < 1 and health["z_spread"] > 0
    result = elbo(model, episode)
    assert health["kl"] * 3 == pytest.approx(result.kl.item() * model.scored(episode).numel(), rel=1e-4)
    # With nothing but the context to learn from, there is nothing to learn; one graph has no spread.
    same = Episode(episode.graph, episode.y, episode.context, episode.context, CLASSES)
    assert latent_health(model, same)["kl"] == pytest.approx(0, abs=1e-6)
    assert latent_health(model, episode_of(0))["z_spread"] == 0


def test_a_collapsed_latent_is_seen() -> None:
    model = fresh("mpnp")
    assert isinstance(model, NeuralProcess)
    with torch.no_grad():
        model.latent_head.mean.weight.zero_()
        model.latent_head.scale.weight.zero_()
    health = latent_health(model, episode_of(0, 1, 2))
    assert health["kl"] == health["z_spread"] == 0
    assert health["z_scale"] == pytest.approx((0.1 + 0.9 * model.latent_head.scale.bias.sigmoid()).mean().item())


@pytest.mark.parametrize("change", [{"latent": False}, {"z_width": 0}], ids=str)
def test_health_without_a_latent(change: dict[str, int]) -> None:
    model = AttentiveMPNP(AmpnpConfig(FEATURES, CLASSES, width=8, **change))  # type: ignore[arg-type]
    assert latent_health(model, episode_of(0, 1)) == {"kl": 0.0, "z_scale": 0.0, "z_spread": 0.0}


def test_outputs_for_another_number_of_samples_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One output per node would be taken for every sample's, and half the bound be lost without a word."""
    model, decode = small_model(), NeuralProcess.decode
    monkeypatch.setattr(NeuralProcess, "decode", lambda *given: decode(*given)[:, :1])
    for name in OBJECTIVES:
        with pytest.raises(ValueError, match="gave 1 outputs per node for 3 latent samples"):
            objective(name, model, pair(), 3)


def test_predicted_labels_of_targets_by_hand() -> None:
    """q(z | T) reads at node 1 not its label but what the decoder says of it for the mean of q(z | C)."""
    model = small_model()
    w = {name: p.detach() for name, p in model.named_parameters()}
    m_c, s_c = encode(w, CONTEXT_SHOWN)
    h = X @ w["decoder.layers.0.weight"].t() + w["decoder.layers.0.bias"] + w["decoder.joiners.0.weight"] @ m_c
    answer = (h.relu() @ w["head.weight"].t() + w["head.bias"]).softmax(1)[1]
    m_t, s_t = encode(w, torch.stack([CONTEXT_SHOWN[0], answer]))
    kl = ((s_c / s_t).log() + (s_t**2 + (m_t - m_c) ** 2) / (2 * s_c**2) - 0.5).sum()
    torch.testing.assert_close(elbo(model, pair(), target_labels="predicted").kl, kl / 2)
    hidden = pair().relabelled(torch.tensor([[1, 1]]))  # node 1's own label does not enter
    assert torch.equal(
        elbo(model, hidden, target_labels="predicted").kl, elbo(model, pair(), target_labels="predicted").kl
    )


def test_rare_classes_weigh_more_and_the_mean_stays_one() -> None:
    y = torch.tensor([0, 0, 0, 1, -1])
    weight = balanced(y, 3)
    assert weight.tolist() == pytest.approx([2 / 3, 2.0, 1.0])
    assert float(weight[y[:4]].mean()) == pytest.approx(1)
