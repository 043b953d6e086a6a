"""A user's graphs in place of a task: wherever a task is asked for, graphs in any container will do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import UserError
from ..graphs import GraphSet
from ..prediction import Predictor
from ..tasks import get_task
from ..tasks.base import SPLITS, Split, Task
from ..tasks.own import OwnGraphs, OwnTask, as_graphs


class GivenGraphs(Task):
    """Graphs as they are: nothing is held out, so every split holds them all."""

    name = "graphs"
    source = "given"
    metrics = ("classes",)
    context = (0.1, 0.5)
    extra = (0.1, 0.5)
    rates = (0.05, 0.1, 0.3)

    def __init__(self, own: OwnGraphs, num_classes: int | None = None) -> None:
        self.own, self.store = own, GraphSet.from_data_list(own.graphs)
        self.known_classes = num_classes or 1

    @property
    def num_features(self) -> int:
        return self.store.num_features

    @property
    def num_classes(self) -> int:
        return max(int(self.store.y.max()) + 1, self.known_classes)

    def load(self) -> dict[Split, GraphSet]:
        return dict.fromkeys(SPLITS, self.store)


def as_task(given: Any, *predictors: Predictor) -> Task:
    """A task as it is or by name, graphs in any container (:func:`mpnp.as_graphs`) as a task with all classes that the
    ``predictors`` know."""
    for predictor in predictors:
        check_predictor(predictor)
    reading = next((known for each in predictors if (known := reading_of(each))), {})
    if isinstance(given, Task | str | Path):
        task = get_task(given)
        return task.read_as(**reading) if isinstance(task, OwnTask) and reading else task
    own = as_graphs(given, **reading)
    return GivenGraphs(own, max((known_classes(predictor) or 1 for predictor in predictors), default=1))


def check_predictor(given: Any) -> None:
    if not (hasattr(given, "predict") and hasattr(given, "sees_own_label")):
        raise UserError(
            f"{_what(given)} was given, a predictor is expected; mpnp.from_pretrained loads a model's folder, "
            "mpnp.find_predictor makes one of a name."
        )


def known_classes(predictor: Predictor) -> int | None:
    """How many classes a trained model was made for; ``None`` where it was made for any, or for none in particular."""
    return getattr(getattr(predictor, "config", None), "num_classes", None) or None


def reading_of(predictor: Predictor) -> dict[str, Any]:
    """How graphs are read for a model: its classes and its features by name, in its order; nothing for any other predictor."""
    names = list(getattr(getattr(predictor, "config", None), "class_names", []))
    features = getattr(predictor, "feature_names", None)
    reading: dict[str, Any] = {"class_names": names} if names else {}
    if names and getattr(predictor, "any_classes", False):
        reading["more_classes"] = True
    return reading | ({"feature_names": list(features)} if features else {})


def _what(given: Any) -> str:
    return f"'{given}'" if isinstance(given, str | Path) else f"A {type(given).__name__}"
