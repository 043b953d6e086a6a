"""Architectures by name: which sizes a preset has on which kind of task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import unknown_name
from ..tasks.base import Task
from ..tasks.properties import Properties
from .ampnp import AmpnpConfig, AttentiveMPNP
from .base import Model, ModelConfig
from .gnn import GraphNetwork, GraphNetworkConfig
from .neural_process import NeuralProcess, NeuralProcessConfig
from .paper_table import PAPER_FAMILY, Row, paper_row
from .universal import Universal, UniversalConfig

# What a preset starts from: its name, the task, the recipe's name, and the fields that every configuration has.
Preset = Callable[[str, Task, str, dict[str, Any]], ModelConfig]
MANY_GRAPHS = 500
MANY_FEATURES = 16  # a node is learned by heart from so many
NETWORK_LAYERS = {
    "gnn": ("gcn:64", "gcn:64", "gcn:64"),
    "r-gcn": ("r-mp:64", "r-mp:64", "r-mp:64"),
    "unimp": ("join", "linear:64", "mp:64", "mp:64", "mp:64"),
}
NETWORKS = tuple(NETWORK_LAYERS)


def config(model: str, task: Task, recipe_name: str = "default") -> ModelConfig:
    """The architecture of the preset ``model`` for ``task``."""
    if model not in PRESETS:
        raise unknown_name("model", model, PRESETS)
    shared = {
        "num_features": task.num_features,
        "num_classes": task.num_classes,
        "name": model,
        "task": task.name,
        "class_names": list(task.class_names),
    }
    return PRESETS[model](model, task, recipe_name, shared)


def _flagship(model: str, task: Task, recipe_name: str, shared: dict[str, Any]) -> ModelConfig:
    return AmpnpConfig(**shared, edges=model == "ampnp", **flagship_fields(Properties.of(task)))


def flagship_fields(task: Properties) -> dict[str, Any]:
    """What ``ampnp`` and ``anp`` have differently on a task of such properties."""
    if task.labels == "by rule":
        # A rule and its negative are equally likely, so names of classes help as little as nearness does.
        return {"local": False, "refine": 0}
    changes: dict[str, Any] = {"class_embedding": task.labels == "fixed"}
    if task.places and task.labels == "fixed":
        changes |= {"whole": True, "nearby": True}  # a part is known by its place in the shape, and by what lies near
        if task.graphs > MANY_GRAPHS:
            changes["octaves"] = 4  # where a point lies says much about its class; of few graphs it is learned by heart
    if task.labels == "arbitrary" and not task.places and not task.transductive:
        changes["regression"] = (
            True  # of classes never seen in training, what few labels explain is what can be learned
        )
    if task.amounts:
        changes["logs"] = True
    if task.classes > 2 * task.features:
        changes["depth"] = 3  # too few features to tell the classes apart: a node is known by those around it
    if task.features >= MANY_FEATURES and not task.transductive:
        changes["dropout"] = 0.2 if task.features < 2 * MANY_FEATURES else 0.3
    if task.features >= 4 * MANY_FEATURES:
        changes["reaches"] = (2, 8, 40)  # features say more than the labels of direct neighbours do
    return changes


def _universal(model: str, task: Task, recipe_name: str, shared: dict[str, Any]) -> ModelConfig:
    """The same for every task."""
    return UniversalConfig(task=task.name)


def _network(model: str, task: Task, recipe_name: str, shared: dict[str, Any]) -> ModelConfig:
    return GraphNetworkConfig(
        **shared,
        layers=NETWORK_LAYERS[model],
        norm=recipe_name == "default" or model == "unimp",
        relations=task.num_relations,
    )


def _paper_family(model: str, task: Task, recipe_name: str, shared: dict[str, Any]) -> ModelConfig:
    """As large as the paper's models; beyond sizes, the default recipe differs from the paper where that is better."""
    row = paper_row(model, task.appendix)
    encoder, decoder = (_automaton_stacks if task.by_rule else _stacks)(model, row)
    ours = recipe_name == "default"
    # Automata by class is a reading of the paper: so its figures come out, with one mean they do not (results/paper-readings).
    by_class = model.endswith("-c") or (task.by_rule and not ours)
    return NeuralProcessConfig(
        **shared,
        encoder=encoder,
        decoder=decoder,
        r_width=row.r,
        z_width=row.z or 64 * task.num_classes,
        by_class=by_class,
        # The paper's formula, but that ours gives each class of a message passing model its own mean.
        keep_share=by_class and not (ours and model == "mpnp-c"),
        likelihood="categorical" if ours else "gaussian",
        spread="deviation" if ours else "variance",
        norm=ours,
        messages="mean" if ours else "sum",
        relations=task.num_relations,
    )


def _stacks(model: str, row: Row) -> tuple[tuple[str, ...], tuple[str, ...]]:
    word = "r-mp" if model.startswith("r-") else "mp"
    inner = [f"{word}:{row.h}"] * row.layers or [f"linear:{row.h}"]
    encoder = ("join", f"linear:{row.h}", *inner, f"out:{row.r}")
    decoder = ("join", f"linear:{row.h}", *inner, f"linear:{row.h}")
    return encoder, decoder


def _automaton_stacks(model: str, row: Row) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """With Maxout, and z joined after it; the NP's first layer is linear, twice as wide as message passing would be."""
    word = "r-mp" if model.startswith("r-") else "mp"
    first = f"{word}:{row.h}" if row.layers else f"linear:{2 * row.h}"
    observe = (first, *[f"linear:{row.h}"] * 3, f"maxout:{row.h}")
    encoder = ("join", *observe, f"linear:{row.r}")
    decoder = (*observe, "join", *[f"linear:{row.h}"] * 3)
    return encoder, decoder


def build(configuration: ModelConfig) -> Model:
    """A fresh model of a configuration."""
    return KINDS[configuration.kind](configuration)


# A new kind of model is one more line in each of these two.
PRESETS: dict[str, Preset] = {
    **dict.fromkeys(PAPER_FAMILY, _paper_family),
    **dict.fromkeys(("ampnp", "anp"), _flagship),
    **dict.fromkeys(NETWORKS, _network),
    "universal": _universal,
}
KINDS: dict[str, type[Model]] = {
    "ampnp": AttentiveMPNP,
    "neural-process": NeuralProcess,
    "gnn": GraphNetwork,
    "universal": Universal,
}
MODELS = tuple(PRESETS)
