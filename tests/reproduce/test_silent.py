"""Every option that is named for what the paper leaves open exists."""

from __future__ import annotations

import pytest
import yaml

from mpnp.models.configs import config
from mpnp.reproduce.silent import SILENT
from mpnp.tasks import get_task
from mpnp.training import recipes
from mpnp.training.options import with_options

SET = [
    one.option.removeprefix("--set ").split()
    for one in SILENT
    if one.option.startswith("--set") and "…" not in one.option
]


@pytest.mark.parametrize("given", [word for words in SET for word in words])
def test_the_options_are_taken(given: str) -> None:
    task = get_task("ca/small-world")
    model = config("mpnp-c", task, "paper")
    name, _, value = given.partition("=")
    with_options(recipes.recipe("paper", model, task), model, {name: yaml.safe_load(value)})


def test_each_question_is_asked_once() -> None:
    assert len({one.question for one in SILENT}) == len(SILENT) >= 15
