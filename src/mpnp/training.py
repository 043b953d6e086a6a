"""Training: a Lightning module around a model and its objective, and ``fit``, which leaves a model folder behind."""

from __future__ import annotations

import itertools
import json
import logging
import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback, EarlyStopping, ModelCheckpoint, WeightAveraging
from lightning.pytorch.loggers import CSVLogger
from torch.optim.swa_utils import get_ema_multi_avg_fn
from torch.utils.data import DataLoader, IterableDataset
from tqdm import tqdm

from .episode import Episode, Sampling, sample_episode
from .errors import UserError
from .files import replacing, write_json
from .models import presets
from .models.base import LatentModel, ModelConfig
from .models.presets import Recipe
from .models.pretrained import save
from .objectives import OBJECTIVES, latent_health
from .options import with_options
from .parallel import Joined, agreed, check_processes, processes, share
from .scores import Score
from .tasks import get_task
from .tasks.base import Task

VALIDATION_NODES = 20_000  # per context rate: enough to choose by, and cheap beside an epoch of training


def quiet() -> None:
    """Keep Lightning's notes on hardware and hints out of the way; it sets its own level when imported, so afterwards."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)


class EpisodeStream(IterableDataset[Episode]):
    """One epoch of training episodes: every graph, in a new order with new contexts, the same for the same seed."""

    def __init__(self, task: Task, recipe: Recipe, seed: int, epoch: int) -> None:
        self.task, self.recipe, self.seed, self.epoch = task, recipe, seed, epoch
        self.graphs = task.graphs("train")
        mean_nodes = self.graphs.num_nodes / len(self.graphs)
        self.batch = max(1, min(recipe.batch_graphs, int(recipe.batch_nodes / mean_nodes)))
        self.steps = math.ceil(len(self.graphs) / self.batch)
        self.rounds = math.ceil(recipe.epoch_steps / self.steps)

    def __len__(self) -> int:
        return self.rounds * self.steps

    @property
    def sampling(self) -> Sampling:
        recipe, task = self.recipe, self.task
        return Sampling(
            context=recipe.context or task.context,
            extra=None if recipe.all_targets else task.extra,
            log_uniform=recipe.log_uniform,
            arbitrary=task.arbitrary,
        )

    def __iter__(self) -> Iterator[Episode]:
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + self.epoch)
        sampling = self.sampling
        orders = (torch.randperm(len(self.graphs), generator=generator) for _ in range(self.rounds))
        for index in itertools.chain.from_iterable(order.split(self.batch) for order in orders):
            graph = self.graphs.select(index)
            if self.recipe.augment:
                graph = self.task.augment(graph, generator)
            yield sample_episode(graph, self.task.num_classes, sampling, generator)


def validation_episodes(task: Task, seed: int) -> list[Episode]:
    """Validation graphs (up to a fixed number of nodes) at the rates the task reports, with contexts that stay the same."""
    graphs = task.graphs("val")
    generator = torch.Generator().manual_seed(seed + 17)
    enough = int(torch.searchsorted(graphs.ptr, torch.tensor(VALIDATION_NODES)).clamp(1, len(graphs)))
    episodes = []
    for rate in task.rates:
        sampling = Sampling.fixed(min(rate, 0.9), task.arbitrary)  # at 100 % nothing would be left to predict
        for index in torch.arange(enough).split(max(1, 20_000 * enough // int(graphs.ptr[enough]))):
            episodes.append(sample_episode(graphs.select(index), task.num_classes, sampling, generator))
    return episodes


class Learner(L.LightningModule):
    """The training loop's view of a model: one objective per step, validation by what users will see.

    ``lessons``: the task whose training graphs are learned from, where it is not ``task`` itself.
    """

    def __init__(self, model: LatentModel, task: Task, recipe: Recipe, seed: int, lessons: Task | None = None) -> None:
        super().__init__()
        self.model, self.task, self.recipe, self.seed, self.lessons = model, task, recipe, seed, lessons or task
        self.score = Score(task.num_classes)
        self.losses: list[torch.Tensor] = []
        self.seconds, self.started = 0.0, time.time()

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["seconds"] = self.seconds + time.time() - self.started

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self.seconds = checkpoint.get("seconds", 0.0)

    def train_dataloader(self) -> DataLoader[Episode]:
        stream = EpisodeStream(self.lessons, self.recipe, self.seed, self.current_epoch)
        return DataLoader(stream, batch_size=None)

    def val_dataloader(self) -> DataLoader[Episode]:
        return DataLoader(validation_episodes(self.task, self.seed), batch_size=None)  # type: ignore[arg-type]

    def training_step(self, episode: Episode, step: int) -> torch.Tensor:
        if step == 0:  # the noise of an epoch depends on nothing before it: a resumed run goes on as if never stopped
            torch.manual_seed(self.seed * 1_000_003 + self.current_epoch + 500_000)
        episode, weight = share(self.model, episode, self.global_rank, self.trainer.world_size)
        loss = weight * OBJECTIVES[self.recipe.objective](self.model, episode, self.recipe.samples).loss
        if self.trainer.world_size > 1:
            # The others wait for the gradient of every parameter, of those too that these graphs leave untouched.
            loss = loss + 0 * torch.stack([parameter.sum() for parameter in self.parameters()]).sum()
        self.losses.append(loss.detach())
        return loss

    def on_train_epoch_end(self) -> None:
        # Once per epoch: to have Lightning gather the mean costs a small step several per cent.
        self.log("loss", torch.stack(self.losses).mean(), sync_dist=True)
        self.losses.clear()

    def validation_step(self, episode: Episode, step: int) -> None:
        nodes = episode.unlabelled_targets.nonzero().squeeze(1)
        self.score.add(self.model.predict(episode, nodes=nodes), episode.y[nodes])
        if step == 0:
            health = latent_health(self.model, episode)
            self.log_dict(health, on_step=False, on_epoch=True, batch_size=episode.num_graphs)

    def on_validation_epoch_end(self) -> None:
        result = self.score.compute()
        self.score.reset()
        self.log_dict({"val_nll": result["nll"], "val_accuracy": result["accuracy"]}, prog_bar=True)

    def configure_optimizers(self) -> Any:
        recipe = self.recipe
        kind = torch.optim.AdamW if recipe.optimiser == "adamw" else torch.optim.Adam
        optimiser = kind(self.model.parameters(), recipe.learning_rate, weight_decay=recipe.weight_decay, fused=True)
        if recipe.schedule == "constant":
            return optimiser
        steps = recipe.epochs * len(EpisodeStream(self.lessons, recipe, self.seed, 0))
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimiser, recipe.learning_rate, total_steps=steps, pct_start=0.2
        )
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


class Progress(Callback):
    """One bar for the whole training, with the time left and the latest scores; nothing where no one is watching."""

    def on_train_start(self, trainer: L.Trainer, learner: L.LightningModule) -> None:
        total = int(trainer.estimated_stepping_batches)
        self.bar = tqdm(total=total, initial=trainer.global_step, desc="training", unit="step", disable=None)

    def on_train_batch_end(self, *_: Any) -> None:
        self.bar.update()

    def on_train_epoch_end(self, trainer: L.Trainer, learner: L.LightningModule) -> None:
        scores = {
            name: f"{float(value):.4f}" for name, value in trainer.callback_metrics.items() if name.startswith("val")
        }
        self.bar.set_postfix(epoch=f"{trainer.current_epoch + 1}/{trainer.max_epochs}", **scores)

    def teardown(self, trainer: L.Trainer, learner: L.LightningModule, stage: str) -> None:
        if hasattr(self, "bar"):
            self.bar.close()


@dataclass(frozen=True)
class Fitted:
    """What ``fit`` returns: the best model, where it lies, and how training went."""

    model: LatentModel
    folder: Path
    metrics: dict[str, Any]


def fit(
    task: Task,
    model: str = "ampnp",
    out: Path | str = "runs/model",
    *,
    recipe: str = "default",
    epochs: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    resume: bool = False,
    progress: bool = True,
    options: dict[str, Any] | None = None,
    devices: int = 1,
    nodes: int = 1,
) -> Fitted:
    """Train the preset ``model`` on ``task`` and leave a model folder at ``out``.

    ``options`` override fields of the model's configuration or of the recipe, by name.

    ``devices`` processes on each of ``nodes`` machines, with ``threads`` threads each, share the graphs of every batch:
    the same batches, contexts and latent noise as in one process, and up to rounding the same losses and gradients. Only
    dropout, where a model has it, draws other masks, and so other noise after them.
    """
    again = {**locals(), "progress": False}  # what each further process is called with
    check_processes(devices, nodes)
    out = Path(out)
    if threads is not None:
        torch.set_num_threads(threads)
    plan, configuration = presets.recipe(recipe, model, task.name), presets.config(model, task, recipe)
    given = {**(options or {}), **({} if epochs is None else {"epochs": epochs})}
    plan, configuration = with_options(plan, configuration, given)
    lessons = task if plan.learn_from is None else get_task(plan.learn_from)
    if plan.most_steps and epochs is None:
        fitting = plan.most_steps // len(EpisodeStream(lessons, plan, seed, 0))
        plan = replace(plan, epochs=max(1, min(plan.epochs, fitting)))
    L.seed_everything(seed, verbose=False)
    network = _tried_out(configuration, plan, lessons, seed, bool(options))

    run = {"task": task.name, "seed": seed, "recipe": asdict(plan), "model": asdict(configuration)}
    with processes(devices, nodes, fit, again) as rank:
        checkpoint = agreed(lambda: _prepare(out, run, resume))
        if checkpoint is None and (out / "metrics.json").exists():
            return _finished(out)
        if task.standardise:
            network.standardise_by(lessons.graphs("train").x)
        learner = Learner(network, task, plan, seed, lessons)
        trainer, best = _trainer(out, plan, progress and rank == 0, devices, nodes)
        finished = _train(trainer, learner, checkpoint, rank)
        if rank > 0:
            trainer.strategy.barrier()  # until the folder is whole
            return _finished(out)
        if not finished and not (out / "checkpoints" / "best.ckpt").exists():
            raise UserError(f"Interrupted before the first epoch ended: nothing was learned yet, {out} holds no model.")
        weights = torch.load(out / "checkpoints" / "best.ckpt", weights_only=True)["state_dict"]
        network.load_state_dict({k.removeprefix("model."): v for k, v in weights.items() if k.startswith("model.")})
        metrics = {
            "finished": finished,
            "epochs": trainer.current_epoch,
            "minutes": round((learner.seconds + time.time() - learner.started) / 60, 2),
            "val_nll": float(best.best_model_score) if best.best_model_score is not None else None,
            "threads": torch.get_num_threads(),
            "devices": devices,
            "nodes": nodes,
            **run,
        }
        save(network, out, metrics)
        if finished:  # else no one waits
            trainer.strategy.barrier()
        return Fitted(network, out, metrics)


def _train(trainer: L.Trainer, learner: Learner, checkpoint: Path | None, rank: int) -> bool:
    """Train, from the ``checkpoint`` on if there is one; whether it came to its end."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*does not have many workers.*|.*sync_dist=True.*")
        warnings.filterwarnings(
            "ignore", message=".*isn't implemented.*|.*Sparse.*|.*`IterableDataset` has `__len__`.*"
        )
        warnings.filterwarnings("ignore", message=".*exists and is not empty.*|.*smaller than the logging interval.*")
        if checkpoint is not None and rank == 0:
            _keep_log(trainer.logger)
        try:
            trainer.fit(learner, ckpt_path=checkpoint, weights_only=True)
        except SystemExit:  # how Lightning ends after Ctrl-C, with the last epoch's checkpoint in place
            if rank > 0:
                raise
            return False
    return True


def _tried_out(configuration: ModelConfig, plan: Recipe, task: Task, seed: int, changed: bool) -> LatentModel:
    """A fresh network; what can be wrong with data or ``changed`` options is found out before any folder is touched."""
    try:
        network = presets.build(configuration)
        episode = next(iter(EpisodeStream(task, replace(plan, batch_graphs=1), seed, 0)))
        network.check(episode)
        if changed:
            with torch.no_grad():
                OBJECTIVES[plan.objective](network, episode, plan.samples)
                latent_health(network, episode)
    except UserError:
        raise
    except Exception as error:
        if not changed:
            raise
        raise UserError(f"No '{configuration.name}' works with the given options: {error}.") from error
    return network


def _trainer(out: Path, plan: Recipe, progress: bool, devices: int, nodes: int) -> tuple[L.Trainer, ModelCheckpoint]:
    """Lightning's trainer, and its checkpoint of the best epoch."""
    best = ModelCheckpoint(out / "checkpoints", "best", "val_nll", enable_version_counter=False)
    # Not ``save_last``, which writes only when the best is written too.
    last = ModelCheckpoint(out / "checkpoints", "last", enable_version_counter=False)
    callbacks: list[Callback] = [best, last]
    if plan.average:
        callbacks.append(WeightAveraging(multi_avg_fn=get_ema_multi_avg_fn(plan.average)))
    if plan.patience is not None:
        callbacks.append(EarlyStopping("val_nll", patience=plan.patience))
    if progress:
        callbacks.append(Progress())
    trainer = L.Trainer(
        accelerator="cpu",
        devices=devices,
        num_nodes=nodes,
        strategy="auto" if devices * nodes == 1 else Joined(),
        use_distributed_sampler=False,  # every process cuts its share out of the whole batch, and validates in full
        deterministic="warn",  # else threads add up gradients of gathered rows in any order
        max_epochs=plan.epochs,
        callbacks=callbacks,
        logger=CSVLogger(out, name="", version="log"),
        gradient_clip_val=plan.clip,
        reload_dataloaders_every_n_epochs=1,
        enable_progress_bar=False,  # ours
        enable_model_summary=False,
        num_sanity_val_steps=0,
        log_every_n_steps=1_000_000,  # epoch means only
    )
    return trainer, best


def _keep_log(logger: Any) -> None:
    """Let the CSV ``logger`` append to the log of the run's first part, which it would delete."""
    file = Path(logger.log_dir) / "metrics.csv"
    if file.exists():
        earlier = file.read_text()
        logger.experiment.metrics_keys = earlier.partition("\n")[0].strip().split(",")
        file.write_text(earlier)


def _prepare(out: Path, run: dict[str, Any], resume: bool) -> Path | None:
    """Claim the folder ``out`` for this run; the checkpoint to continue from, if any."""
    note, last = out / "run.json", out / "checkpoints" / "last.ckpt"
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; give --out a folder.")
    if note.exists():
        if not resume:
            raise UserError(f"{out} already holds a training run; choose another --out, or continue it with --resume.")
        earlier = json.loads(note.read_text())
        if earlier != json.loads(json.dumps(run)):
            changed = [k for k in run if earlier.get(k) != json.loads(json.dumps(run[k]))]
            raise UserError(f"{out} was started with another {', '.join(changed)}; resume with the same options.")
        metrics = out / "metrics.json"
        if metrics.exists() and json.loads(metrics.read_text())["finished"]:
            return None
        metrics.unlink(missing_ok=True)
        return last if last.exists() else None
    if out.exists() and any(out.iterdir()):
        raise UserError(f"{out} is not empty and holds no training run; choose another --out.")
    with replacing(note) as temporary:
        write_json(temporary, run)
    return None


def _finished(out: Path) -> Fitted:
    from .models.pretrained import from_pretrained

    return Fitted(from_pretrained(out), out, json.loads((out / "metrics.json").read_text()))
