"""Tasks by name: sources of episodes."""

from __future__ import annotations

from pathlib import Path

from ..errors import UserError, unknown_name
from .base import SPLITS, Split, Task
from .cellular_automata import FAMILIES, CellularAutomaton

TASKS = {f"ca/{family}": family for family in FAMILIES}


def get_task(name: str, seed: int = 0) -> Task:
    """The task ``name``, or a user's own graphs where ``name`` is a path."""
    if name in TASKS:
        return CellularAutomaton(TASKS[name], seed)
    path = Path(name.removeprefix("own:"))  # as a trained model names what it was trained on
    if path.exists():
        from .own import OwnTask

        return OwnTask(path, seed)
    if name.startswith(("own:", ".", "/", "~")) or path.suffix:
        raise UserError(f"There is no file or folder '{path}'; give the name of a task or the path of your graphs.")
    raise unknown_name("task", name, TASKS)


def describe() -> list[dict[str, object]]:
    """Every task by name: graphs, mean nodes, features, classes, and whether its data is present or how to get it."""
    rows: list[dict[str, object]] = []
    for name in TASKS:
        task = get_task(name)
        missing = task.missing()
        row: dict[str, object] = {"task": name, "graphs": None, "nodes": None}
        row |= {"features": task.num_features, "classes": task.num_classes, "present": missing is None}
        if missing is None:
            splits = task.splits.values()
            row["graphs"] = sum(len(graphs) for graphs in splits)
            row["nodes"] = round(sum(graphs.num_nodes for graphs in splits) / sum(len(graphs) for graphs in splits), 1)
        rows.append(row | {"data": missing or task.source})
    return rows


__all__ = ["SPLITS", "TASKS", "Split", "Task", "describe", "get_task"]
