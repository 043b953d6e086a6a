r"""Labellings that hang together: nodes drawn one block after the other, each given those before.

.. math::
    p(y) = \prod_b \prod_{i \in b} p(y_i \mid \text{labels shown}, y_{\text{blocks before } b})

Within a block nodes are drawn as if they did not influence one another. What is lost by that is at most the entropy of the block beyond that of its most
uncertain node, so a block holds any number of nodes that are in no doubt, but little doubt in all; and no neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..defaults import SAMPLES
from ..episode import Episode
from ..errors import UserError
from ..evaluation.given import asked
from ..graphs import UNLABELLED
from ..models.base import LatentModel, evaluating
from ..own.predict import episode_of
from ..prediction import SMALLEST, Predictor, entropy
from .contract import both_ways
from .labellings import answers, shown_labels

COUNT = 16  # samples, where no other number is asked for
BLOCKS = 32  # at most, where no other number is asked for
DOUBT = 0.5  # nats that a block may hold before its last node; the last blocks take what is left, each up to half of it


@dataclass(frozen=True)
class JointSamples:
    """Labellings of one graph: ``labels`` [k, N], those shown among them; ``log_likelihood`` [k] of what was drawn, in nats;
    ``drawn`` [N] bool: which nodes were."""

    labels: Tensor
    log_likelihood: Tensor
    drawn: Tensor

    def shares(self, classes: int) -> Tensor:
        """How often every node got each class, [N, C]."""
        return torch.stack([(self.labels == c).float().mean(0) for c in range(classes)], 1)


def sample(
    predictor: Any,
    graphs: Any = None,
    count: int = COUNT,
    *,
    num_classes: int | None = None,
    blocks: int = BLOCKS,
    samples: int = SAMPLES,
    seed: int = 0,
) -> list[JointSamples]:
    """``count`` labellings of every graph, drawn jointly given the labels it shows (``y`` ≥ 0); one item per graph:
    ``sample(graphs)`` or ``sample(predictor, graphs)``, both as :func:`mpnp.predict` has them.

    A prediction tells every node's probabilities on their own; neighbours drawn from them would contradict each other. Here the
    predictor is asked anew after every block of nodes, which needs the predictor: a stored prediction cannot do it.

    ``blocks``: in how many the nodes are drawn at most, which is how often the predictor is asked for each labelling. More
    take longer and hang together better; where labels settle each other fast, few are needed.
    """
    if count < 1:
        raise UserError(f"{count} samples were asked for, at least 1 is expected.")
    if blocks < 1:
        raise UserError(f"{blocks} blocks were given, at least 1 is expected.")
    predictor, graphs = asked(predictor, graphs)
    episode = episode_of(predictor, graphs, num_classes)
    return [
        sample_episode(predictor, episode.only(one), count, blocks=blocks, samples=samples, seed=seed)
        for one in range(episode.num_graphs)
    ]


def sample_episode(
    predictor: Predictor,
    episode: Episode,
    count: int = COUNT,
    *,
    blocks: int = BLOCKS,
    samples: int = SAMPLES,
    seed: int = 0,
) -> JointSamples:
    """The same for an episode of one graph, whose hidden labels have no influence."""
    generator = torch.Generator().manual_seed(seed)
    labels = shown_labels(episode).repeat(count, 1)
    likelihood = torch.zeros(count, dtype=torch.double)
    waiting = _in_random_order(episode, generator)
    for left in range(blocks, 0, -1):
        if not waiting.numel():
            break
        said = answers(predictor, episode, labels, waiting, samples=samples, seed=seed).clamp(min=SMALLEST)
        block = next_block(episode, waiting, entropy(said).amax(0), left)
        said = said[:, block]
        drawn = torch.multinomial(said.flatten(0, 1), 1, generator=generator).view(count, -1)
        likelihood += said.gather(2, drawn.unsqueeze(2)).double().log().sum((1, 2))
        labels[:, waiting[block]] = drawn
        waiting = waiting[~block]
    return JointSamples(labels, likelihood, ~episode.context)


def joint_log_likelihood(
    predictor: Predictor,
    episode: Episode,
    y: Tensor,
    *,
    blocks: int = BLOCKS,
    samples: int = SAMPLES,
    seed: int = 0,
) -> tuple[float, float]:
    """log p of the hidden labels ``y`` [N] of one graph, block after block as they are drawn; and of each on its own.

    The difference of the two is what the labels tell of one another, as far as the predictor knows. Nodes whose label in ``y`` is -1 do not count.
    """
    labels, together, alone = shown_labels(episode), 0.0, None
    waiting = _in_random_order(episode, torch.Generator().manual_seed(seed))
    waiting = waiting[y[waiting] != UNLABELLED]
    for left in range(blocks, 0, -1):
        if not waiting.numel():
            break
        said = answers(predictor, episode, labels.unsqueeze(0), waiting, samples=samples, seed=seed)[0]
        told = said.clamp(min=SMALLEST).log().gather(1, y[waiting].unsqueeze(1)).double().squeeze(1)
        alone = float(told.sum()) if alone is None else alone
        block = next_block(episode, waiting, entropy(said), left)
        together += float(told[block].sum())
        labels = labels.clone()
        labels[waiting[block]] = y[waiting[block]]
        waiting = waiting[~block]
    return together, alone or 0.0


def _in_random_order(episode: Episode, generator: torch.Generator) -> Tensor:
    hidden = (~episode.context).nonzero().squeeze(1)
    return hidden[torch.randperm(hidden.numel(), generator=generator)]


def next_block(episode: Episode, waiting: Tensor, doubt: Tensor, left: int) -> Tensor:
    """Which of the nodes ``waiting`` [W] are drawn together next, [W] bool, with ``left`` blocks to go; ``doubt`` [W] in nats.

    The first ones are, as far as the doubt allowed reaches, but of two neighbours only the first.
    """
    if left <= 1:
        return torch.ones_like(waiting, dtype=torch.bool)
    source, target = both_ways(episode)
    rank = torch.full((episode.num_nodes,), waiting.numel())
    rank[waiting] = torch.arange(waiting.numel())
    ahead = torch.full_like(rank, waiting.numel()).scatter_reduce_(0, target, rank[source], "amin")
    free = rank[waiting] < ahead[waiting]
    allowed = max(DOUBT, float(doubt.sum()) / 2 ** (left - 1))
    before = (doubt * free).cumsum(0) - doubt * free
    block = free & (before <= allowed)
    block[0] = True
    return block


@torch.no_grad()
def vary_latent(
    predictor: Predictor, graphs: Any, count: int = COUNT, *, num_classes: int | None = None, seed: int = 0
) -> Tensor:
    """What varies with the latent variable alone: class probabilities [k, N, C] under each of ``count`` samples of z.

    z is drawn once for a whole graph, so each sample is one of its ways to be, without the chance of single labels.
    """
    if not (isinstance(predictor, LatentModel) and predictor.has_latent):
        name = getattr(predictor, "name", type(predictor).__name__)
        raise UserError(f"'{name}' has no latent variable to sample; models such as 'ampnp' and 'universal' have one.")
    device = predictor.x_mean.device
    episode = episode_of(predictor, graphs, num_classes).to(device)
    predictor.check(episode)
    with evaluating(predictor):
        reading = predictor.read(episode)
        out = predictor.outputs(reading, torch.arange(episode.num_nodes, device=device), count, seed)
    return predictor.likelihood.probabilities(out.transpose(0, 1)).cpu()
