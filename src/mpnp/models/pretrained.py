"""A trained model as a folder: ``config.json``, ``model.safetensors``, ``metrics.json`` and, once calibrated,
``calibration.json``. Loading runs no code from it."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_type_hints

from safetensors import SafetensorError

from ..errors import UserError
from ..files import replacing, write_json
from . import hub
from .base import FEATURES, Model
from .bounds import check_bounds, check_types
from .calibration import FILE, Calibration
from .card import card
from .configs import KINDS
from .hub import HUB

SHIPPED = ("universal",)  # models that come with the package


def save(model: Model, folder: Path, metrics: dict[str, Any]) -> None:
    """Write the model into ``folder``; every file appears whole, ``metrics.json`` last."""
    with replacing(folder / "metrics.json") as note:
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            try:
                model.save_pretrained(scratch)
                text = card(asdict(model.config), metrics, model.calibration)
                (Path(scratch) / "README.md").write_text(text, encoding="utf-8")
            except SafetensorError as error:
                raise UserError(
                    f"Cannot write the model to {folder} ({error}); make room there, then resume."
                ) from error
            for name in (FILE, FEATURES):  # made for other weights
                (folder / name).unlink(missing_ok=True)
            for name in ("README.md", "model.safetensors", "config.json"):
                os.replace(Path(scratch) / name, folder / name)
            for name in (FILE, FEATURES):
                if (Path(scratch) / name).exists():
                    os.replace(Path(scratch) / name, folder / name)
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
    """The model in ``folder``, the one of that name that comes with the package, or, as ``hf:user/name``, the one of that name
    on the Hugging Face hub."""
    if str(folder).startswith(HUB):
        return from_pretrained(hub.downloaded(str(folder).removeprefix(HUB)))
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
        model.feature_names = _feature_names(path / FEATURES, model)
        model.learned = _learned(path / "metrics.json")
        return model
    if path.exists():
        raise UserError(f"{path} is a file; the folder of a trained model is expected.")
    raise UserError(
        f"There is no trained model at '{folder}'; give the folder that 'mpnp train' wrote, or {HUB}user/name."
    )


def _loaded(path: Path) -> Model:
    note, weights = path / "config.json", path / "model.safetensors"
    try:
        fields = json.loads(note.read_text(encoding="utf-8"))
        kind = fields["kind"]
        check_bounds(fields)
        if isinstance(kind, str) and kind not in KINDS:
            raise UserError(f"kind '{kind}', perhaps a class of your own, which has a from_pretrained of its own")
        check_types(get_type_hints(KINDS[kind].__init__)["config"], fields)
        return KINDS[kind].from_pretrained(path)
    except (UserError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise UserError(f"{note} is not a configuration of mpnp ({reason}); train the model again.") from error
    except (SafetensorError, RuntimeError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(
            f"{weights} is damaged or does not fit its config.json ({reason}); copy it again or train the model again."
        ) from error


def _feature_names(file: Path, model: Model) -> list[str] | None:
    """The names that lie beside the weights; ``None`` where the model was trained before they were kept, or without any."""
    if not file.exists():
        return None
    try:
        names = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UserError(f"{file} is damaged; copy it again or train the model again.")
    if len(names) != model.config.num_features:
        raise UserError(
            f"{file} names {len(names)} features, but the model beside it has {model.config.num_features}; copy both again."
        )
    return names


def _learned(file: Path) -> str | None:
    """The fingerprint of a user's labels that the model was trained on; ``None`` where nothing readable is noted."""
    try:
        noted = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    found = noted.get("labels") if isinstance(noted, dict) else None
    return found if isinstance(found, str) else None
