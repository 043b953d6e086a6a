"""Which recipe a model is trained by on which kind of task."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import unknown_name
from ..models.ampnp import AmpnpConfig
from ..models.base import ModelConfig
from ..models.neural_process import NeuralProcessConfig
from ..models.paper_table import PAPER_FAMILY, PAPER_NETWORKS, paper_row
from ..models.universal import UniversalConfig
from ..tasks.base import Task
from ..tasks.properties import Properties
from .recipe import Recipe

RECIPES = ("default", "paper")
ENDLESS = 1_000_000  # graphs, where they are made up as they are needed


def recipe(name: str, model: ModelConfig, task: Task) -> Recipe:
    """The training recipe ``name`` for a model on a task."""
    if name not in RECIPES:
        raise unknown_name("recipe", name, RECIPES)
    return papers(model.name, task.appendix) if name == "paper" else derived(model, Properties.of(task))


def papers(model: str, appendix: str) -> Recipe:
    """The paper's recipe, with the epochs and the learning rate of its appendix.

    It does not say how many graphs a step has: with one its figures on automata come out (results/paper-readings).
    """
    if model in PAPER_FAMILY:
        row = paper_row(model, appendix)
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
        batch_graphs=1,
        log_uniform=False,
        epoch_steps=1,
        all_targets=False,
        augment=False,
        keep="last",
    )


def derived(model: ModelConfig, task: Properties) -> Recipe:
    """Our default for a model on a task of such properties: what users get for their own graphs, too."""
    if isinstance(model, UniversalConfig):
        return universal(task)
    steps = most_steps(model, task)
    ours = Recipe(objective="multi-sample", samples=4, context=contexts(task), epochs=epochs(task), most_steps=steps)
    if task.labels == "by rule" and task.nodes > 500:
        ours = replace(ours, batch_nodes=16_000)  # else a step sees too few rules
    many_features = 16 <= task.features < 32
    if isinstance(model, AmpnpConfig) and model.edges and many_features and task.nodes < 100 and not task.transductive:
        # Small graphs in small numbers: a run's last steps differ by chance, which the mean of many evens out.
        ours = replace(ours, average=0.99)
    if isinstance(model, NeuralProcessConfig):
        ours = replace(ours, **one_latent(model, task))
    return ours


def universal(task: Properties) -> Recipe:
    """From made-up graphs, which never come twice, for long; on a user's own graphs from the shipped weights on, gently."""
    ours = Recipe(objective="multi-sample", samples=4, batch_graphs=16, learning_rate=2e-3, epochs=13, epoch_steps=100)
    if task.graphs < ENDLESS:
        ours = replace(ours, learning_rate=2e-4, epochs=5, epoch_steps=10, context=contexts(task))
    return ours


def contexts(task: Properties) -> tuple[float, float]:
    """The range of context rates: what is reported has to be learned, three labelled points of a shape among it."""
    if task.labels == "by rule":
        return 0.05, 0.9
    return (task.least_rate, 0.4) if task.least_rate < 0.005 else (0.02, 0.9)


def epochs(task: Properties) -> int:
    if task.labels == "by rule":
        return 40 if task.nodes <= 500 else 8
    if task.places:
        return 60  # mirrored and stretched, a shape is never the same twice
    if task.transductive:
        # The nodes come back in the tests, so that the longer the better; time grows with nodes and classes.
        answers = task.graphs * task.nodes * task.classes
        return min(30, max(2, round(84e6 / max(answers, 1))))
    # The more features a node has, the sooner it is learned by heart, and validation likelihood turns up.
    return 30 if task.features < 32 else 12 if task.features < 64 else 5


def most_steps(model: ModelConfig, task: Properties) -> int:
    """A bound where graphs are large, so that a run takes no more than an hour: fewer where classes make a step dearer."""
    if not task.places:
        return 0
    if task.labels == "arbitrary":
        return 2000
    few_classes = task.classes <= 3
    if isinstance(model, AmpnpConfig) and task.graphs >= 250:
        # Of so many it still learns when the other models are done; fewer, of few classes, come nearly sixty times in less.
        return 9000 if few_classes else 3500
    return 3000 if few_classes else 1500


def one_latent(model: NeuralProcessConfig, task: Properties) -> dict[str, Any]:
    """What the paper's family does differently: one vector z has to carry a whole rule, or a whole labelling."""
    if task.labels == "by rule":
        # More and smaller steps, dense contexts as often as sparse ones.
        changes = {"log_uniform": False, "batch_graphs": 16, "learning_rate": 2e-3, "weight_decay": 0.1}
        passes_messages = any("mp:" in word for word in model.encoder)
        return changes if task.nodes > 500 else {**changes, "epochs": 80 if passes_messages else 40}
    if task.labels == "fixed" or task.places:
        return {}
    if task.transductive:
        # A step sees one labelling of each graph. With two graphs per step the family stays near the mode for a thousand
        # steps; with four times as many, and one latent sample each to pay for them, it does not.
        return {"samples": 1, "batch_nodes": 32_000, "learning_rate": 1e-3, "epochs": 100, "most_steps": 1500}
    # It takes hundreds of steps before it finds out that a context helps.
    return {"epochs": 30, "most_steps": 1000}
