"""``fit``: train a model on a task and leave a model folder behind."""

from __future__ import annotations

import json
import logging
import time
import warnings
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback, EarlyStopping, ModelCheckpoint, WeightAveraging
from lightning.pytorch.loggers import CSVLogger
from torch.optim.swa_utils import get_ema_multi_avg_fn

from ..errors import UserError
from ..files import replacing, write_json
from ..models import configs
from ..models.base import LatentModel, ModelConfig
from ..models.pretrained import save
from ..tasks import get_task
from ..tasks.base import Task
from . import recipes
from .learner import Learner, Progress
from .objectives import OBJECTIVES, latent_health
from .options import with_options
from .parallel import Joined, agreed, check_processes, processes
from .recipe import Recipe
from .stream import EpisodeStream


def quiet() -> None:
    """Keep Lightning's notes on hardware and hints out of the way; it sets its own level when imported, so afterwards."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)


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
    plan, configuration = recipes.recipe(recipe, model, task.name), configs.config(model, task, recipe)
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
        network = configs.build(configuration)
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
    from ..models.pretrained import from_pretrained

    return Fitted(from_pretrained(out), out, json.loads((out / "metrics.json").read_text()))
