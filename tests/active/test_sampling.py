"""Joint samples: what hangs together is drawn together, and its likelihood is the chain rule's."""

from __future__ import annotations

from math import log

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

import mpnp
from mpnp.active import joint_log_likelihood, vary_latent
from mpnp.active.contract import both_ways
from mpnp.active.sampling import next_block, sample_episode
from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.models import configs
from mpnp.models.label_propagation import LabelPropagation
from mpnp.prediction import Prediction

from ..rings import Rings


class Copies:
    """Takes every node for what any labelled node of its graph is, with 0.9; for anything where none is."""

    name, sees_own_label, any_classes = "copies", True, True

    def predict(self, episode: Episode, *, samples: int = 1, seed: int = 0, nodes: Tensor | None = None) -> Prediction:
        votes = torch.zeros(episode.num_graphs, episode.num_classes).index_add_(0, episode.batch, episode.shown())
        p = torch.full_like(votes, 0.1 / max(episode.num_classes - 1, 1))
        p.scatter_(1, votes.argmax(1, keepdim=True), 0.9)
        p = torch.where(votes.sum(1, keepdim=True) > 0, p, 1 / episode.num_classes)
        return Prediction.certain(p[episode.batch]).at(nodes)


def path(labels: list[int]) -> Data:
    first = torch.arange(len(labels) - 1)
    edges = torch.stack([first, first + 1])
    return Data(x=torch.ones(len(labels), 1), edge_index=torch.cat([edges, edges.flip(0)], 1), y=torch.tensor(labels))


def test_nodes_agree_with_those_drawn_before() -> None:
    """On their own all nodes are even, so that independent draws would agree half of the time; these do nine times in ten."""
    (found,) = mpnp.sample(Copies(), path([-1] * 8), 400, num_classes=2, blocks=8)
    agree = (found.labels == found.labels[:, :1]).float().mean()
    assert found.labels.shape == (400, 8) and 0.75 < float(agree) < 0.97
    shares = found.shares(2)
    torch.testing.assert_close(shares, torch.full((8, 2), 0.5), atol=0.1, rtol=0)


def test_given_labels_stay_and_hidden_ones_have_no_influence() -> None:
    graph = path([0, -1, 1, -1, -1, 0])
    (found,) = mpnp.sample(LabelPropagation(), graph, 5, num_classes=2, seed=3)
    assert (found.labels[:, [0, 2, 5]] == torch.tensor([0, 1, 0])).all()
    assert found.drawn.tolist() == [False, True, False, True, True, False]
    episode = Episode.from_graphs([path([0, 1, 1, 0, 1, 0])], torch.tensor([True, False, True, False, False, True]), 2)
    same = sample_episode(LabelPropagation(), episode, 5, seed=3)
    assert torch.equal(same.labels, found.labels) and torch.equal(same.log_likelihood, found.log_likelihood)
    (other,) = mpnp.sample(LabelPropagation(), graph, 50, num_classes=2, seed=4)
    assert not torch.equal(other.labels[:5], found.labels)


def test_the_likelihood_is_the_chain_rules() -> None:
    episode = Episode.from_graphs([path([-1] * 3)], num_classes=2)
    together, alone = joint_log_likelihood(Copies(), episode, torch.tensor([1, 1, 1]), blocks=3)
    assert together == pytest.approx(log(0.5) + 2 * log(0.9), abs=1e-5)
    assert alone == pytest.approx(3 * log(0.5), abs=1e-5)
    # What is drawn is told to be as likely as it is.
    found = sample_episode(Copies(), episode, 30, blocks=3, seed=1)
    for labels, likelihood in zip(found.labels, found.log_likelihood, strict=True):
        assert joint_log_likelihood(Copies(), episode, labels, blocks=3, seed=1)[0] == pytest.approx(
            float(likelihood), abs=1e-5
        )
    # Labels that are not known do not count.
    assert joint_log_likelihood(Copies(), episode, torch.tensor([-1, 0, -1]))[0] == pytest.approx(log(0.5))


def test_a_block_holds_no_neighbours_and_little_doubt() -> None:
    ring = torch.stack([torch.arange(20), torch.arange(20).roll(1)])
    episode = Episode.from_graphs([Data(x=torch.ones(20, 1), edge_index=ring, y=torch.full((20,), -1))], num_classes=2)
    waiting = torch.randperm(20, generator=torch.Generator().manual_seed(0))
    source, target = both_ways(episode)
    sure = next_block(episode, waiting, torch.zeros(20), 10)
    inside = torch.zeros(20, dtype=torch.bool)
    inside[waiting[sure]] = True
    assert 5 <= int(inside.sum()) <= 10 and not (inside[source] & inside[target]).any()
    torn = next_block(episode, waiting, torch.full((20,), log(2)), 20)
    assert torn.tolist()[0] and int(torn.sum()) == 1
    assert next_block(episode, waiting, torch.full((20,), log(2)), 1).all()  # the last block takes all that is left


def test_rules_are_found_and_kept_to() -> None:
    """Nodes of one kind share a label, whatever it is; drawn jointly, kinds never contradict themselves."""

    class Kinds(Copies):
        def predict(
            self, episode: Episode, *, samples: int = 1, seed: int = 0, nodes: Tensor | None = None
        ) -> Prediction:
            kind = 2 * episode.batch + episode.graph.x[:, 0].long()
            votes = torch.zeros(2 * episode.num_graphs, 2).index_add_(0, kind, episode.shown())
            p = torch.where(votes.sum(1, keepdim=True) > 0, votes / votes.sum(1, keepdim=True).clamp(min=1), 0.5)
            return Prediction.certain(p[kind]).at(nodes)

    graph = path([-1] * 40)
    graph.x = (torch.arange(40) % 2).float().unsqueeze(1)
    (found,) = mpnp.sample(Kinds(), graph, 50, num_classes=2)
    for start in (0, 1):
        same = found.labels[:, start::2]
        assert (same == same[:, :1]).float().mean() > 0.95
    assert found.log_likelihood.max() == pytest.approx(2 * log(0.5), abs=1e-4)


def test_what_varies_with_the_latent_alone() -> None:
    torch.manual_seed(0)
    model = configs.build(configs.config("ampnp", Rings()))
    graph = Data(
        x=torch.ones(5, 1),
        edge_index=torch.stack([torch.arange(5), torch.arange(5).roll(1)]),
        y=torch.tensor([0, 1, -1, -1, -1]),
    )
    found = vary_latent(model, graph, 7)
    assert found.shape == (7, 5, 2)
    torch.testing.assert_close(found.sum(-1), torch.ones(7, 5))
    torch.testing.assert_close(
        found.mean(0), model.predict(Episode.from_graphs([graph], num_classes=2), samples=7).probabilities
    )
    with pytest.raises(UserError, match="has no latent variable"):
        vary_latent(LabelPropagation(), graph)


def test_what_cannot_be_sampled() -> None:
    with pytest.raises(UserError, match="0 samples were asked for"):
        mpnp.sample(Copies(), path([0, -1]), 0)
    with pytest.raises(UserError, match="0 blocks were given"):
        mpnp.sample(Copies(), path([0, -1]), blocks=0)
