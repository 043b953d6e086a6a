"""What an epoch shows of the training graphs."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from mpnp.models import configs
from mpnp.tasks.base import Task
from mpnp.tasks.prior.task import PriorTask
from mpnp.training import recipes, stream
from mpnp.training.recipe import Recipe
from mpnp.training.stream import DrawnStream, EpisodeStream, lessons_of, validation_episodes

from .learning import Given, graph


@pytest.mark.parametrize("recipe", ["default", "paper"])
def test_nodes_without_a_label_are_never_context_or_target(recipe: str) -> None:
    task = Given([graph(30, 60, unlabelled=0.6) for _ in range(6)])
    plan = recipes.recipe(recipe, configs.config("ampnp", task), task)
    targets = 0
    for episode in [*EpisodeStream(task, plan, seed=0, epoch=0), *validation_episodes(task, seed=0)]:
        assert not (episode.target & (episode.y < 0)).any()
        assert not (episode.context & ~episode.target).any()
        targets += int(episode.unlabelled_targets.sum())
    assert targets > 0


def test_every_epoch_shows_every_graph_once_with_another_context(automata: Task) -> None:
    plan = replace(recipes.recipe("default", configs.config("ampnp", automata), automata), epoch_steps=1)
    first, again, second = (list(EpisodeStream(automata, plan, seed=0, epoch=epoch)) for epoch in (0, 0, 1))
    sizes = automata.graphs("train").sizes.sort().values
    for epoch in (first, second):
        assert torch.equal(torch.cat([episode.graph.ptr.diff() for episode in epoch]).sort().values, sizes)
    assert all(torch.equal(a.context, b.context) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0].graph.ptr, second[0].graph.ptr)


def test_few_graphs_are_gone_through_until_an_epoch_has_its_steps(automata: Task) -> None:
    plan = replace(
        recipes.recipe("default", configs.config("ampnp", automata), automata), epoch_steps=7, batch_graphs=10
    )
    stream = EpisodeStream(automata, plan, seed=0, epoch=0)
    episodes = list(stream)
    graphs = len(automata.graphs("train"))  # 28: three steps
    assert len(stream) == len(episodes) == 9
    assert sum(episode.num_graphs for episode in episodes) == 3 * graphs
    assert not torch.equal(episodes[0].context, episodes[3].context)


class Numbers(PriorTask):
    """Its episodes are their numbers."""

    def draw(self, number: int) -> int:  # type: ignore[override]
        return number


def test_problems_that_are_drawn_never_come_twice() -> None:
    """Not in another epoch, not with another seed, and not in validation."""
    task, plan = Numbers(), Recipe(batch_graphs=3, epoch_steps=4)
    epochs = [lessons_of(task, plan, seed, epoch) for seed in (0, 1) for epoch in (0, 1, 2)]
    assert all(isinstance(each, DrawnStream) and len(each) == 12 and each.updates == 4 for each in epochs)
    numbers = [number for each in epochs for number in each]
    assert len(set(numbers)) == len(numbers) == 72
    assert list(lessons_of(task, plan, 0, 1)) == list(epochs[1])
    assert not set(numbers) & set(validation_episodes(task, 0))


def test_validation_of_drawn_problems_stays_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "VALIDATION_DRAWS", 2)
    one, two = (validation_episodes(PriorTask(), seed) for seed in (0, 1))
    assert len(one) == 2 and all(torch.equal(a.context, b.context) for a, b in zip(one, two, strict=True))
