"""Results as files: one JSON per run under ``FOLDER/TASK/ROW-seedN.json``, with all it depends on."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..evaluation.tables import ScoreTable
from ..files import replacing, write_json
from .plan import TABLES, Job

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Record:
    """What one run gave: ``table`` is what :func:`mpnp.evaluate` returned, ``identity`` all that it depends on."""

    task: str
    row: str
    seed: int
    table: ScoreTable
    identity: dict[str, Any] | None = None

    @property
    def made(self) -> dict[str, Any]:
        """Where the figures come from (see ``provenance``); empty where that was not noted."""
        return dict(self.table.made or {})

    @property
    def training(self) -> dict[str, Any]:
        """How the model was trained; empty where there is nothing to train."""
        return dict(self.made.get("training") or {})

    @property
    def quick(self) -> bool:
        """Whether only some of the test graphs were scored."""
        return ((self.identity or {}).get("evaluation") or {}).get("graphs") is not None


def path_of(folder: Path, job: Job) -> Path:
    return folder / job.task / f"{job.row}-seed{job.seed}.json"


def write(folder: Path, job: Job, table: ScoreTable) -> None:
    with replacing(path_of(folder, job)) as temporary:
        write_json(temporary, {"row": job.row, "identity": job.identity(), **table.to_dict()})


def is_done(folder: Path, job: Job) -> bool:
    """Whether the job's result is there; an error where a result of other code or options stands in its place."""
    path = path_of(folder, job)
    if not path.exists():
        return False
    found, wanted = _read(path)[1], as_stored(job.identity())
    if found != wanted:
        raise UserError(f"{path} was made with {difference(found, wanted)}; choose another folder, or move it away.")
    return True


def read_all(folder: Path) -> list[Record]:
    """All results in ``folder`` of tasks and rows that are in a table, in the order of the tables; damaged ones are named and
    left out."""
    places = dict.fromkeys(
        (task, row) for blocks in TABLES.values() for block in blocks for task in block.tasks for row in block.rows
    )
    found = []
    for task, row in places:
        for path in sorted((folder / task).glob(f"{row}-seed*.json")):
            seed = path.stem.rpartition("-seed")[2]
            try:
                found.append(Record(task, row, int(seed) if seed.isdecimal() else 0, *_read(path)))
            except UserError as error:
                log.warning("Left out: %s", error)
    return found


def as_stored(content: object) -> Any:
    """``content`` as it comes back from a file: tuples as lists."""
    return json.loads(json.dumps(content))


def difference(found: Any, wanted: dict[str, Any]) -> str:
    """In words, in what two identities differ."""
    if not isinstance(found, dict):
        return "another version of mpnp"
    if found.get("version") != wanted["version"]:
        return f"version {found.get('version')} of the figures, not {wanted['version']}"
    return f"another {_words(_changed(found, wanted))}"


def _changed(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    names = []
    for key in {**wanted, **found}:
        old, new = found.get(key), wanted.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            names += [f"{key}.{name}" for name in _changed(old, new)]
        elif old != new:
            names.append(key)
    return names


def _words(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:4]) + (f" and {len(listed) - 4} more" if len(listed) > 4 else "")


def _read(path: Path) -> tuple[ScoreTable, Any]:
    """The table in a file, and the identity it was stored with."""
    content = read_json(path)
    try:
        table, identity = ScoreTable.from_dict(content), content.get("identity")
        evaluation = identity.get("evaluation") if isinstance(identity, dict) else identity
        training = (table.made or {}).get("training")
        if any(part is not None and not isinstance(part, dict) for part in (identity, evaluation, training)):
            raise TypeError("something else in place of fields by name")
        return table, identity
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path} is no result of 'mpnp reproduce'; move it away.") from error


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path} was not written by 'mpnp reproduce' ({error}); move it away.") from error
