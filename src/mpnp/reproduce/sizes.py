"""How large the paper's data sets are here, and of which only a part is at hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..files import replacing, write_json
from ..tasks import TASKS, get_task
from . import paper

QUANTITIES = ("graphs", "mean-nodes", "features", "classes")
ENOUGH = 0.9  # of the paper's graphs: with fewer at hand, a task is not the paper's


def kept(folder: Path, measure: bool) -> dict[str, Sequence[float]]:
    """The sizes kept with the results in ``folder``; with ``measure`` all data at hand is measured first, and kept."""
    path = folder / "sizes.json"
    try:
        found = dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):  # never measured
        found = {}
    if measure:
        found |= measured()
        with replacing(path) as temporary:
            write_json(temporary, found)
    return found


def measured() -> dict[str, tuple[float, ...]]:
    """Of every task in the paper's table of data sets whose data is here: QUANTITIES. Loads some of them."""
    result: dict[str, tuple[float, ...]] = {}
    for name in paper.table("datasets").rows:
        if name in TASKS and get_task(name).missing() is None:
            task = get_task(name)
            result[name] = (*task.size(), task.num_features, task.num_classes)
    return result


def in_part(sizes: Mapping[str, Sequence[float]]) -> list[str]:
    """Tasks of which clearly fewer graphs are at hand than the paper had, by the ``sizes`` kept with the results."""
    rows = paper.table("datasets").rows
    printed = {task: quantities["graphs"][0] for task, quantities in rows.items() if task in sizes}
    return [
        task for task, cell in printed.items() if cell and not cell.suspect and sizes[task][0] < ENOUGH * cell.value
    ]
