"""``fit``: train a model on a task and leave a model folder behind."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback, EarlyStopping, ModelCheckpoint, WeightAveraging
from lightning.pytorch.strategies import DDPStrategy
from torch.optim.swa_utils import get_ema_multi_avg_fn

from ..episode import Episode
from ..errors import StoppedError, UserError
from ..evaluation.calibrate import fit_temperature
from ..evaluation.reliability import Pool
from ..models import configs
from ..models.base import Model, ModelConfig
from ..models.calibration import Calibration
from ..models.pretrained import SHIPPED, check_finite, from_pretrained, save
from ..nn.devices import find_device
from ..tasks import get_task
from ..tasks.base import Task
from ..tasks.own import Lessons, OwnTask
from . import folder as run_folder
from . import recipes
from .folds import few_labels, found_before, keep, temperature_for, to_learn_from, try_folds
from .learner import Learner, Progress
from .objectives import balanced, latent_health, objective
from .options import with_options
from .parallel import check_processes
from .recipe import Recipe
from .stream import lessons_of


def quiet() -> None:
    """Keep Lightning's notes on hardware and hints out of the way; it sets its own level when imported, so afterwards."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)


@dataclass(frozen=True)
class Fitted:
    """What ``fit`` returns: the best model, where it lies, and how training went."""

    model: Model
    folder: Path
    metrics: dict[str, Any]

    def __repr__(self) -> str:
        told = {key: self.metrics[key] for key in ("epochs", "minutes", "val_nll") if key in self.metrics}
        return f"Fitted({self.model.name!r}, folder={str(self.folder)!r}, {', '.join(f'{k}={v:g}' for k, v in told.items())})"


def fit(
    task: Any,
    model: str | ModelConfig | Model = "ampnp",
    recipe: str | Recipe = "default",
    *,
    out: Path | str = "runs/model",
    epochs: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    resume: bool = False,
    progress: bool = True,
    options: dict[str, Any] | None = None,
    devices: int = 1,
    machines: int = 1,
    device: str = "cpu",
    balance: bool = False,
) -> Fitted:
    """Train ``model`` on ``task`` by ``recipe`` and leave a model folder at ``out``.

    ``task``: a task or its name, or graphs of your own in any container (:func:`mpnp.as_graphs`). On few graphs with few
    labels, held-out folds of them say when to stop and how sure to be (``folds.py``). ``balance``: all classes count the
    same in the loss, however rare.

    ``model``: a preset's name, a configuration, or a model of your own (a :class:`~mpnp.models.base.Network` or a
    :class:`~mpnp.models.base.LatentModel`), which is trained in place; ``recipe``: a recipe's name, or a recipe.
    ``options`` override fields of the recipe or of the model's configuration, by name.

    ``device``: cpu, cuda, mps or auto. ``devices`` processes on each of ``machines`` machines, with ``threads`` threads each, share the graphs of every batch:
    the same batches, contexts and latent noise as in one process, and up to rounding the same losses and gradients. Only
    dropout, where a model has it, draws other masks, and so other noise after them. Each process runs the calling script
    from its start.
    """
    quiet()
    where = find_device(device)
    check_processes(devices if where.type == "cpu" else 1, machines)
    task, folder = get_task(task), Path(out)
    if threads is not None or devices > 1:
        torch.set_num_threads(threads or max(1, (os.cpu_count() or 1) // devices))
    if devices * machines > 1:
        os.environ.setdefault("OMP_NUM_THREADS", str(torch.get_num_threads()))  # else Lightning chooses a number
    configuration = _configuration(model, task, recipe)
    plan = recipe if isinstance(recipe, Recipe) else recipes.recipe(_name(recipe), configuration, task)
    given = {**(options or {}), **({} if epochs is None else {"epochs": epochs})}
    plan, changed = with_options(plan, configuration, given)
    lessons = task if plan.learn_from is None else get_task(plan.learn_from)
    few = lessons is task and few_labels(task)
    if few:
        task.splits  # noqa: B018  # says if there are too few even for that
        lessons = to_learn_from(task)
    kind = type(model) if isinstance(model, Model) else configs.KINDS[configuration.kind]
    if lessons.drawn and not kind.any_features:
        raise UserError(
            f"The graphs of {lessons.name} differ in their features and classes, and '{configuration.name}' is made for one "
            "number of each; train a model that answers any graph, as 'universal'."
        )
    if plan.most_steps and epochs is None:
        fitting = plan.most_steps // lessons_of(lessons, plan, seed, 0).updates
        plan = replace(plan, epochs=max(1, min(plan.epochs, fitting)))
    L.seed_everything(seed, verbose=False)
    if isinstance(model, Model):
        if changed != configuration:
            raise UserError(f"The model is given whole, so that none of its fields can be set by {', '.join(given)}.")
        network = model.train()  # one that was loaded comes in the mode for predicting
    elif changed.kind in SHIPPED and not lessons.drawn:  # what came with the package learns on
        network = _learning_on(changed, given)
        changed = network.config
    else:
        network = configs.build(changed)
    _try_out(network, plan, lessons, seed, thoroughly=bool(options) or network is model)

    run: dict[str, Any] = {"task": task.name, "seed": seed, "recipe": asdict(plan), "model": asdict(changed)}
    run[run_folder.DATA] = run_folder.fingerprint(task if few else lessons, task)
    run |= {"balance": True} if balance else {}
    network.feature_names = _named_features(task, network)
    network.learned = (
        task.fingerprint if isinstance(task, OwnTask) and lessons.name in (task.name, Lessons.name) else None
    )
    weight = balanced(lessons.graphs("train").y, task.num_classes) if balance and not lessons.drawn else None
    batches = plan.batch_graphs if lessons.drawn else 1
    trainer, best = _trainer(folder, plan, progress, devices, machines, batches, where.type, few)
    first = trainer.is_global_zero
    with run_folder.claimed(folder, run, resume) if first else nullcontext():
        if run_folder.finished(folder):
            return _finished(folder, network)
        if first:
            (folder / run_folder.METRICS).unlink(missing_ok=True)
        if task.standardise if plan.standardise is None else plan.standardise:
            network.standardise_by(lessons.graphs("train").x)
        found = None
        if few:
            found = found_before(folder)
            found = found or try_folds(network, task, plan, seed, balance, progress and first)
            if first:
                keep(found, folder)
            trainer.fit_loop.max_epochs = found.epochs
        learner = Learner(network, task, plan, seed, lessons, weight)
        finished = _train(trainer, learner, run_folder.checkpoint(folder))
        if not first:
            trainer.strategy.barrier()  # until the folder is whole
            return _finished(folder, network)
        weights = run_folder.best_weights(folder, plan.keep)
        if weights is None:
            raise StoppedError(
                f"Interrupted before the first epoch ended: nothing was learned yet, {folder} holds no model."
            )
        network.load_state_dict(weights)
        check_finite(network, "After training")
        metrics = {
            "finished": finished,
            "epochs": trainer.current_epoch,
            "minutes": round((learner.seconds + time.time() - learner.started) / 60, 2),
            "val_nll": float(best.best_model_score) if best.best_model_score is not None else None,
            "threads": torch.get_num_threads(),
            "devices": devices,
            "machines": machines,
            "device": where.type,
            "labels": network.learned,
            **run,
        }
        if found is not None:
            metrics |= {"val_nll": found.nll, "cross_validation": asdict(found)}
            network.calibration = None
            temperature = temperature_for(network.eval(), task, found)
            network.calibration = replace(found.calibration(task), temperature=temperature)
        elif isinstance(task, OwnTask) and task.transductive and lessons is task:
            network.calibration = Calibration(_temperature(network, task.in_use("val")), task=task.name)
        save(network.eval(), folder, metrics)
        if finished:  # else no one waits
            trainer.strategy.barrier()
        return Fitted(network, folder, metrics)


def _named_features(task: Task, network: Model) -> list[str] | None:
    """How the features are called, where they have names and the model minds which is which."""
    if not isinstance(task, OwnTask) or network.any_features:
        return None
    names = list(task.feature_names)
    return None if names == [str(i) for i in range(len(names))] else names


def _temperature(network: Model, episode: Episode) -> float:
    """The temperature that makes a model's confidence honest on the labels it was validated by."""
    asked = episode.unlabelled_targets.nonzero().squeeze(1)
    said = network.predict(episode, nodes=asked)
    graph = episode.batch[asked]
    return fit_temperature([Pool(said.probabilities, episode.y[asked], graph, episode.share_shown[graph])])


def _name(recipe: object) -> str:
    if not isinstance(recipe, str):
        raise UserError(f"A recipe's name or a Recipe is expected, {recipe!r} was given; a folder is given as out=….")
    return recipe


def _configuration(model: str | ModelConfig | Model, task: Task, recipe: str | Recipe) -> ModelConfig:
    """The configuration of a model however it is given, complete with what it is trained on."""
    if isinstance(model, str):
        return configs.config(model, task, recipe.name if isinstance(recipe, Recipe) else recipe)
    if isinstance(model, Model):
        configuration = model.config
    elif isinstance(model, ModelConfig):
        configuration = replace(model)
    else:
        raise UserError(
            f"A preset's name, a configuration or a model is expected, {type(model).__name__} was given; "
            "let a network of your own inherit from mpnp.Network."
        )
    configuration.task = configuration.task or task.name
    configuration.class_names = configuration.class_names or list(task.class_names)
    return configuration


def _learning_on(wanted: ModelConfig, given: dict[str, Any]) -> Model:
    """The model of this kind that comes with the package, as it was made but for the fields that were ``given``."""
    begun = from_pretrained(wanted.kind)
    fields = {name: getattr(wanted, name) for name in ("task", *given) if hasattr(wanted, name)}
    network = configs.build(replace(begun.config, **fields))
    try:
        network.load_state_dict(begun.state_dict())
    except RuntimeError as error:  # its sizes are others
        raise UserError(
            f"Training goes on from the weights that come with the package, whose sizes {', '.join(given)} would change; leave "
            "that out, or train anew on prior/graphs."
        ) from error
    return network


def _try_out(network: Model, plan: Recipe, task: Task, seed: int, thoroughly: bool) -> None:
    """What can be wrong with data, options or a model of the user's own is found out before any folder is touched."""
    episode = next(iter(lessons_of(task, replace(plan, batch_graphs=1), seed, 0)))
    network.check(episode)
    if thoroughly:
        with torch.no_grad():
            objective(plan.objective, network, episode, plan.samples, target_labels=plan.target_labels)
            latent_health(network, episode)


def _train(trainer: L.Trainer, learner: Learner, checkpoint: Path | None) -> bool:
    """Train, from the ``checkpoint`` on if there is one; whether it came to its end."""
    first = trainer.is_global_zero
    with _fewer_warnings():
        try:
            trainer.fit(learner, ckpt_path=checkpoint, weights_only=True)
        except SystemExit:  # how Lightning ends after Ctrl-C, with the last epoch's checkpoint in place
            if not first:
                raise
            _leave(trainer)
            return False
        except RuntimeError as error:
            if trainer.world_size == 1 or "gloo" not in str(error):
                raise
            _leave(trainer)
            raise UserError(
                "One of the training processes was killed; continue from the last epoch by the same call or command and resume."
            ) from error
    return True


def _leave(trainer: L.Trainer) -> None:
    """End the processes that Lightning started, and forget them: it would kill this one, too, once it sees them gone."""
    started = getattr(trainer.strategy.launcher, "procs", [])
    for process in started:
        process.kill()
    started.clear()


@contextmanager
def _fewer_warnings() -> Iterator[None]:
    """Without Lightning's hints about loaders, logs and folders that are as they are meant to be."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*does not have many workers.*|.*sync_dist=True.*")
        warnings.filterwarnings(
            "ignore", message=".*isn't implemented.*|.*Sparse.*|.*`IterableDataset` has `__len__`.*"
        )
        warnings.filterwarnings(
            "ignore", message=".*exists and is not empty.*|.*smaller than the logging interval.*|.*LeafSpec.*"
        )
        yield


def _trainer(
    out: Path,
    plan: Recipe,
    progress: bool,
    devices: int,
    machines: int,
    batches: int = 1,
    device: str = "cpu",
    few: bool = False,
) -> tuple[L.Trainer, ModelCheckpoint]:
    """Lightning's trainer, whose weights change after so many ``batches``, and its checkpoint of the best epoch.

    With ``few`` labels all of them are learned from, for as long as folds of them said before: the last epoch is the best.
    """
    checkpoints = out / run_folder.CHECKPOINTS
    monitor, mode = ("epoch", "max") if few else ("val_nll", "min")
    best = run_folder.Kept(checkpoints, "best", monitor, mode=mode, enable_version_counter=False)
    # Not ``save_last``, which writes only when the best is written too.
    last = run_folder.Kept(checkpoints, "last", enable_version_counter=False)
    callbacks: list[Callback] = [run_folder.Log(out), best, last]
    if plan.average:
        callbacks.append(WeightAveraging(multi_avg_fn=get_ema_multi_avg_fn(plan.average)))
    if plan.patience is not None and not few:
        callbacks.append(EarlyStopping("val_nll", patience=plan.patience))
    if progress:
        callbacks.append(Progress())
    trainer = L.Trainer(
        accelerator=device,
        devices=devices,
        num_nodes=machines,
        strategy="auto"
        if devices * machines == 1
        else DDPStrategy(process_group_backend="gloo" if device == "cpu" else None),
        plugins=[run_folder.WholeFiles()],
        use_distributed_sampler=False,  # every process cuts its share out of the whole batch, and validates in full
        deterministic="warn",  # else threads add up gradients of gathered rows in any order
        max_epochs=plan.epochs,
        callbacks=callbacks,
        logger=False,  # run_folder.Log is ours
        accumulate_grad_batches=batches,
        gradient_clip_val=plan.clip,
        reload_dataloaders_every_n_epochs=1,
        enable_progress_bar=False,  # ours
        enable_model_summary=False,
        num_sanity_val_steps=0,
        limit_val_batches=0 if few else None,
    )
    return trainer, best


def _finished(folder: Path, network: Model) -> Fitted:
    """The run in ``folder``, which came to its end, with its weights in a model like ``network``."""
    model = from_pretrained(folder) if network.config.kind in configs.KINDS else type(network).from_pretrained(folder)
    return Fitted(model, folder, run_folder.read_json(folder / run_folder.METRICS))
