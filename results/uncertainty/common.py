"""What the measurements share: the models that 'mpnp reproduce --out results' has left in results/runs, and what is kept."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mpnp.calibration import uncalibrated
from mpnp.files import without_nan, write_json
from mpnp.models import PREDICTORS, find_predictor
from mpnp.prediction import Predictor
from mpnp.reproduce.plan import Job

HERE = Path(__file__).parent


def folder(task: str, model: str) -> Path:
    return HERE.parent / "runs" / Job(task, model).name


def predictor(task: str, model: str) -> Predictor | None:
    """One that needs no training, or the model as it was trained, without a calibration; ``None`` if it was not trained."""
    if model in PREDICTORS:
        return PREDICTORS[model]()
    place = folder(task, model)
    return uncalibrated(find_predictor(str(place))[0]) if (place / "metrics.json").exists() else None


def kept(name: str, work: Callable[[], Any]) -> Any:
    """What was measured before, else what can be measured now; nothing is kept of nothing."""
    path = HERE / f"{name}.json"
    if path.exists():
        return json.loads(path.read_text())
    found = without_nan(work())
    if found:
        path.parent.mkdir(exist_ok=True)
        write_json(path, found)
    return found


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def percent(rate: float | str) -> str:
    return f"{100 * float(rate):g} %"
