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
    if Path(name).exists():
        from .own import OwnTask

        return OwnTask(Path(name), seed)
    if name.startswith((".", "/", "~")) or Path(name).suffix:
        raise UserError(f"There is no file or folder '{name}'; give the name of a task or the path of your graphs.")
    raise unknown_name("task", name, TASKS)


__all__ = ["SPLITS", "TASKS", "Split", "Task", "get_task"]
