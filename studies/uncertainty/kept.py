"""What the measurements share: the models that 'mpnp reproduce --out results' has left in results/runs, and what is kept."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from mpnp.evaluation.provenance import fingerprint
from mpnp.files import without_nan, write_json
from mpnp.models import PREDICTORS, find_predictor
from mpnp.models.calibration import uncalibrated
from mpnp.prediction import Predictor
from mpnp.reproduce.plan import Job

HERE = Path(__file__).parents[2] / "results" / "uncertainty"


def folder(task: str, model: str) -> Path:
    return HERE.parent / "runs" / Job(task, model).name


def predictor(task: str, model: str) -> Predictor | None:
    """One that needs no training, or the model as it was trained, without a calibration; ``None`` if it was not trained."""
    if model in PREDICTORS:
        return PREDICTORS[model]()
    place = folder(task, model)
    return uncalibrated(find_predictor(str(place))[0]) if (place / "metrics.json").exists() else None


def kept(name: str, models: Iterable[tuple[str, str]], work: Callable[[], Any]) -> Any:
    """What was measured before with these ``models`` (task, name), else what can be measured now; nothing is kept of nothing."""
    path = HERE / f"{name}.json"
    if path.exists():
        stored = json.loads(path.read_text())
        used = {
            one["made"].get("training", {}).get("weights") for one in (stored if isinstance(stored, list) else [stored])
        }
        # Of a model that is not here, what was measured stands.
        if {fingerprint(folder(*model)) for model in models} - {None} <= used:
            return stored
        print(f"{name}: the models are others by now, so this is measured again")
    found = without_nan(work())
    if found:
        path.parent.mkdir(exist_ok=True)
        write_json(path, found)
    return found


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def percent(rate: float | str) -> str:
    return f"{100 * float(rate):g} %"
