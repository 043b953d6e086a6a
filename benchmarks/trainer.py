"""What the training loop costs around its steps: an epoch as a user runs it beside the bare steps on ready episodes."""

from __future__ import annotations

import logging
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from lightning.pytorch.callbacks import Callback

from mpnp.models import configs
from mpnp.tasks import get_task
from mpnp.training import recipes
from mpnp.training.fit import _trainer
from mpnp.training.learner import Learner
from mpnp.training.objectives import objective
from mpnp.training.stream import EpisodeStream

TASKS = ("ca/small-world", "tud/enzymes")


def bench(model: str = "ampnp", rounds: int = 7) -> dict[str, dict[str, float]]:
    """Seconds of an epoch without validation: in the trainer, and as bare steps; alternating, best of several."""
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    table = {}
    for name in TASKS:
        task = get_task(name)
        if task.missing() is not None:
            continue
        recipe = recipes.recipe("default", configs.config(model, task), task)
        best = {"trainer": float("inf"), "bare steps": float("inf")}
        for _ in range(rounds):
            best["trainer"] = min(best["trainer"], _in_trainer(model, name))
            best["bare steps"] = min(best["bare steps"], _bare(model, name))
        table[name] = {**best, "steps": len(EpisodeStream(task, recipe, 0, 0))}
    return table


class Watch(Callback):
    """The seconds of an epoch, from before its first episode is drawn."""

    def on_train_epoch_start(self, *_: Any) -> None:
        self.start = time.perf_counter()

    def on_train_epoch_end(self, *_: Any) -> None:
        self.seconds = time.perf_counter() - self.start


def _learner(model: str, name: str) -> Learner:
    task = get_task(name)
    torch.manual_seed(0)
    configuration = configs.config(model, task)
    return Learner(configs.build(configuration), task, recipes.recipe("default", configuration, task), 0)


def _in_trainer(model: str, name: str) -> float:
    learner = _learner(model, name)
    with tempfile.TemporaryDirectory() as folder:
        trainer, _ = _trainer(Path(folder), learner.recipe, progress=True, devices=1, machines=1)
        trainer.limit_val_batches = 0
        trainer.fit_loop.max_epochs = 1
        watch = Watch()
        trainer.callbacks.append(watch)  # type: ignore[attr-defined]
        trainer.fit(learner)
    return watch.seconds


def _bare(model: str, name: str) -> float:
    learner = _learner(model, name)
    episodes = list(EpisodeStream(learner.task, learner.recipe, 0, 0))
    optimiser = torch.optim.AdamW(learner.model.parameters(), learner.recipe.learning_rate, fused=True)
    recipe, clip = learner.recipe, learner.recipe.clip
    start = time.perf_counter()
    for episode in episodes:
        optimiser.zero_grad()
        objective(recipe.objective, learner.model, episode, recipe.samples).loss.backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(learner.model.parameters(), clip)
        optimiser.step()
    return time.perf_counter() - start


def lines(table: dict[str, dict[str, float]]) -> list[str]:
    text = [
        "## The trainer around the steps",
        "",
        "An epoch of `ampnp`: drawing episodes, Lightning's loop, logging and progress on top of forward, backward and optimiser.",
        "",
        "| task | steps | bare steps, s | in the trainer, s | overhead |",
        "|---|---|---|---|---|",
    ]
    for name, row in table.items():
        bare, full = row["bare steps"], row["trainer"]
        text.append(f"| {name} | {row['steps']:.0f} | {bare:.2f} | {full:.2f} | {100 * (full / bare - 1):.0f} % |")
    return text
