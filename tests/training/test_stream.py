"""What an epoch shows of the training graphs."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from mpnp.models import configs
from mpnp.tasks.base import Task
from mpnp.training import recipes
from mpnp.training.stream import EpisodeStream, validation_episodes

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
