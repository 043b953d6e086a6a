"""Many labellings of one graph, each answered by the same predictor: what looking ahead, sampling and rehearsing are made of."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import torch
from torch import Tensor

from ..defaults import SAMPLES
from ..episode import Episode
from ..graphs import UNLABELLED, GraphSet, plain_edges
from ..models.universal import Session, Universal
from ..prediction import Predictor
from .seen import views_of

PART = 2**18  # nodes in one batch of copies


def answers(
    predictor: Predictor,
    episode: Episode,
    labellings: Tensor,
    nodes: Tensor | None = None,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Tensor:
    """Class probabilities [P, Q, C] at ``nodes`` [Q], by default all, given each of ``labellings`` [P, N], -1 where unknown.

    ``episode`` is one graph. Its copies are predicted as one batch; by ``universal``, which reads a graph slowly and answers
    fast, one after the other from the same reading.
    """
    if episode.num_graphs != 1:
        raise ValueError("labellings of one graph are answered at a time")
    where = torch.arange(episode.num_nodes) if nodes is None else nodes
    if isinstance(predictor, Universal) and predictor.x_mean.device.type == "cpu":
        session = Session(predictor, views_of(episode)[0])
        said = [session.predict(y, episode.num_classes, samples=samples, seed=seed) for y in labellings]
        return torch.stack([one.probabilities[where] for one in said])
    size = max(1, PART // max(episode.num_nodes, 1))
    bare = copy(episode.graph)
    bare.edge_index = plain_edges(bare.edge_index)
    store = GraphSet.from_data_list([bare])
    parts = []
    for some in labellings.split(size):
        copies = store.select(torch.zeros(some.size(0), dtype=torch.long))
        y = some.flatten()
        shown = y != UNLABELLED
        many = Episode(copies, y, shown, torch.ones_like(shown), episode.num_classes)
        at = (copies.ptr[:-1].unsqueeze(1) + where).flatten()
        found = predictor.predict(many, samples=samples, seed=seed, nodes=at).probabilities
        parts.append(found.view(some.size(0), where.numel(), -1))
    return torch.cat(parts)


def shown_labels(episode: Episode) -> Tensor:
    """Labels [N] as far as they are shown, -1 elsewhere."""
    return torch.where(episode.context, episode.y, UNLABELLED)


def labelled_by(episode: Episode, y: Tensor) -> Episode:
    """The same graphs with the labels ``y`` [N] shown where there are any."""
    return replace(episode, y=y, context=y != UNLABELLED)
