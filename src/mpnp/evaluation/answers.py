"""Predictions beside the truth: the one loop by which every predictor is asked, whatever is then made of its answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from ..defaults import SAMPLES
from ..episode import Episode, Sampling, sample_episode
from ..prediction import Prediction, Predictor
from ..progress import counted
from ..tasks.base import Split, Task

FOLDS = 10
BATCH_NODES = 20_000
MANY_NODES = 1_000  # per graph: then two of the ten folds tell as much as is needed

Asked = Literal["hidden", "scored", "targets"]


@dataclass(frozen=True)
class Answers:
    """What a predictor said of some nodes of an episode, which holds the truth and what of it was shown.

    ``context``: what it said of the nodes whose label was shown, where that was asked as well.

    Shapes: ``nodes`` [Q] of the episode's N, ``prediction`` for them in the same order; ``y`` [Q] their true labels, ``right``
    [Q] whether they were found, ``given`` [Q] whether they were shown, ``graph`` [Q] which of the episode's graphs a node
    belongs to, ``shown`` [Q] the share of that graph's nodes that showed their label.
    """

    episode: Episode
    nodes: Tensor
    prediction: Prediction
    context: Answers | None = None

    @property
    def y(self) -> Tensor:
        return self.episode.y[self.nodes]

    @property
    def right(self) -> Tensor:
        return self.prediction.label == self.y

    @property
    def given(self) -> Tensor:
        return self.episode.context[self.nodes]

    @property
    def graph(self) -> Tensor:
        return self.episode.batch[self.nodes]

    @property
    def shown(self) -> Tensor:
        return self.episode.share_shown[self.graph]

    def within(self, whole: Prediction) -> Prediction:
        """A prediction of all N nodes with these answers in their places."""
        place, answered = torch.zeros_like(self.episode.y), torch.zeros_like(self.episode.context)
        place[self.nodes] = torch.arange(self.nodes.numel(), device=place.device)
        answered[self.nodes] = True
        return self.prediction.at(place).where(answered, whole) if self.nodes.numel() else whole


def answer(
    predictor: Predictor,
    task: Task,
    rate: float,
    seed: int = 0,
    split: Split = "test",
    at_most: int | None = None,
    *,
    asked: Asked = "hidden",
    samples: int = SAMPLES,
    noise: int | None = None,
    alone: bool = False,
) -> Iterator[Answers]:
    """Ask a predictor about all graphs of a split under one draw of the context, batch by batch.

    ``asked``: about the 'hidden' targets, whose label is not shown; about those that are 'scored', the same unless ``rate`` is
    1, where nothing is hidden and every node is predicted from nine tenths of the others; or about all 'targets', the
    scored ones and beside them the context nodes in the way that they are counted (:func:`_of_context`).

    ``seed``: of the context, and of the latent samples unless ``noise`` names another. ``alone``: graph by graph, each with
    latent noise of its own (see :func:`single_graphs`).
    """
    folds = torch.Generator().manual_seed(seed + 1)
    draw = single_graphs if alone else episodes
    for number, episode in enumerate(draw(task, rate, seed, split, at_most)):
        ask = _Ask(predictor, episode, samples, number if alone else seed if noise is None else noise, folds)
        cross_fitted = rate == 1 and asked != "hidden"
        answers = ask.held_out(FOLDS) if cross_fitted else ask.directly(episode.unlabelled_targets)
        yield replace(answers, context=_of_context(ask, answers, task)) if asked == "targets" else answers


def cross_fit(
    predictor: Predictor,
    episode: Episode,
    generator: torch.Generator,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    folds: int = FOLDS,
    of: int = FOLDS,
) -> Answers:
    """Predict the context nodes, each from the other nine of ten folds of its graph's context.

    A node's own label cannot reach its prediction. With fewer ``folds`` only the nodes of so many are predicted, a random
    part of them; the context may be divided into another number of folds, ``of``.
    """
    fold = _folds(episode, generator, of)
    parts, order = [], []
    for f in counted(range(min(folds, of)), min(folds, of)):
        held_out = (fold == f).nonzero().squeeze(1)
        if held_out.numel():
            others = episode.with_context(episode.context & (fold != f))
            parts.append(predictor.predict(others, samples=samples, seed=seed, nodes=held_out))
            order.append(held_out)
    nodes = torch.cat(order) if order else episode.context.nonzero().squeeze(1)
    return Answers(episode, nodes, Prediction.join(parts, episode.num_classes))


def episodes(
    task: Task, rate: float, seed: int, split: Split = "test", at_most: int | None = None
) -> Iterator[Episode]:
    """All graphs of a split, or the first ``at_most``, with one context draw at ``rate``, in batches of bounded size.

    A context that comes with the data is taken as published, whatever the seed's draw would have been.
    """
    published = task.published(rate, seed, split)
    if published is not None:
        yield published
        return
    graphs = task.graphs(split)
    generator = torch.Generator().manual_seed(seed)
    mean_nodes = max(1, graphs.num_nodes // len(graphs))
    for index in torch.arange(len(graphs))[:at_most].split(max(1, BATCH_NODES // mean_nodes)):
        yield sample_episode(graphs.select(index), task.num_classes, Sampling.fixed(rate, task.arbitrary), generator)


def single_graphs(
    task: Task, rate: float, seed: int, split: Split = "test", at_most: int | None = None
) -> Iterator[Episode]:
    """The episodes of :func:`episodes`, graph by graph, so that each can be predicted with latent noise of its own.

    The graphs of a batch share their noise, which is right for predictions but not for a mean over graphs: a rare z that
    makes a model change its mind is then drawn for all of them or for none.
    """
    for batch in episodes(task, rate, seed, split, at_most):
        for graph in range(batch.num_graphs):
            yield batch.only(graph)


def draw_seeds(seed: int, draws: int) -> range:
    """A seed for each draw of the context; those of another ``seed`` are others."""
    return range(seed * 10_007, seed * 10_007 + draws)


@dataclass(frozen=True)
class _Ask:
    """One predictor asked about one episode, with the same samples and the same noise each time."""

    predictor: Predictor
    episode: Episode
    samples: int
    seed: int
    generator: torch.Generator  # of the folds

    def directly(self, mask: Tensor) -> Answers:
        """For the nodes of ``mask`` [N], all that is shown in view."""
        nodes = mask.nonzero().squeeze(1)
        if not nodes.numel():
            return Answers(self.episode, nodes, Prediction.join([], self.episode.num_classes))
        return Answers(
            self.episode,
            nodes,
            self.predictor.predict(self.episode, samples=self.samples, seed=self.seed, nodes=nodes),
        )

    def held_out(self, folds: int) -> Answers:
        """For context nodes, each with its own label out of view."""
        return cross_fit(
            self.predictor, self.episode, self.generator, samples=self.samples, seed=self.seed, folds=folds
        )

    def as_given(self) -> Answers:
        """The context labels themselves, nothing predicted."""
        nodes = self.episode.context.nonzero().squeeze(1)
        truth = F.one_hot(self.episode.y[nodes], self.episode.num_classes).float()
        return Answers(self.episode, nodes, Prediction.certain(truth))


def _of_context(ask: _Ask, scored: Answers, task: Task) -> Answers:
    """The context nodes as the paper's accuracy counts them among the targets.

    A predictor that sees the context only through a summary is asked directly. One that could read a node's own label is
    cross-fitted (on graphs of over a thousand nodes a random fifth stands for all); on shapes, whose large graphs would
    make that slow, labels count as given.
    """
    if not ask.predictor.sees_own_label:
        return ask.directly(ask.episode.context)
    if "shapes" in task.metrics:
        return ask.as_given()
    if scored.given.any():  # all of it is shown, and was cross-fitted already
        return scored
    return ask.held_out(2 if ask.episode.num_nodes > MANY_NODES * ask.episode.num_graphs else FOLDS)


def _folds(episode: Episode, generator: torch.Generator, of: int = FOLDS) -> Tensor:
    """The fold 0 … 9 (or so many ``of`` them) of every context node, drawn so that each graph's context is divided evenly; -1 elsewhere, [N]."""
    nodes = episode.context.nonzero().squeeze(1)
    shuffled = nodes[
        (episode.batch[nodes] + torch.rand(nodes.numel(), generator=generator, dtype=torch.float64)).argsort()
    ]
    count = torch.bincount(episode.batch[shuffled], minlength=episode.num_graphs)
    start = count.cumsum(0) - count
    fold = torch.full_like(episode.y, -1)
    fold[shuffled] = (torch.arange(shuffled.numel()) - start[episode.batch[shuffled]]) % of
    return fold
