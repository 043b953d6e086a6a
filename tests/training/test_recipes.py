"""The default recipe follows from what a task is, whatever it is called."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mpnp.models.base import ModelConfig
from mpnp.models.configs import MODELS, config
from mpnp.tasks.properties import Properties
from mpnp.training.recipe import Recipe
from mpnp.training.recipes import derived, recipe

from .learning import Given, graph

PLAIN = Properties(graphs=100, nodes=50, features=4, classes=3)
OURS = Recipe(objective="multi-sample", samples=4, context=(0.02, 0.9))


def model(name: str) -> ModelConfig:
    return config(name, Given([graph(5)]))


@pytest.mark.parametrize("name", [name for name in MODELS if name != "universal"])
def test_a_plain_task_has_the_plain_recipe(name: str) -> None:
    assert derived(model(name), PLAIN) == OURS


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        # Many features are learned by heart.
        ({"features": 16}, {"average": 0.99}),
        ({"features": 16, "nodes": 100}, {}),
        ({"features": 16, "transductive": True}, {}),
        ({"features": 32}, {"epochs": 12}),
        ({"features": 64}, {"epochs": 5}),
        # Nodes that come back are not.
        ({"features": 64, "transductive": True}, {"epochs": 30}),
        ({"transductive": True, "graphs": 1000, "nodes": 2000, "classes": 4}, {"epochs": 10}),
        ({"transductive": True, "graphs": 1000, "nodes": 10**6}, {"epochs": 2}),
        ({"transductive": True, "classes": 0}, {"epochs": 30}),  # no label at all is told later
        # Shapes, and more so the more parts they have.
        ({"places": True}, {"epochs": 60, "most_steps": 3000}),
        ({"places": True, "classes": 4}, {"epochs": 60, "most_steps": 1500}),
        ({"places": True, "labels": "arbitrary"}, {"epochs": 60, "most_steps": 2000}),
        # Many shapes are not learned by heart.
        ({"places": True, "graphs": 250}, {"epochs": 60, "most_steps": 9000}),
        ({"places": True, "graphs": 250, "classes": 4}, {"epochs": 60, "most_steps": 3500}),
        ({"places": True, "graphs": 250, "labels": "arbitrary"}, {"epochs": 60, "most_steps": 2000}),
        ({"least_rate": 0.001}, {"context": (0.001, 0.4)}),
        # Rules.
        ({"labels": "by rule"}, {"context": (0.05, 0.9), "epochs": 40}),
        ({"labels": "by rule", "nodes": 900}, {"context": (0.05, 0.9), "epochs": 8, "batch_nodes": 16_000}),
    ],
    ids=str,
)
def test_the_flagships_recipe(task: dict[str, Any], expected: dict[str, Any]) -> None:
    assert derived(model("ampnp"), replace(PLAIN, **task)) == replace(OURS, **expected)


SMALL_STEPS = {"log_uniform": False, "batch_graphs": 16, "learning_rate": 2e-3, "weight_decay": 0.1}
MANY_LABELLINGS = {"samples": 1, "batch_nodes": 32_000, "learning_rate": 1e-3, "epochs": 100, "most_steps": 1500}


@pytest.mark.parametrize(
    ("name", "task", "expected"),
    [
        ("mpnp", {"labels": "by rule"}, {**SMALL_STEPS, "context": (0.05, 0.9), "epochs": 80}),
        ("np-c", {"labels": "by rule"}, {**SMALL_STEPS, "context": (0.05, 0.9), "epochs": 40}),
        ("mpnp-c", {"labels": "arbitrary"}, {"epochs": 30, "most_steps": 1000}),
        ("np-c", {"labels": "arbitrary", "transductive": True}, MANY_LABELLINGS),
        ("mpnp", {"features": 16}, {}),
        ("gnn", {"features": 16}, {}),
        ("anp", {"features": 16}, {}),
        ("unimp", {"features": 32}, {"epochs": 12}),
        ("unimp", {"places": True, "graphs": 250}, {"epochs": 60, "most_steps": 3000}),
    ],
    ids=str,
)
def test_other_models(name: str, task: dict[str, Any], expected: dict[str, Any]) -> None:
    assert derived(model(name), replace(PLAIN, **task)) == replace(OURS, **expected)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["default", "paper"])
def test_the_name_of_a_task_says_nothing(name: str, kind: str) -> None:
    called = (Given([graph(5, 8)], name=task) for task in ("given", "ca/small-world", "shapenet/rocket"))
    one, *others = (recipe(kind, config(name, task, kind), task) for task in called)
    assert others == [one, one]


def test_universal_learns_for_long_from_made_up_graphs_and_gently_from_given_ones() -> None:
    made_up, given = derived(model("universal"), replace(PLAIN, graphs=1_000_000)), derived(model("universal"), PLAIN)
    assert made_up.epochs * made_up.epoch_steps > 10 * given.epochs * given.epoch_steps
    assert made_up.learning_rate > given.learning_rate
