"""The paper's figures as data: every table, looked up by task, predictor and context rate.

The figures are in ``paper.yaml`` beside this file, with what is doubtful among them and why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import isclose
from typing import Any, NamedTuple

import yaml

from ..errors import UserError, unknown_name


@dataclass(frozen=True)
class Cell:
    """A printed figure, its ± where there is one, and why it cannot be as printed where that is so."""

    value: float
    spread: float | None = None
    suspect: str | None = None


Row = tuple[Cell | None, ...]


class Entry(NamedTuple):
    """A cell and where it stands; ``rate`` is ``None`` in tables of sizes."""

    task: str
    row: str
    rate: float | None
    cell: Cell


@dataclass(frozen=True)
class Table:
    """One metric of one group of tasks.

    ``rows`` maps a task, then a predictor, to a cell per context rate of ``rates``, ``None`` where the paper has none.
    What was printed once for all rates is repeated. Tables of sizes have no ``rates``: quantities take the place of
    predictors and have one cell each. ``labels``: the paper's own names. In all metrics more is better.
    """

    name: str
    title: str
    where: str
    metric: str
    unit: str
    rates: tuple[float, ...]
    rows: Mapping[str, Mapping[str, Row]]
    labels: Mapping[str, str]

    def cells(self) -> Iterator[Entry]:
        """All cells that are filled."""
        for task, rows in self.rows.items():
            for row, cells in rows.items():
                for rate, cell in zip(self.rates or (None,), cells, strict=True):
                    if cell is not None:
                        yield Entry(task, row, rate, cell)

    def cell(self, task: str, row: str, rate: float | None = None) -> Cell | None:
        """The cell of a predictor at a context rate, or of a quantity."""
        rows = self._task(task)
        if row not in rows:
            raise unknown_name(f"row of {task} in the paper", row, rows)
        return rows[row][self._column(rate)]

    def best(self, task: str, rate: float) -> tuple[str, Cell]:
        """The predictor with the highest figure, suspect or not; of equal ones the first."""
        if not self.rates:
            raise UserError(
                f"The paper's table '{self.name}' holds sizes, of which none is best; take a table of results."
            )
        column = self._column(rate)
        filled = [(row, cell) for row, cells in self._task(task).items() if (cell := cells[column]) is not None]
        return max(filled, key=lambda entry: entry[1].value)

    def _task(self, task: str) -> Mapping[str, Row]:
        if task not in self.rows:
            raise unknown_name(f"task in the paper's table '{self.name}'", task, self.rows)
        return self.rows[task]

    def _column(self, rate: float | None) -> int:
        if rate is None and not self.rates:
            return 0
        for column, known in enumerate(self.rates):
            if rate is not None and isclose(rate, known):
                return column
        given = "No context rate" if rate is None else f"The context rate {rate:g}"
        rates = ", ".join(f"{known:g}" for known in self.rates)
        expected = f"has results at {rates}; choose one of them" if rates else "has no context rates; give none"
        raise UserError(f"{given} was given, but the paper's table '{self.name}' {expected}.")


def tables() -> dict[str, Table]:
    """All tables by name, results first."""
    return dict(_load()[0])


def table(name: str) -> Table:
    """The table ``name``."""
    known = _load()[0]
    if name not in known:
        raise unknown_name("table of the paper", name, known)
    return known[name]


def results(task: str, metric: str | None = None) -> Table:
    """The table with the results on ``task``; of several metrics the one given, else the first: accuracy."""
    found = [t for t in _load()[0].values() if t.rates and task in t.rows]
    if not found:
        known = {name: None for t in _load()[0].values() if t.rates for name in t.rows}
        raise unknown_name("task with results in the paper", task, known)
    if metric is None:
        return found[0]
    by_metric = {t.metric: t for t in found}
    if metric not in by_metric:
        raise unknown_name(f"metric of {task} in the paper", metric, by_metric)
    return by_metric[metric]


def cell(task: str, predictor: str, rate: float, metric: str | None = None) -> Cell | None:
    """What the paper printed for ``predictor`` on ``task`` at a context rate."""
    return results(task, metric).cell(task, predictor, rate)


def best(task: str, rate: float, metric: str | None = None) -> tuple[str, Cell]:
    """The paper's best system on ``task`` at a context rate, suspect figures included."""
    return results(task, metric).best(task, rate)


def suspects() -> list[tuple[Table, Entry]]:
    """All cells that cannot be as printed."""
    return [(t, entry) for t in _load()[0].values() for entry in t.cells() if entry.cell.suspect]


def not_tasks() -> dict[str, str]:
    """Names among the tasks of the tables that the library has no task for, and what they stand for."""
    return dict(_load()[1])


@cache
def _load() -> tuple[Mapping[str, Table], Mapping[str, str]]:
    stored = yaml.safe_load(resources.files(__package__).joinpath("paper.yaml").read_text(encoding="utf-8"))
    return {name: _table(name, entry) for name, entry in stored["tables"].items()}, stored["not_tasks"]


def _table(name: str, stored: dict[str, Any]) -> Table:
    rates = tuple(float(rate) for rate in stored["rates"])
    reasons = {
        (mark["task"], mark["row"], rate): str(mark["reason"])
        for mark in stored.get("suspect", ())
        for rate in mark.get("at") or rates or (None,)
    }

    def row(task: str, key: str, figures: Any) -> Row:
        columns = rates or (None,)
        each = figures if isinstance(figures, list) else [figures] * len(columns)
        return tuple(_cell(f, reasons.pop((task, key, rate), None)) for rate, f in zip(columns, each, strict=True))

    rows = {
        task: {key: row(task, key, figures) for key, figures in of_task.items()}
        for task, of_task in stored["rows"].items()
    }
    if reasons:
        raise ValueError(f"paper.yaml, {name}: there are no such cells to suspect: {list(reasons)}")
    return Table(
        name=name,
        title=stored["title"],
        where=stored["where"],
        metric=stored["metric"],
        unit=stored["unit"],
        rates=rates,
        rows=rows,
        labels=stored.get("labels", {}),
    )


def _cell(figure: float | str | None, suspect: str | None) -> Cell | None:
    """A figure as the file has it: 79.23, '88.14 ± 0.82', or nothing."""
    if figure is None:
        return None
    value, _, spread = str(figure).partition("±")
    return Cell(float(value), float(spread) if spread else None, suspect)
