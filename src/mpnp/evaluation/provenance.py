"""Where a figure comes from: code, machine, date, and how the model was trained."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import platform
from pathlib import Path
from typing import Any

import torch

from ..models.calibration import FILE, Calibration


def provenance(model_folder: Path | None = None) -> dict[str, Any]:
    """Version, date and machine; for a model folder also its epochs, minutes, seed, recipe, and a fingerprint of its weights."""
    from .. import __version__

    made: dict[str, Any] = {
        "version": __version__,
        "torch": torch.__version__,
        "date": datetime.date.today().isoformat(),
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        "threads": torch.get_num_threads(),
    }
    if model_folder is None:
        return made
    try:
        training = json.loads((model_folder / "metrics.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # not a model folder, or a damaged note: the figure stands all the same
        training = None
    if isinstance(training, dict):
        made["training"] = {key: training[key] for key in ("epochs", "minutes", "seed", "threads") if key in training}
        made["training"]["recipe"] = training.get("recipe", {}).get("name")
        made["training"]["weights"] = fingerprint(model_folder)
    if (calibration := Calibration.read(model_folder / FILE)) is not None:
        made["temperature"] = calibration.temperature
    return made


def fingerprint(model_folder: Path) -> str | None:
    """The same for the same weights, and for no others; ``None`` where there are none."""
    weights = model_folder / "model.safetensors"
    return hashlib.sha256(weights.read_bytes()).hexdigest()[:16] if weights.is_file() else None


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
