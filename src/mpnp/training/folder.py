"""The folder of a training run: who may write there, what it was started as, and the checkpoints it goes on from."""

from __future__ import annotations

import csv
import hashlib
import json
import logging
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import lightning as L
import torch
from filelock import FileLock, Timeout
from lightning.fabric.plugins.io.torch_io import TorchCheckpointIO
from lightning.pytorch.callbacks import Checkpoint, ModelCheckpoint

from ..errors import UserError
from ..files import replacing, write_json
from ..tasks.base import Task

log = logging.getLogger(__name__)

NOTE, METRICS, LOCK = "run.json", "metrics.json", ".lock"
DATA = "data"  # under which a run notes what its graphs were
CHECKPOINTS = "checkpoints"
PARTS = ("state_dict", "epoch", "loops", "callbacks", "optimizer_states", "lr_schedulers")
WAIT = 2.0  # seconds for another to be gone: a process whose parent was killed ends a moment after it
BEFORE = ".before"  # what the name of the checkpoint before the last one ends in


@contextmanager
def claimed(folder: Path, run: dict[str, Any], resume: bool) -> Iterator[None]:
    """The folder is this run's alone within the block; an error if it is another's."""
    _check(folder, run, resume)  # before anything is touched
    lock = FileLock(folder / LOCK, timeout=WAIT)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise UserError(f"Another training is at work in {folder}; wait for it, or choose another folder.") from error
    except OSError as error:
        raise UserError(f"Cannot write to {folder}: {error.strerror or error}; choose another place.") from error
    try:
        _check(folder, run, resume)  # now that no one else changes it
        if not (folder / NOTE).exists():
            with replacing(folder / NOTE) as temporary:
                write_json(temporary, run)
        yield
    finally:
        lock.release()


def _check(folder: Path, run: dict[str, Any], resume: bool) -> None:
    """Raise a :class:`UserError` unless the folder is new, empty, or holds this very run, which is to go on."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; a folder is expected.")
    if (folder / NOTE).exists():
        if not resume:
            raise UserError(
                f"{folder} already holds a training run; choose another folder, or continue it (--resume, in Python resume=True)."
            )
        earlier, now = read_json(folder / NOTE), json.loads(json.dumps(run))
        changed = [key for key in now if earlier.get(key) != now[key] and (key != DATA or DATA in earlier)]
        if changed == [DATA]:
            raise UserError(
                f"The graphs of {now['task']} have changed since the run in {folder} was started; choose another --out, or "
                "bring back the graphs it was started with."
            )
        if changed:
            raise UserError(f"{folder} was started with another {', '.join(changed)}; resume with the same options.")
    elif folder.exists() and {path.name for path in folder.iterdir()} - {LOCK}:
        raise UserError(f"{folder} is not empty and holds no training run; choose another folder.")


def fingerprint(*tasks: Task) -> str | None:
    """The same for the same training and validation graphs, and for no others; ``None`` where they are made up as they go."""
    found = hashlib.sha256()
    for task in {id(task): task for task in tasks}.values():
        if task.drawn:
            continue
        for split in ("train", "val"):
            graphs = task.graphs(split)
            parts = (graphs.x, graphs.y, graphs.edge_index, graphs.ptr, graphs.edge_type, graphs.edge_weight)
            for part in (*parts, *graphs.extra.values()):
                found.update(b"none" if part is None else f"{part.dtype} {list(part.shape)}".encode())
                found.update(b"" if part is None else part.numpy().tobytes())
    return None if all(task.drawn for task in tasks) else found.hexdigest()[:16]


def finished(folder: Path) -> bool:
    """Whether the run in the folder came to its end."""
    metrics = folder / METRICS
    return metrics.exists() and bool(read_json(metrics).get("finished"))


def checkpoint(folder: Path) -> Path | None:
    """The checkpoint to go on from: the last one that is whole."""
    last = folder / CHECKPOINTS / "last.ckpt"
    earlier = before(last)
    if last.exists():
        try:
            load(last)
            return last
        except UserError:
            if not earlier.exists():
                raise
            log.warning("%s is damaged; training goes on from the epoch before.", last)
    if earlier.exists():
        load(earlier)
        return earlier
    return None


def best_weights(folder: Path, keep: str = "best") -> dict[str, torch.Tensor] | None:
    """The weights of the best epoch, or of the ``last``; ``None`` before the first one ended."""
    path = folder / CHECKPOINTS / f"{keep}.ckpt"
    if not path.exists():
        return None
    state = load(path)["state_dict"]
    return {name.removeprefix("model."): value for name, value in state.items() if name.startswith("model.")}


def load(path: Path) -> dict[str, Any]:
    """A checkpoint; whatever is wrong with it is a :class:`UserError`."""
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()  # torch itself takes weights with flipped bits for weights
        content = torch.load(path, weights_only=True)
        if damaged or not set(PARTS) <= set(content):
            raise ValueError(damaged)
    except Exception as error:  # pickle, zip and torch have dozens for a damaged file
        raise UserError(f"{path} is damaged; delete it, or the whole folder, and train again.") from error
    return content


def before(path: Path) -> Path:
    return path.with_name(f"{path.stem}{BEFORE}{path.suffix}")


def read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path} is damaged; delete the folder and train again.") from error
    if not isinstance(content, dict):
        raise UserError(f"{path} is damaged; delete the folder and train again.")
    return content


class Log(Checkpoint):
    """``log/metrics.csv``, a row per epoch: kept in the checkpoints, so that it tells of no epoch that they do not.

    A log that is only appended to has an epoch twice, or not at all, when the run is killed between row and checkpoint. As
    a :class:`Checkpoint` it comes after the learner, which knows the loss, and before the checkpoints that are listed after it.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / "log" / "metrics.csv"
        self.rows: list[dict[str, float]] = []

    def on_train_start(self, trainer: L.Trainer, learner: L.LightningModule) -> None:
        self._write(trainer)

    def on_train_epoch_end(self, trainer: L.Trainer, learner: L.LightningModule) -> None:
        scores = {name: float(value) for name, value in sorted(trainer.callback_metrics.items())}
        self.rows.append({"epoch": trainer.current_epoch, "step": trainer.global_step, **scores})
        self._write(trainer)

    def state_dict(self) -> dict[str, Any]:
        return {"rows": self.rows}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.rows = state_dict["rows"]

    def _write(self, trainer: L.Trainer) -> None:
        if not trainer.is_global_zero or not self.rows:
            return
        with replacing(self.file) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, list(self.rows[0]))
            table.writeheader()
            table.writerows(self.rows)


class WholeFiles(TorchCheckpointIO):
    """A checkpoint appears whole under its name or not at all, and the one before it stays beside it.

    Lightning's own goes through the temporary folder, and where that is another disk, what it leaves after a crash or on a
    full disk is half a file.
    """

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        path, content = Path(path), BytesIO()
        torch.save(checkpoint, content)  # not into the file: on a full disk torch hides what the file system says
        with replacing(path) as temporary:
            with temporary.open("wb") as file:
                file.write(content.getbuffer())
                file.flush()
                os.fsync(file.fileno())
            if path.exists() and path.stem == "last":
                os.replace(path, before(path))


class Kept(ModelCheckpoint):
    """A checkpoint that knows its folder by where it lies now, not by where it lay when the run was started.

    Lightning's forgets the best score when the path has changed, and takes the next epoch for the best.
    """

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        def here(path: str) -> str:
            return str(Path(str(self.dirpath)) / Path(path).name) if path else path

        paths = ("best_model_path", "kth_best_model_path", "last_model_path")
        moved = {name: here(state_dict[name]) for name in paths if name in state_dict}
        models = {here(path): score for path, score in state_dict.get("best_k_models", {}).items()}
        super().load_state_dict({**state_dict, **moved, "best_k_models": models, "dirpath": self.dirpath})
