"""``prior/graphs``: problems by number."""

from __future__ import annotations

import pytest
import torch

from mpnp.errors import UserError
from mpnp.tasks import get_task
from mpnp.tasks.prior.task import MOST_TARGETS, PriorTask, as_episode


def test_a_number_names_a_problem() -> None:
    task = get_task("prior/graphs")
    one, two, other = task.draw(7), task.draw(7), task.draw(8)
    for name in ("y", "context", "target"):
        assert torch.equal(getattr(one, name), getattr(two, name))
    assert torch.equal(one.graph.x, two.graph.x)
    assert one.num_nodes != other.num_nodes or not torch.equal(one.y, other.y)


@pytest.mark.parametrize("number", range(4))
def test_a_hundred_hidden_nodes_are_asked_for(number: int) -> None:
    task = PriorTask()
    whole, episode = as_episode(task.problem(number)), task.draw(number)
    assert torch.equal(whole.context, episode.context) and whole.target.all()
    hidden = int((~episode.context).sum())
    assert int(episode.unlabelled_targets.sum()) == min(MOST_TARGETS, hidden)
    assert not (episode.context & ~episode.target).any()
    assert int(episode.y.max()) < episode.num_classes


def test_its_problems_are_no_graphs_of_one_kind() -> None:
    with pytest.raises(UserError, match="universal"):
        PriorTask().graphs("train")
