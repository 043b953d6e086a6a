"""Few graphs, few labels: every labelled node is asked about in its turn, the other labels in view as they are in use."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..defaults import SAMPLES
from ..episode import Episode
from ..errors import UserError
from ..prediction import Predictor
from ..tasks.base import Task
from ..tasks.own import OwnTask
from .answers import FOLDS, Answers
from .given import GivenGraphs

FEWER_FOLDS = 5
LARGE = 50_000  # nodes from which on five folds have to do
WIDE = 0.1  # an interval of accuracy wider than this says little
NORMAL_95 = 1.959964


@dataclass(frozen=True)
class Labelled:
    """The labels that a predictor can be tested by: ``asked`` [N] bool, no weight of it has seen them.

    ``episode`` has all graphs with every label in its context.
    """

    episode: Episode
    asked: Tensor

    @property
    def count(self) -> int:
        return int(self.asked.sum())

    @property
    def folds(self) -> int:
        return min(self.count, FEWER_FOLDS if self.episode.num_nodes > LARGE else FOLDS)

    def divisions(self, seed: int, rate: float | None = None) -> Iterator[tuple[Tensor, Tensor]]:
        """What is shown and what is asked, [N] bool each: fold by fold, or, at a ``rate``, with so many labels shown.

        Labels that were trained on are always shown, as they are in use.
        """
        given, generator = self.episode.context, torch.Generator().manual_seed(seed)
        if rate is None:
            fold = stratified(self.episode.y, self.asked, self.folds, generator)
            for f in range(self.folds):
                yield given & (fold != f), fold == f
            return
        shown = round(rate * self.count) if rate == 0 else max(1, round(rate * self.count))
        nodes = self.asked.nonzero().squeeze(1)
        hidden = torch.zeros_like(self.asked)
        hidden[nodes[torch.randperm(self.count, generator=generator)[shown:]]] = True
        yield given & ~hidden, hidden


def labelled(task: Task, predictor: Predictor) -> Labelled | None:
    """The labelled nodes of few graphs, as far as ``predictor`` may be tested by them; ``None`` for any other task.

    A model that was trained on these graphs is asked about the labels that were kept from it, others about all.
    """
    own = task if isinstance(task, OwnTask) else OwnTask(task.own) if isinstance(task, GivenGraphs) else None
    if own is None or not own.transductive:
        return None
    episode = own.labelled()
    if task.num_classes > episode.num_classes:  # those that the predictor knows
        episode = Episode(episode.graph, episode.y, episode.context, episode.target, task.num_classes)
    asked = own.part("test") if learned_from(predictor, own) else episode.context
    if int(asked.sum()) < 2 or int(episode.context.sum()) < 2:
        what = "held back from training" if learned_from(predictor, own) else "labelled"
        raise UserError(
            f"In {own.where} {int(asked.sum())} node{'s are' if int(asked.sum()) != 1 else ' is'} {what}, at least 2 are "
            "needed to be tested by; label more nodes."
        )
    return Labelled(episode, asked)


def learned_from(predictor: Predictor, task: OwnTask) -> bool:
    """Whether a model's weights come from these labels, wherever they were read from.

    It is known by a fingerprint of them. A file whose labels have changed since, and graphs of models that were trained
    before there were fingerprints, are known by their path or name.
    """
    known = getattr(predictor, "learned", None)
    if known is not None and known == task.fingerprint:
        return True
    learned = str(getattr(getattr(predictor, "config", None), "task", "") or "")
    if not learned.startswith("own:"):
        return False
    if not isinstance(task.given, Path):
        return known is None and learned == task.name
    return Path(learned.removeprefix("own:")).resolve() == task.given.resolve()


def ask(
    predictor: Predictor,
    graphs: Labelled,
    seed: int = 0,
    rate: float | None = None,
    *,
    samples: int = SAMPLES,
) -> Iterator[Answers]:
    """One division of the labels after the other, each asked node once: the whole is one round of cross-validation."""
    if graphs.episode.num_graphs > 1 and hasattr(predictor, "sharing"):  # labels mean the same in all graphs
        predictor = predictor.sharing()
    for shown, hidden in graphs.divisions(seed, rate):
        episode, nodes = graphs.episode.with_context(shown), hidden.nonzero().squeeze(1)
        if nodes.numel():
            said: Any = predictor.predict(episode, samples=samples, seed=seed, nodes=nodes)
            yield Answers(episode, nodes, said)


def stratified(y: Tensor, asked: Tensor, folds: int, generator: torch.Generator) -> Tensor:
    """The fold of every asked node, -1 elsewhere, [N]: each fold has about the same share of every class."""
    nodes = asked.nonzero().squeeze(1)
    nodes = nodes[torch.randperm(nodes.numel(), generator=generator)]
    nodes = nodes[y[nodes].argsort(stable=True)]
    fold = torch.full_like(y, -1)
    fold[nodes] = torch.arange(nodes.numel()) % max(folds, 1)
    return fold


def interval(share: float, nodes: int) -> tuple[float, float]:
    r"""Wilson's 95 % interval of a share that was counted on n nodes.

    .. math:: \frac{p + z^2/2n \pm z \sqrt{p(1-p)/n + z^2/4n^2}}{1 + z^2/n}
    """
    z = NORMAL_95**2 / nodes
    half = NORMAL_95 * math.sqrt(share * (1 - share) / nodes + z / (4 * nodes))
    return max(0.0, (share + z / 2 - half) / (1 + z)), min(1.0, (share + z / 2 + half) / (1 + z))
