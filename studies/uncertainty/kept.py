"""What the measurements share: the models that 'mpnp reproduce --out results' has left in results/runs, and what is kept."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from mpnp.active import ReplayTable
from mpnp.evaluation.borders import BorderTable
from mpnp.evaluation.provenance import fingerprint
from mpnp.evaluation.reliability import CalibrationTable
from mpnp.evaluation.shift import ShiftTable
from mpnp.files import replacing, write_json
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


T = TypeVar("T", BorderTable, CalibrationTable, ReplayTable, ShiftTable)


def kept(kind: type[T], name: str, models: Iterable[tuple[str, str]], work: Callable[[], Iterable[T]]) -> list[T]:
    """What was measured before with these ``models`` (task, name), else what can be measured now; nothing is kept of nothing."""
    path = HERE / f"{name}.json"
    if path.exists():
        stored = json.loads(path.read_text(encoding="utf-8"))
        tables = [kind.from_dict(one) for one in (stored if isinstance(stored, list) else [stored])]
        used = {(one.made or {}).get("training", {}).get("weights") for one in tables}
        # Of a model that is not here, what was measured stands.
        if {fingerprint(folder(*model)) for model in models} - {None} <= used:
            return tables
        print(f"{name}: the models are others by now, so this is measured again")
    found = list(work())
    if found:
        content = [one.to_dict() for one in found]
        with replacing(path) as temporary:
            write_json(temporary, content if len(content) > 1 else content[0])
    return found


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def percent(rate: float | str) -> str:
    return f"{100 * float(rate):g} %"
