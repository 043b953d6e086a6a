"""``mpnp tasks``."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from jsonargparse import ArgumentParser, Namespace

from .. import __version__
from ..errors import UserError
from ..files import cache_folder, data_root, replacing, write_json

HELP = "every task: graphs, nodes, features, classes, data present or how to get it"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(options: Namespace) -> None:
    found = rows()
    if options.json:
        print(json.dumps({"tasks": found}))
        return
    print(f"{'task':<27}{'graphs':>10}{'nodes':>8}{'features':>10}{'classes':>9}  data")
    for row in found:
        sizes = [_size(row[key]) for key in ("graphs", "nodes", "features", "classes")]
        print(f"{row['task']:<27}{sizes[0]:>10}{sizes[1]:>8}{sizes[2]:>10}{sizes[3]:>9}  {row['data']}")


def rows() -> list[dict[str, Any]]:
    """What :func:`mpnp.tasks.describe` says; from the cache, without torch, while neither code nor data have changed."""
    note, now = cache_folder() / "tasks.json", _state()
    with suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(note.read_text(encoding="utf-8"))
        if kept["state"] == now:
            return list(kept["tasks"])

    from ..tasks import describe

    found = describe()
    with suppress(OSError, UserError), replacing(note) as temporary:  # a cache that cannot be written is none
        write_json(temporary, {"state": _state(), "tasks": found})
    return found


def _state() -> list[list[Any]]:
    """All that the table depends on: the code of the tasks, and which files of data lie where."""
    code = sorted((Path(__file__).parents[1] / "tasks").rglob("*.py"))
    data = [path for root in {data_root(), cache_folder() / "data"} for path in _below(root, 3)]
    return [[__version__, str(data_root())], *([str(path), path.stat().st_mtime_ns] for path in (*code, *sorted(data)))]


def _below(folder: Path, depth: int) -> list[Path]:
    if depth == 0 or not folder.is_dir():
        return []
    inside = list(folder.iterdir())
    return [*inside, *(path for part in inside for path in _below(part, depth - 1))]


def _size(number: object) -> str:
    return "?" if number is None else f"{number:,}" if number else "any"
