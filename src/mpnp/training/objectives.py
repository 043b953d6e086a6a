"""What training minimises: plain functions of a model and an episode.

Notation: C the context, T the targets (which contain it), q(z | ·) the encoder, p(y | z) the decoder; sums over targets are
taken per graph, and the loss is divided by the number of scored nodes, so that its size does not depend on the batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import torch
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from ..episode import Episode
from ..graphs import UNLABELLED
from ..models.base import LatentModel, Model, Reading


class Objective(NamedTuple):
    """``loss`` to minimise, with its parts per scored node: ``log_likelihood`` and ``kl`` (0 where there is none)."""

    loss: Tensor
    log_likelihood: Tensor
    kl: Tensor


class Place(NamedTuple):
    """Where the graphs of an episode stand in a larger batch: the number of the ``first``, and how many there are ``of``."""

    first: int
    of: int


TargetLabels = Literal["true", "predicted"]


def objective(
    name: str,
    model: Model,
    episode: Episode,
    samples: int,
    place: Place | None = None,
    target_labels: TargetLabels = "true",
    weight: Tensor | None = None,
) -> Objective:
    """The objective ``name`` of :data:`OBJECTIVES`; for a model without a latent they are all the same likelihood.

    Graphs with a ``place`` in a larger batch take their part of that batch's noise, so that processes that share a batch
    draw what one would. ``target_labels``: what q(z | T) of the ELBO reads at targets outside the context. ``weight`` [C]:
    how much a node of each class counts, where not all count the same.
    """
    if isinstance(model, LatentModel) and model.has_latent:
        if name == "elbo":
            return elbo(model, episode, samples, place, target_labels, weight)
        return OBJECTIVES[name](model, episode, samples, place, weight=weight)
    return likelihood(model, episode, weight)


def likelihood(model: Model, episode: Episode, weight: Tensor | None = None) -> Objective:
    """Without a latent: Σ_T log p(y | C)."""
    reading, query = model.read(episode), model.scored(episode)
    log_p, scored = _log_likelihood(model, episode, model.outputs(reading, query, samples=1, seed=0), query, weight)
    value = log_p.sum() / scored
    return Objective(-value, value.detach(), torch.zeros(()))


def elbo(
    model: LatentModel,
    episode: Episode,
    samples: int = 1,
    place: Place | None = None,
    target_labels: TargetLabels = "true",
    weight: Tensor | None = None,
) -> Objective:
    """The paper's bound: E_q(z|T)[Σ_T log p(y | z)] − KL(q(z | T) ‖ q(z | C))."""
    reading = model.read(episode)
    context, target = (_encode_both if target_labels == "true" else _encode_predicted)(model, reading)
    log_p, scored = _decoded(model, reading, _draw(target, samples, place), weight)
    divergence = _sum_per_graph(kl_divergence(target, context))
    expected, divergence = log_p.mean(1).sum() / scored, divergence.sum() / scored
    return Objective(divergence - expected, expected.detach(), divergence.detach())


def multi_sample(
    model: LatentModel,
    episode: Episode,
    samples: int = 8,
    place: Place | None = None,
    weight: Tensor | None = None,
) -> Objective:
    """Maximum likelihood with the latent integrated out by sampling: log 1/K Σ_k p(y_T | z_k), z_k ~ q(z | C)."""
    reading = model.read(episode)
    context = model.latent(reading, episode.shown().unsqueeze(1))
    log_p, scored = _decoded(model, reading, _draw(context, samples, place), weight)
    value = (log_p.logsumexp(1) - math.log(samples)).sum() / scored
    return Objective(-value, value.detach(), torch.zeros(()))


def importance_weighted(
    model: LatentModel,
    episode: Episode,
    samples: int = 8,
    place: Place | None = None,
    weight: Tensor | None = None,
) -> Objective:
    """The tighter bound log 1/K Σ_k p(y_T | z_k) q(z_k | C) / q(z_k | T), z_k ~ q(z | T)."""
    reading = model.read(episode)
    context, target = _encode_both(model, reading)
    z = _draw(target, samples, place)
    log_p, scored = _decoded(model, reading, z, weight)
    log_ratio = _sum_per_graph(context.log_prob(z) - target.log_prob(z), keep=2)
    value = ((log_p + log_ratio).logsumexp(1) - math.log(samples)).sum() / scored
    return Objective(-value, log_p.mean(1).sum().detach() / scored, -log_ratio.mean(1).sum().detach() / scored)


OBJECTIVES: dict[str, Callable[..., Objective]] = {
    "elbo": elbo,
    "multi-sample": multi_sample,
    "importance-weighted": importance_weighted,
}


def balanced(y: Tensor, classes: int) -> Tensor:
    """How much a node of each class counts if all classes shall count the same, [C]: 1 on the mean over the labels ``y``."""
    count = torch.bincount(y[y != UNLABELLED], minlength=classes).float()
    return torch.where(count > 0, count.sum() / (count.clamp(min=1) * (count > 0).sum()), 1.0)


@torch.no_grad()
def latent_health(model: Model, episode: Episode) -> dict[str, float]:
    """How alive the latent is: KL(q(z|T) ‖ q(z|C)) per graph, mean σ of q(z|C), and the spread of its mean over graphs.

    A collapsed latent shows as a KL of 0 and a spread of 0; where there is no latent, all are 0.
    """
    if not (isinstance(model, LatentModel) and model.has_latent):
        return {"kl": 0.0, "z_scale": 0.0, "z_spread": 0.0}
    context, target = _encode_both(model, model.read(episode))
    return {
        "kl": _sum_per_graph(kl_divergence(target, context)).mean().item(),
        "z_scale": context.scale.mean().item(),
        "z_spread": context.loc.flatten(1).std(0, unbiased=False).mean().item(),
    }


def _encode_both(model: LatentModel, reading: Reading) -> tuple[Normal, Normal]:
    """q(z | C) and q(z | T), from one pass through the encoder; each over [B, 1, …]."""
    episode = reading.episode
    both = model.latent(reading, torch.stack([episode.shown(), episode.shown(episode.target)], 1))
    context, target = (Normal(both.loc[:, i : i + 1], both.scale[:, i : i + 1], validate_args=False) for i in (0, 1))
    return context, target


def _encode_predicted(model: LatentModel, reading: Reading) -> tuple[Normal, Normal]:
    """q(z | C) and q(z | T) with the labels that the decoder gives the targets for the mean of q(z | C); over [B, 1, …]."""
    episode = reading.episode
    shown = episode.shown()
    context = model.latent(reading, shown.unsqueeze(1))
    asked = episode.unlabelled_targets.nonzero().squeeze(1)
    answers = model.likelihood.probabilities(model.decode(reading, context.loc, asked))[:, 0]
    both = shown.index_copy(0, asked, answers)
    return context, model.latent(reading, both.unsqueeze(1))


def _draw(q: Normal, samples: int, place: Place | None) -> Tensor:
    """Reparametrised samples, [B, K, …] from a Normal over [B, 1, …]."""
    graphs = q.loc.size(0)
    first, of = place or Place(0, graphs)
    noise = torch.randn(of, samples, *q.loc.shape[2:], device=q.loc.device)
    return q.loc + q.scale * noise[first : first + graphs]


def _sum_per_graph(values: Tensor, keep: int = 1) -> Tensor:
    return values.flatten(keep).sum(-1)


def _decoded(model: LatentModel, reading: Reading, z: Tensor, weight: Tensor | None) -> tuple[Tensor, int]:
    """Σ log p(y | z) over the scored nodes of each graph, [B, K], and the number of these nodes."""
    query = model.scored(reading.episode)
    out = model.decode(reading, z, query)
    if out.size(1) != z.size(1):  # would be taken for every sample's
        raise ValueError(f"decode gave {out.size(1)} outputs per node for {z.size(1)} latent samples")
    return _log_likelihood(model, reading.episode, out, query, weight)


def _log_likelihood(
    model: Model, episode: Episode, out: Tensor, query: Tensor, weight: Tensor | None
) -> tuple[Tensor, int]:
    """Σ log p(y | out) over the nodes ``query`` [Q] of each graph, [Q, K, outputs] → [B, K], and the number of nodes."""
    log_p = model.likelihood.log_prob(out, episode.y[query])
    if weight is not None:
        log_p = log_p * weight[episode.y[query]].unsqueeze(1)
    total = log_p.new_zeros(episode.num_graphs, log_p.size(1)).index_add(0, episode.batch[query], log_p)
    return total, max(query.numel(), 1)
