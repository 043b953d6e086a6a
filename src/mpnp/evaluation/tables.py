"""Figures as typed tables: looked at by context rate, shown on a screen or in a notebook, and kept as JSON."""

from __future__ import annotations

import html
import json
import math
import types
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from ..errors import UserError
from ..files import replacing, without_nan, write_json


class Stored:
    """What a frozen dataclass of figures needs to be kept as JSON: its fields by name, NaN as null.

    A field whose default is ``None`` is left out while it is ``None``: it was not measured.
    """

    def to_dict(self) -> dict[str, Any]:
        """All of it in plain numbers, texts, lists and dictionaries."""
        values = [(f, getattr(self, f.name)) for f in fields(self)]  # type: ignore[arg-type]
        return {f.name: _plain(value) for f, value in values if not (value is None and f.default is None)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """From what :meth:`to_dict` gave; names that are not known here are left out."""
        if not isinstance(stored, Mapping):
            raise TypeError(f"{type(stored).__name__} in place of fields by name")
        kinds = get_type_hints(cls)
        here = [f for f in fields(cls) if f.name in stored or f.default is MISSING]  # type: ignore[arg-type]
        return cls(**{f.name: _typed(kinds[f.name], stored[f.name]) for f in here})

    def to_json(self) -> str:
        return json.dumps(without_nan(self.to_dict()))

    def write(self, path: Path) -> None:
        """As JSON, never half of it."""
        with replacing(path) as temporary:
            write_json(temporary, self.to_dict())

    @classmethod
    def read(cls, path: Path) -> Self:
        """What :meth:`write` wrote."""
        try:
            return cls.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else error
            raise UserError(f"{path} holds no {cls.__name__} ({reason}); move it away and measure again.") from error

    def cells(self) -> dict[str, Any]:
        """Its figures by name, one number each: a row of a data frame."""
        return self.to_dict()


class Shown(ABC):
    """A table that can be looked at: as text, in a notebook, as a data frame of pandas."""

    @property
    @abstractmethod
    def title(self) -> str: ...

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """A row each, the first of its columns saying which."""

    def to_pandas(self) -> Any:
        """A data frame, the first column its index; pandas has to be installed."""
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise UserError(
                "A table becomes a data frame by pandas, which is not installed; run: pip install 'mpnp[tables]'."
            ) from error
        rows = self.rows()
        return pandas.DataFrame(rows).set_index(next(iter(rows[0]))) if rows else pandas.DataFrame()

    def __repr__(self) -> str:
        head, lines = self._written()
        widths = [max(len(line[i]) for line in (head, *lines)) for i in range(len(head))]
        body = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in (head, *lines)
        ]
        return "\n".join([self.title, *body]).rstrip()

    def _repr_html_(self) -> str:
        head, lines = self._written()
        top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in line)}</tr>" for line in lines)
        caption = f"<caption>{html.escape(self.title)}</caption>"
        return f"<table>{caption}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"

    def _written(self) -> tuple[list[str], list[list[str]]]:
        """Head and lines; a figure and its spread share a column."""
        rows = self.rows()
        if not rows:
            return [], []
        names = list(dict.fromkeys(name for row in rows for name in row))
        names = [name for name in names if not (name.endswith("_std") and name.removesuffix("_std") in names)]
        lines = [[_figure(row.get(name), row.get(f"{name}_std")) for name in names[1:]] for row in rows]
        return names, [[f"{row[names[0]]}", *line] for row, line in zip(rows, lines, strict=True)]


R = TypeVar("R", bound=Stored)


class RateTable(Stored, Shown, Generic[R]):
    """A table with a row per context rate; ``rates`` has them under the rates as they were written."""

    rates: dict[str, R]

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        table = super().from_dict(stored)
        for written in table.rates:
            if not 0 <= float(written) <= 1:
                raise ValueError(f"{written} in place of a rate")
        return table

    def at(self, rate: float | str) -> R:
        """The row of a context rate."""
        with suppress(ValueError):  # a word is no rate either
            for there, row in self:
                if math.isclose(there, float(rate)):
                    return row
        raise UserError(f"Nothing was measured at a context rate of {rate}; there is {', '.join(self.rates)}.")

    def __iter__(self) -> Iterator[tuple[float, R]]:
        """Rate and row, one after the other."""
        return ((float(written), row) for written, row in self.rates.items())

    def rows(self) -> list[dict[str, Any]]:
        return [{"rate": rate, **row.cells()} for rate, row in self]


@dataclass(frozen=True)
class Scores(Stored):
    """What is counted of a predictor at one context rate: means over draws of the context, and their ``spread``.

    ``accuracy``, ``nll``, ``brier``, ``ece`` are taken on the unlabelled nodes, ``accuracy_paper`` on all targets. The others
    are ``None`` where a task does not count them; NaN is the score of no node at all. Where few graphs are cross-validated,
    ``low`` and ``high`` are the ends of a 95 % interval of the accuracy, counted on ``nodes`` labelled nodes.
    """

    accuracy: float
    nll: float
    brier: float
    ece: float
    accuracy_paper: float
    f1: float | None = None
    mcc: float | None = None
    f1_argmax: float | None = None
    mcc_argmax: float | None = None
    threshold: float | None = None
    miou: float | None = None
    miou_paper: float | None = None
    f1_macro: float | None = None
    auc: float | None = None
    nodes: int | None = None
    low: float | None = None
    high: float | None = None
    spread: Scores | None = None

    def to_dict(self) -> dict[str, Any]:
        """The mean of each score under its name, the spread under the same with '_std' behind it."""
        means = super().to_dict()
        return means | {f"{name}_std": value for name, value in means.pop("spread", {}).items()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        spread = {name.removesuffix("_std"): value for name, value in stored.items() if name.endswith("_std")}
        means = {name: value for name, value in stored.items() if not name.endswith("_std")}
        return super().from_dict(means | {"spread": spread or None})


@dataclass(frozen=True, repr=False)
class ScoreTable(RateTable[Scores]):
    """What :func:`mpnp.evaluate` measures: ``table.at(0.1).accuracy``, ``table.at(0.1).spread.accuracy``.

    ``data``: where the task's graphs come from; ``made``: code, machine, date and training (see ``provenance``).
    """

    task: str
    data: str
    model: str
    split: str
    draws: int
    seed: int
    rates: dict[str, Scores]
    made: dict[str, Any] | None = None

    @property
    def title(self) -> str:
        data = f" ({self.data})" if self.data == "stand-in" else ""
        if any(row.nodes for row in self.rates.values()):
            over = f"{self.draws} rounds" if self.draws > 1 else "one round"
            return (
                f"{self.model} on {self.task}{data}: labelled nodes, {over} of cross-validation, the other labels shown"
            )
        over = f"mean ± spread of {self.draws} context draws" if self.draws > 1 else "one context draw"
        return f"{self.model} on {self.task}{data}: unlabelled nodes of {self.split} graphs, {over}"


def _plain(value: Any) -> Any:
    if isinstance(value, Stored):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _typed(kind: Any, value: Any) -> Any:
    """``value`` as it comes out of JSON, as a field of this type."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return None if value is None and arguments[0] is not float else _typed(arguments[0], value)
    if kind is float:
        return math.nan if value is None else float(value)
    if kind in (int, str, bool) and type(value) is not kind:
        raise TypeError(f"{type(value).__name__} in place of {kind.__name__}")
    if is_dataclass(kind):
        return kind.from_dict(value)  # type: ignore[union-attr]
    if origin is dict:
        return {name: _typed(arguments[1], item) for name, item in value.items()}
    return tuple(_typed(arguments[0], item) for item in value) if origin is tuple else value


def _figure(value: Any, spread: Any = None) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.4f} ± {spread:.4f}" if spread else f"{value:.4f}"
