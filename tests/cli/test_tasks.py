"""``mpnp tasks``: what there is, from the code once and then from the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from mpnp import tasks
from mpnp.tasks.cellular_automata import CellularAutomaton

from .commands import Run, strict


@pytest.fixture(autouse=True)
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPNP_CACHE", str(tmp_path / "cache"))


def test_tasks(prints: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {f"ca/{family}": partial(CellularAutomaton, family, graphs_total=20) for family in ("small-world", "voronoi")}
    monkeypatch.setattr(tasks, "TASKS", few)
    rows = strict(prints("tasks", "--json"))["tasks"]
    assert [row["task"] for row in rows] == ["ca/small-world", "ca/voronoi"]
    for row in rows:
        assert (row["graphs"], row["nodes"], row["features"], row["classes"], row["present"]) == (20, 150, 2, 2, True)
    table = prints("tasks").splitlines()
    assert len(table) == 3 and table[0].split() == ["task", "graphs", "nodes", "features", "classes", "data"]


def test_tasks_with_missing_data_are_listed_with_how_to_get_it(prints: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "TASKS", {"ca/small-world": partial(CellularAutomaton, "small-world")})
    monkeypatch.setattr(CellularAutomaton, "missing", lambda self: "Buy a ticket.")
    (row,) = strict(prints("tasks", "--json"))["tasks"]
    assert (row["present"], row["graphs"], row["nodes"], row["data"]) == (False, 2700, 150, "Buy a ticket.")
    assert prints("tasks").endswith("Buy a ticket.\n")


def test_the_second_time_needs_no_torch(tmp_path: Path) -> None:
    program = "import sys; from mpnp.cli import main; main(['tasks']); print('torch' in sys.modules)"
    ends = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        ends.append(done.stdout.splitlines())
    assert ends[0][:-1] == ends[1][:-1]
    assert (ends[0][-1], ends[1][-1]) == ("True", "False")


def test_data_that_comes_is_seen(prints: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def present() -> bool:
        return {row["task"]: row["present"] for row in strict(prints("tasks", "--json"))["tasks"]}["node/texas"]

    monkeypatch.setenv("MPNP_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "nodes").mkdir(parents=True)
    assert not present()
    (tmp_path / "data" / "nodes" / "texas.npz").write_bytes(b"")
    assert present()


def test_a_damaged_or_unwritable_cache_is_none(prints: Run, tmp_path: Path) -> None:
    whole = prints("tasks")
    note = Path(os.environ["MPNP_CACHE"]) / "tasks.json"
    for text in ("", "[]", "{}", '{"state": 1}'):
        note.write_text(text)
        assert prints("tasks") == whole
    note.unlink()
    note.mkdir()
    assert prints("tasks") == whole
