"""A trained model as a folder: ``config.json``, ``model.safetensors``, ``metrics.json`` and, once calibrated,
``calibration.json``. Loading runs no code from it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from ..errors import UserError
from ..files import replacing, write_json
from .base import Model
from .calibration import FILE, Calibration
from .configs import KINDS

SHIPPED = ("universal",)  # models that come with the package


def save(model: Model, folder: Path, metrics: dict[str, Any]) -> None:
    """Write the model into ``folder``; every file appears whole, ``metrics.json`` last."""
    with replacing(folder / "metrics.json") as note:
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            try:
                model.save_pretrained(scratch)
            except SafetensorError as error:
                raise UserError(
                    f"Cannot write the model to {folder} ({error}); make room there, then --resume."
                ) from error
            (folder / FILE).unlink(missing_ok=True)  # made for other weights
            for name in ("README.md", "model.safetensors", "config.json"):
                os.replace(Path(scratch) / name, folder / name)
            if model.calibration is not None:
                os.replace(Path(scratch) / FILE, folder / FILE)
        write_json(note, metrics)


def check_finite(model: Model, where: str) -> None:
    """Raise a :class:`UserError` if a weight is no finite number: such a model answers nothing."""
    for name, value in model.state_dict().items():
        if not value.isfinite().all():
            raise UserError(f"{where}, {name} holds numbers that are not finite; train with a smaller learning_rate.")


def shipped(name: str) -> Path:
    """The folder of a model that comes with the package."""
    return Path(__file__).parent / "shipped" / name


def from_pretrained(folder: Path | str) -> Model:
    """The model in ``folder``, the one of that name that comes with the package, or, where there is neither, of that name on
    the Hugging Face hub."""
    path = shipped(str(folder)) if str(folder) in SHIPPED else Path(folder)
    if path.is_dir():
        missing = [name for name in ("config.json", "model.safetensors") if not (path / name).is_file()]
        if missing:
            raise UserError(
                f"{path} is not a trained model: {' and '.join(missing)} missing; train one with 'mpnp train'."
            )
        model = _loaded(path)
        check_finite(model, f"In {path}")
        model.calibration = Calibration.read(path / FILE)
        return model
    if path.exists():
        raise UserError(f"{path} is a file; the folder of a trained model is expected.")
    return _from_hub(str(folder))


def _loaded(path: Path) -> Model:
    note, weights = path / "config.json", path / "model.safetensors"
    try:
        kind = json.loads(note.read_text(encoding="utf-8"))["kind"]
        if isinstance(kind, str) and kind not in KINDS:
            raise UserError(f"kind '{kind}', perhaps a class of your own, which has a from_pretrained of its own")
        with contextlib.redirect_stdout(io.StringIO()):  # the hub's 'Loading weights …' is no part of our output
            return KINDS[kind].from_pretrained(path, strict=True)
    except (UserError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{note} is not a configuration of mpnp ({error}); train the model again.") from error
    except (SafetensorError, RuntimeError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(
            f"{weights} is damaged or does not fit its config.json ({reason}); copy it again or train the model again."
        ) from error


def _from_hub(name: str) -> Model:
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.errors import EntryNotFoundError

    not_found = f"There is no trained model at '{name}'; give the folder that 'mpnp train --out' wrote."
    if name.count("/") != 1 or name.startswith((".", "/")):
        raise UserError(not_found)
    try:
        if not isinstance(try_to_load_from_cache(name, "config.json"), str):
            # Fails at once where there is no network; the download would try again for half a minute.
            get_hf_file_metadata(hf_hub_url(name, "config.json"), timeout=10)
        kind = json.loads(Path(hf_hub_download(name, "config.json")).read_text(encoding="utf-8"))["kind"]
        model = KINDS[kind].from_pretrained(name, strict=True)
        check_finite(model, f"In {name}")
        with contextlib.suppress(EntryNotFoundError):  # never calibrated
            model.calibration = Calibration.read(Path(hf_hub_download(name, FILE)))
        return model
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{not_found} (The hub was asked too: {type(error).__name__}.)") from error
