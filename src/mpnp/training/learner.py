"""The training loop's view of a model: a Lightning module, and the progress it shows."""

from __future__ import annotations

import time
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback
from torch.optim.lr_scheduler import LRScheduler, OneCycleLR
from torch.utils.data import DataLoader
from tqdm import tqdm

from ..episode import Episode
from ..errors import UserError
from ..evaluation.answers import Answers
from ..evaluation.scores import Score
from ..models.base import Model
from ..tasks.base import Task
from .objectives import latent_health, objective
from .parallel import share
from .recipe import Recipe
from .stream import lessons_of, validation_episodes


class Learner(L.LightningModule):
    """The training loop's view of a model: one objective per step, validation by what users will see.

    ``lessons``: the task whose training graphs are learned from, where it is not ``task`` itself. ``weight`` [C]: how much
    a node of each class counts in the loss, where not all count the same.
    """

    def __init__(
        self,
        model: Model,
        task: Task,
        recipe: Recipe,
        seed: int,
        lessons: Task | None = None,
        weight: torch.Tensor | None = None,
    ) -> None:
        super().__init__()
        self.weight = weight
        self.model, self.task, self.recipe, self.seed, self.lessons = model, task, recipe, seed, lessons or task
        self.score = Score()
        self.losses: list[torch.Tensor] = []
        self.seconds, self.started = 0.0, time.time()

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["seconds"] = self.seconds + time.time() - self.started

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self.seconds = checkpoint.get("seconds", 0.0)

    def train_dataloader(self) -> DataLoader[Episode]:
        stream = lessons_of(self.lessons, self.recipe, self.seed, self.current_epoch)
        return DataLoader(stream, batch_size=None)

    def val_dataloader(self) -> DataLoader[Episode]:
        return DataLoader(validation_episodes(self.task, self.seed), batch_size=None)  # type: ignore[arg-type]

    def training_step(self, episode: Episode, step: int) -> torch.Tensor:
        if step == 0:  # the noise of an epoch depends on nothing before it: a resumed run goes on as if never stopped
            torch.manual_seed(self.seed * 1_000_003 + self.current_epoch + 500_000)
        episode, place, part = share(self.model, episode, self.global_rank, self.trainer.world_size)
        recipe = self.recipe
        found = objective(
            recipe.objective, self.model, episode, recipe.samples, place, recipe.target_labels, self.weight
        )
        loss = part * found.loss
        if self.trainer.world_size > 1:
            # The others wait for the gradient of every parameter, of those too that these graphs leave untouched.
            loss = loss + 0 * torch.stack([parameter.sum() for parameter in self.parameters()]).sum()
        self.losses.append(loss.detach())
        return loss

    def on_train_epoch_end(self) -> None:
        # Once per epoch: to have Lightning gather the mean costs a small step several per cent.
        loss = torch.stack(self.losses).mean()
        self.losses.clear()
        if not loss.isfinite():
            raise UserError(
                f"In epoch {self.current_epoch + 1} the loss is no longer a finite number, and nothing can be learned from "
                "then on; give a smaller learning_rate, or look for huge values among the features."
            )
        self.log("loss", loss, sync_dist=True)

    def validation_step(self, episode: Episode, step: int) -> None:
        nodes = episode.unlabelled_targets.nonzero().squeeze(1)
        self.score.add(Answers(episode, nodes, self.model.predict(episode, nodes=nodes)))
        if step == 0:
            health = latent_health(self.model, episode)
            self.log_dict(health, on_step=False, on_epoch=True, batch_size=episode.num_graphs)

    def on_validation_epoch_end(self) -> None:
        result = self.score.compute()
        self.score.reset()
        self.log_dict({"val_nll": result["nll"], "val_accuracy": result["accuracy"]}, prog_bar=True)

    def configure_optimizers(self) -> Any:
        steps = self.recipe.epochs * lessons_of(self.lessons, self.recipe, self.seed, 0).updates
        optimiser, schedule = optimiser_of(self.model, self.recipe, steps)
        if schedule is None:
            return optimiser
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


def optimiser_of(model: Model, recipe: Recipe, steps: int) -> tuple[torch.optim.Optimizer, LRScheduler | None]:
    """The recipe's optimiser for a training of so many ``steps``, and its schedule of learning rates, if it has one."""
    kind = torch.optim.AdamW if recipe.optimiser == "adamw" else torch.optim.Adam
    optimiser = kind(model.parameters(), recipe.learning_rate, weight_decay=recipe.weight_decay, fused=True)
    if recipe.schedule == "constant":
        return optimiser, None
    return optimiser, OneCycleLR(optimiser, recipe.learning_rate, total_steps=steps, pct_start=0.2)


class Progress(Callback):
    """One bar for the whole training, with the time left and the latest scores; nothing where no one is watching."""

    def on_train_start(self, trainer: L.Trainer, learner: L.LightningModule) -> None:
        total = int(trainer.estimated_stepping_batches)
        silent = None if trainer.is_global_zero else True
        self.bar = tqdm(total=total, initial=trainer.global_step, desc="training", unit="step", disable=silent)

    def on_train_batch_end(self, *_: Any) -> None:
        self.bar.update()

    def on_train_epoch_end(self, trainer: L.Trainer, learner: L.LightningModule) -> None:
        scores = {
            name: f"{float(value):.4f}" for name, value in trainer.callback_metrics.items() if name.startswith("val")
        }
        self.bar.set_postfix(epoch=f"{trainer.current_epoch + 1}/{trainer.max_epochs}", **scores)

    def on_exception(self, trainer: L.Trainer, learner: L.LightningModule, error: BaseException) -> None:
        self.teardown(trainer, learner, "fit")  # what is said of it stands on a line of its own

    def teardown(self, trainer: L.Trainer, learner: L.LightningModule, stage: str) -> None:
        if hasattr(self, "bar"):
            self.bar.close()
