"""Episodes to learn from, and episodes to validate on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import torch
from torch.utils.data import IterableDataset

from ..episode import Episode, Sampling, sample_episode
from ..tasks.base import Task
from ..tasks.own import OwnTask
from .recipe import Recipe

VALIDATION_NODES = 20_000  # per context rate: enough to choose by, and cheap beside an epoch of training

VALIDATION_DRAWS = 200  # episodes, where they are drawn one by one


class EpisodeStream(IterableDataset[Episode]):
    """One epoch of training episodes: every graph, in a new order with new contexts, the same for the same seed."""

    def __init__(self, task: Task, recipe: Recipe, seed: int, epoch: int) -> None:
        self.task, self.recipe, self.seed, self.epoch = task, recipe, seed, epoch
        self.graphs = task.graphs("train")
        mean_nodes = self.graphs.num_nodes / len(self.graphs)
        self.batch = max(1, min(recipe.batch_graphs, int(recipe.batch_nodes / mean_nodes)))
        self.steps = math.ceil(len(self.graphs) / self.batch)
        self.rounds = math.ceil(recipe.epoch_steps / self.steps)

    def __len__(self) -> int:
        return self.rounds * self.steps

    @property
    def updates(self) -> int:
        """How often the weights change in this epoch: once per batch."""
        return len(self)

    @property
    def sampling(self) -> Sampling:
        recipe, task = self.recipe, self.task
        return Sampling(
            context=recipe.context or task.context,
            extra=None if recipe.all_targets else task.extra,
            log_uniform=recipe.log_uniform,
            arbitrary=task.arbitrary,
        )

    def __iter__(self) -> Iterator[Episode]:
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + self.epoch)
        sampling = self.sampling
        orders = (torch.randperm(len(self.graphs), generator=generator) for _ in range(self.rounds))
        for index in itertools.chain.from_iterable(order.split(self.batch) for order in orders):
            graph = self.graphs.select(index)
            if self.recipe.augment:
                graph = self.task.augment(graph, generator)
            yield sample_episode(graph, self.task.num_classes, sampling, generator)


class DrawnStream(IterableDataset[Episode]):
    """One epoch of a task whose episodes are drawn one by one: never the same twice, the same for the same seed.

    Their graphs differ in features and classes, so that each is a batch of its own; the weights change after every
    ``batch_graphs`` of them.
    """

    def __init__(self, task: Task, recipe: Recipe, seed: int, epoch: int) -> None:
        self.task, self.seed, self.epoch = task, seed, epoch
        self.batch, self.updates = recipe.batch_graphs, recipe.epoch_steps

    def __len__(self) -> int:
        return self.batch * self.updates

    def __iter__(self) -> Iterator[Episode]:
        first = VALIDATION_DRAWS + (self.seed * 1_000_003 + self.epoch) * len(self)
        return (self.task.draw(number) for number in range(first, first + len(self)))


def lessons_of(task: Task, recipe: Recipe, seed: int, epoch: int) -> EpisodeStream | DrawnStream:
    """The training episodes of one epoch."""
    return (DrawnStream if task.drawn else EpisodeStream)(task, recipe, seed, epoch)


def validation_episodes(task: Task, seed: int) -> list[Episode]:
    """What a model is validated on: episodes that no training sees."""
    if task.drawn:
        return [task.draw(number) for number in range(VALIDATION_DRAWS)]
    if isinstance(task, OwnTask) and task.transductive:
        return [task.in_use("val")]
    return _held_out_episodes(task, seed)


def _held_out_episodes(task: Task, seed: int) -> list[Episode]:
    """Validation graphs (up to a fixed number of nodes) at the rates the task reports, with contexts that stay the same."""
    graphs = task.graphs("val")
    generator = torch.Generator().manual_seed(seed + 17)
    enough = int(torch.searchsorted(graphs.ptr, torch.tensor(VALIDATION_NODES)).clamp(1, len(graphs)))
    episodes = []
    for rate in task.rates:
        sampling = Sampling.fixed(min(rate, 0.9), task.arbitrary)  # at 100 % nothing would be left to predict
        for index in torch.arange(enough).split(max(1, 20_000 * enough // int(graphs.ptr[enough]))):
            episodes.append(sample_episode(graphs.select(index), task.num_classes, sampling, generator))
    return episodes
