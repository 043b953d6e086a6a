"""Tasks, by name or from a user's own graphs: sources of episodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import UserError, unknown_name
from . import cora, shapenet
from .base import SPLITS, Split, Task
from .cellular_automata import FAMILIES, CellularAutomaton
from .nodes import GRAPHS, NodeTask
from .own import OwnGraphs, OwnTask, as_graphs
from .ppisp import PpispTask
from .prior.task import PriorTask
from .tud import DATASETS, TudTask

TASKS: dict[str, Callable[[], Task]] = {
    **{f"ca/{family}": partial(CellularAutomaton, family) for family in FAMILIES},
    **{f"tud/{key}": partial(TudTask, key) for key in DATASETS},
    "ppisp": PpispTask,
    **{name: partial(shapenet.shapenet_task, name) for name in shapenet.NAMES},
    **{name: partial(cora.Cora, name) for name in cora.NAMES},
    **{f"node/{key}": partial(NodeTask, key) for key in GRAPHS},
    PriorTask.name: PriorTask,
}


def get_task(name: Any, **reading: Any) -> Task:
    """The task ``name``, or a user's own graphs: a path, or anything else that :func:`mpnp.as_graphs` takes.

    ``reading``: how own graphs are read, as ``label_column="team"``; see :func:`mpnp.as_graphs`.
    """
    if isinstance(name, Task):
        return name
    if not isinstance(name, str):
        return OwnTask(name, reading=reading)
    if name in TASKS:
        return TASKS[name]()
    path = Path(name.removeprefix("own:"))  # as a trained model names what it was trained on
    if path.exists():
        return OwnTask(path, reading=reading)
    if name.startswith(("own:", ".", "/", "~")) or path.suffix:
        raise UserError(f"There is no file or folder '{path}'; give the name of a task or the path of your graphs.")
    raise unknown_name("task", name, TASKS)


def describe() -> list[dict[str, object]]:
    """Every task by name: graphs, mean nodes, features, classes, and whether its data is present or how to get it.

    Sizes are those that are published, so that no data is read to count it.
    """
    rows: list[dict[str, object]] = []
    for name in TASKS:
        task = get_task(name)
        missing = task.missing()
        graphs, nodes = task.scale()
        rows.append(
            {
                "task": name,
                "graphs": graphs,
                "nodes": nodes,
                "features": task.num_features,
                "classes": task.num_classes,
                "present": missing is None,
                "data": missing or task.source,
            }
        )
    return rows


__all__ = ["SPLITS", "TASKS", "OwnGraphs", "Split", "Task", "as_graphs", "describe", "get_task"]
