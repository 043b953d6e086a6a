"""A user's graphs in place of a task: wherever a task is asked for, PyG graphs will do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch_geometric.data import Data

from ..errors import UserError
from ..graphs import GraphSet
from ..prediction import Predictor
from ..tasks.base import SPLITS, Split, Task


class GivenGraphs(Task):
    """PyG graphs as they are: nothing is held out, so every split holds them all."""

    name = "graphs"
    source = "given"
    context = (0.1, 0.5)
    extra = (0.1, 0.5)
    rates = (0.05, 0.1, 0.3)

    def __init__(self, graphs: Sequence[Data], num_classes: int | None = None) -> None:
        self.store = GraphSet.from_data_list(graphs)
        self.known_classes = num_classes or 1

    @property
    def num_features(self) -> int:
        return self.store.num_features

    @property
    def num_classes(self) -> int:
        return max(int(self.store.y.max()) + 1, self.known_classes)

    def load(self) -> dict[Split, GraphSet]:
        return dict.fromkeys(SPLITS, self.store)


def as_task(given: Task | Data | Sequence[Data], *predictors: Predictor) -> Task:
    """A task as it is, graphs as a task with all classes that the ``predictors`` know."""
    for predictor in predictors:
        check_predictor(predictor)
    if isinstance(given, Task):
        return given
    graphs = as_list(given)
    return GivenGraphs(graphs, max((known_classes(predictor) or 1 for predictor in predictors), default=1))


def as_list(given: Any) -> list[Data]:
    """One PyG graph or several, as a list."""
    listed = [given] if isinstance(given, Data) else given
    if not isinstance(listed, list | tuple) or not all(isinstance(graph, Data) for graph in listed):
        raise UserError(
            f"{_what(given)} was given, a PyG Data, a list of them or a task is expected; "
            "mpnp.get_task makes a task of a name or a file."
        )
    return list(listed)


def check_predictor(given: Any) -> None:
    if not (hasattr(given, "predict") and hasattr(given, "sees_own_label")):
        raise UserError(
            f"{_what(given)} was given, a predictor is expected; mpnp.from_pretrained loads a model's folder, "
            "mpnp.find_predictor makes one of a name."
        )


def known_classes(predictor: Predictor) -> int | None:
    """How many classes a trained model was made for; ``None`` where it was made for any, or for none in particular."""
    return getattr(getattr(predictor, "config", None), "num_classes", None) or None


def _what(given: Any) -> str:
    return f"'{given}'" if isinstance(given, str | Path) else f"A {type(given).__name__}"
