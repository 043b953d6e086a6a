"""What is run of the paper's tables and what is not: a printed row counts as run only with the same model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..models import MODELS, PREDICTORS
from . import paper, records
from .plan import TABLES, VARIANTS
from .records import Record

READINGS = ("default", "paper")  # how our same model was trained: by our recipe, or by the paper's


class Printed(NamedTuple):
    """A row of one of the paper's tables: a system on a task."""

    table: str
    task: str
    system: str


@dataclass(frozen=True)
class Share:
    """Of the printed rows of a table: how many were run with the same model by one reading of its recipe.

    ``stand_in``: how many of these on data that stand in for the paper's; ``missing``: task and system of the others;
    ``command``: what runs them, ``None`` where none is missing.
    """

    rows_run: int
    stand_in: int
    missing: tuple[tuple[str, str], ...] = ()
    command: str | None = None


@dataclass(frozen=True)
class TableStatus:
    """One table of the paper; ``rows_printed`` leaves out systems that the paper itself took from others."""

    table: str
    rows_printed: int
    readings: dict[str, Share]


@dataclass(frozen=True)
class Status:
    """All tables of a folder of results."""

    folder: str
    rows_printed: int
    rows_run: int
    tables: tuple[TableStatus, ...]
    from_others: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def to_text(self) -> str:
        lines = [f"{self.folder}: {self.rows_run} of {self.rows_printed} printed rows are run with the same model."]
        wide = max((len(table.table) for table in self.tables), default=0)
        lines.append(f"{'':{wide}}  printed  our recipe  paper's recipe")
        for table in self.tables:
            ours, theirs = (table.readings[reading] for reading in READINGS)
            note = f"  ({ours.stand_in} on stand-in data)" if ours.stand_in else ""
            lines.append(
                f"{table.table:{wide}}  {table.rows_printed:7}  {ours.rows_run:10}  {theirs.rows_run:14}{note}"
            )
        for reading in READINGS:
            commands = [share.command for table in self.tables if (share := table.readings[reading]).command]
            if commands:
                lines += ["", f"For the rest, by {'our' if reading == 'default' else 'the paper’s'} recipe:"]
                lines += [f"  {command}" for command in dict.fromkeys(commands)]
        if self.from_others:
            lines += ["", f"Not counted, because the paper took them from others: {', '.join(self.from_others)}."]
        return "\n".join(lines)


def status(folder: Path, tables: Sequence[str] = ()) -> Status:
    """What of the paper's tables is in ``folder`` and the folder beside it; ``tables``: only these tables of the plan."""
    tasks = {task for name in tables or TABLES for block in TABLES[name] for task in block.tasks}
    rows = [row for row in printed() if row.task in tasks]
    ours = [row for row in rows if row.system in MODELS or row.system in PREDICTORS]
    beside = paper_folder(folder)
    every_record = [*records.read_all(folder), *(records.read_all(beside) if beside.is_dir() else ())]
    found = {reading: run_rows(every_record, reading) for reading in READINGS}
    every = []
    for name in dict.fromkeys(row.table for row in ours):
        mine = [row for row in ours if row.table == name]
        shares = {reading: _share(mine, found[reading], reading, folder) for reading in READINGS}
        every.append(TableStatus(name, len(mine), shares))
    return Status(
        folder=str(folder),
        rows_printed=len(ours),
        rows_run=sum(any((row.task, row.system) in found[reading] for reading in READINGS) for row in ours),
        tables=tuple(every),
        from_others=tuple(dict.fromkeys(row.system for row in rows if row not in ours)),
    )


def paper_folder(folder: Path) -> Path:
    """Where runs by the paper's recipe are told to go: beside ours, because both have the same names."""
    named = folder if folder.name else folder.absolute()  # '.' has no name of its own
    return named.parent / f"{named.name}-paper"


def printed() -> list[Printed]:
    """Every row of the paper's tables of results."""
    return [
        Printed(table.name, task, system)
        for table in paper.tables().values()
        if table.rates
        for task, systems in table.rows.items()
        for system in systems
    ]


def run_rows(found: Iterable[Record], reading: str) -> dict[tuple[str, str], bool]:
    """Task and model of every run by this ``reading``, and whether its data are a stand-in; what trains nothing is in both."""
    rows: dict[tuple[str, str], bool] = {}
    for record in found:
        variant = VARIANTS.get(record.row)
        if variant is not None and variant.stands_for is None:
            continue  # an ablation is another model
        model = variant.stands_for if variant is not None and variant.stands_for else record.row
        if model in PREDICTORS or _recipe(record) == reading:
            rows[record.task, model] = record.table.data == "stand-in"
    return rows


def _recipe(record: Record) -> str | None:
    return ((record.identity or {}).get("recipe") or {}).get("name")


def _share(rows: Sequence[Printed], found: dict[tuple[str, str], bool], reading: str, folder: Path) -> Share:
    run = [row for row in rows if (row.task, row.system) in found]
    missing = [row for row in rows if row not in run]
    return Share(
        rows_run=len(run),
        stand_in=sum(found[row.task, row.system] for row in run),
        missing=tuple((row.task, row.system) for row in missing),
        command=_command(missing, reading, folder),
    )


def _command(missing: Sequence[Printed], reading: str, folder: Path) -> str | None:
    """What runs the ``missing`` rows; where a table's are not all missing, others that are there stay as they are."""
    if not missing:
        return None
    tasks, systems = (
        dict.fromkeys(values) for values in zip(*((row.task, row.system) for row in missing), strict=True)
    )
    table = next(name for name, blocks in TABLES.items() for block in blocks if missing[0].task in block.tasks)
    place = f"--out {folder}" if reading == "default" else f"--budget paper --out {paper_folder(folder)}"
    return f"mpnp reproduce {table} --tasks {' '.join(tasks)} --models {' '.join(systems)} {place}"
