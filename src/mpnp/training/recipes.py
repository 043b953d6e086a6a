"""Which recipe a model is trained by on which task."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatch

from ..errors import unknown_name
from ..models.configs import PAPER_FAMILY, PAPER_NETWORKS, paper_row
from .recipe import Recipe

RECIPES = ("default", "paper")


def recipe(name: str, model: str, task: str) -> Recipe:
    """The training recipe ``name`` for a model on a task."""
    if name not in RECIPES:
        raise unknown_name("recipe", name, RECIPES)
    if name == "paper":
        if model in PAPER_FAMILY:
            row = paper_row(model, task)
            epochs, rate = row.epochs, row.learning_rate
        else:
            epochs, rate = PAPER_NETWORKS.get(model, (200, 1e-4))
        return Recipe(
            name="paper",
            objective="elbo",
            epochs=epochs,
            learning_rate=rate,
            optimiser="adam",
            weight_decay=0.0,
            schedule="constant",
            clip=None,
            log_uniform=False,
            epoch_steps=1,
            all_targets=False,
            augment=False,
        )
    ours = Recipe(objective="multi-sample", samples=4, context=(0.02, 0.9))
    for task_pattern, model_pattern, changes in DEFAULT_CHANGES:
        if fnmatch(task, task_pattern) and fnmatch(model, model_pattern):
            ours = replace(ours, **changes)  # type: ignore[arg-type]
    return ours


ONE_LATENT: dict[str, object] = {
    "log_uniform": False,
    "batch_graphs": 16,
    "learning_rate": 2e-3,
    "weight_decay": 0.1,
    "epochs": 80,
}
# Where there are many shapes, or many parts, which make a step dearer.
FEWER_STEPS = dict.fromkeys(("skateboard", "table", "mixed-2", "mixed-3", "mixed-4"), 2000) | dict.fromkeys(
    ("airplane", "car", "chair", "lamp", "motorbike"), 1500
)
# Where the flagship still learns when the others are done. (Few rockets make short epochs.)
MORE_STEPS: dict[str, dict[str, object]] = {
    "rocket": {"epochs": 115, "most_steps": 4000},
    "guitar": {"most_steps": 4500},
    "lamp": {"most_steps": 3500},
}
# A step sees one labelling of each graph. With two graphs per step the paper's family stays near the mode for a thousand
# steps; with four times as many, and one latent sample each to pay for them, it does not.
MANY_LABELLINGS: dict[str, object] = {
    "samples": 1,
    "batch_nodes": 32_000,
    "learning_rate": 1e-3,
    "epochs": 100,
    "most_steps": 1500,
}
# What our default recipe does differently where, each line on top of those before it.
DEFAULT_CHANGES: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("ca/*", "*", {"context": (0.05, 0.9), "epochs": 40}),
    # One vector z has to carry the whole rule: more and smaller steps, dense contexts as often as sparse ones.
    ("ca/*", "mpnp*", ONE_LATENT),
    ("ca/*", "r-mpnp", ONE_LATENT),
    ("ca/*", "np*", ONE_LATENT | {"epochs": 40}),
    ("ca/life-like", "*", {"epochs": 8, "batch_nodes": 16_000}),
    # Small proteins in small numbers: a run's last steps differ by chance, which the mean of many evens out.
    ("tud/enzymes", "ampnp", {"average": 0.99}),
    ("tud/proteins", "ampnp", {"average": 0.99}),
    ("ppisp", "*", {"epochs": 12}),
    # Three labelled points are a context too.
    ("shapenet/*", "*", {"context": (0.001, 0.4), "epochs": 60, "most_steps": 3000}),
    *((f"shapenet/{name}", "*", dict[str, object](most_steps=steps)) for name, steps in FEWER_STEPS.items()),
    *((f"shapenet/{name}", "ampnp", changes) for name, changes in MORE_STEPS.items()),
    ("cora/*", "*", {"epochs": 5}),
    ("cora/transductive-2", "ampnp", {"epochs": 30}),  # of 55 graphs whose papers come back in the tests
    ("cora/transductive-3", "ampnp", {"epochs": 15}),  # of 165
    ("cora/transductive-7", "*", {"epochs": 2}),  # of 330 large ones
    # Tasks of three classes teach more than tasks of two, and the 48 training classes make few tasks of eleven that differ much.
    ("cora/few-shot-2", "ampnp", {"learn_from": "cora/few-shot-3"}),
    ("cora/few-shot-11", "ampnp", {"learn_from": "cora/few-shot-5"}),
    # The paper's family takes hundreds of steps before it finds out that a context helps.
    ("cora/few-shot-*", "mpnp*", {"epochs": 30, "most_steps": 1000}),
    ("cora/few-shot-*", "np*", {"epochs": 30, "most_steps": 1000}),
    ("cora/transductive-*", "mpnp*", MANY_LABELLINGS),
    ("cora/transductive-*", "np*", MANY_LABELLINGS),
)
