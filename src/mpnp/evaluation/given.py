"""A user's graphs in place of a task: wherever a task is asked for, graphs in any container will do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..defaults import READY
from ..errors import UserError
from ..graphs import GraphSet
from ..models import find_predictor, from_pretrained
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
    if isinstance(given, Task | str | Path):
        task = get_task(given)
        return task.read_as(**reading_of(*predictors)) if isinstance(task, OwnTask) else task
    own = as_graphs(given, **reading_of(*predictors))
    return GivenGraphs(own, max((known_classes(predictor) or 1 for predictor in predictors), default=1))


def as_predictor(given: Any) -> Predictor:
    """A predictor as it is, or by its name or its folder."""
    predictor = find_predictor(str(given))[0] if isinstance(given, str | Path) else given
    check_predictor(predictor)
    return predictor


def asked(predictor: Any, graphs: Any) -> tuple[Predictor, Any]:
    """``(graphs)`` or ``(predictor, graphs)``: who is asked about what; graphs alone are asked of the model that needs no training."""
    if graphs is not None:
        return as_predictor(predictor), graphs
    if hasattr(predictor, "sees_own_label"):
        raise UserError(f"'{predictor.name}' was given alone; say which graphs or task it is asked about, after it.")
    return from_pretrained(READY), predictor


def check_predictor(given: Any) -> None:
    if not (hasattr(given, "predict") and hasattr(given, "sees_own_label")):
        raise UserError(
            f"{_what(given)} was given, a predictor is expected: its name, the folder of a trained model, or what "
            "mpnp.from_pretrained returns."
        )


def known_classes(predictor: Predictor) -> int | None:
    """How many classes a trained model was made for; ``None`` where it was made for any, or for none in particular."""
    return getattr(getattr(predictor, "config", None), "num_classes", None) or None


def reading_of(*predictors: Predictor) -> dict[str, Any]:
    """How graphs are read for a model: its classes and its features by name, in its order; nothing for any other predictor.

    Several models have to agree on the names that they have.
    """
    wanted = [_reading_of(each) for each in predictors]
    for key, what in (("class_names", "classes"), ("feature_names", "features")):
        if len({tuple(one[key]) for one in wanted if key in one}) > 1:
            raise UserError(f"The models were trained on different {what}; ask them one by one.")
    reading = {name: value for one in wanted for name, value in one.items()}
    if not all(one.get("more_classes") for one in wanted if "class_names" in one):
        reading.pop("more_classes", None)
    return reading


def _reading_of(predictor: Predictor) -> dict[str, Any]:
    names = list(getattr(getattr(predictor, "config", None), "class_names", []))
    features = getattr(predictor, "feature_names", None)
    reading: dict[str, Any] = {"class_names": names} if names else {}
    if names and getattr(predictor, "any_classes", False):
        reading["more_classes"] = True
    return reading | ({"feature_names": list(features)} if features else {})


def _what(given: Any) -> str:
    return f"'{given}'" if isinstance(given, str | Path) else f"A {type(given).__name__}"
