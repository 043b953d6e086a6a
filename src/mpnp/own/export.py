"""Predictions as a file, one row per node in the user's own names: CSV, Parquet, JSON, or a graph as GraphML."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import compress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..errors import UserError
from ..files import replacing, without_nan
from ..graphs import UNLABELLED
from ..tasks.formats.cells import safe
from .named import OwnPrediction

ROWS = 10_000  # made into text at a time: memory stays bounded
NEEDS_QUOTES = re.compile(r'[,"\r\n]')


def write(path: Path, said: OwnPrediction) -> Path:
    """Write what is predicted for every node, never half of it, in the format of the ending."""
    check_ending(path)
    with replacing(path) as temporary:
        WRITERS[path.suffix.lower() or ".csv"](temporary, said)
    return path


def check_ending(path: Path) -> None:
    """A name without an ending, such as /dev/stdout, takes CSV."""
    if path.suffix.lower() not in (*WRITERS, ""):
        raise UserError(
            f"'{path}' was given for the predictions; a name that ends in {', '.join(WRITERS)} is expected."
        )


def _csv(path: Path, said: OwnPrediction) -> None:
    header = ["graph", "node", "given", "label", *(f"p_{name}" for name in said.class_names)]
    header += ["total", "aleatoric", "epistemic", *(["set"] if said.sets is not None else [])]
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(",".join(map(_cell, header)) + "\r\n")
        file.writelines(_lines(said))


def _cell(text: str) -> str:
    """A text that a spreadsheet takes for a text, in quotes where it needs them."""
    text = safe(text)
    return '"{}"'.format(text.replace('"', '""')) if NEEDS_QUOTES.search(text) else text


def _lines(said: OwnPrediction) -> Iterator[str]:
    """The line of every node; the text of a name, a class or a set of classes is made once, and numbers all at a time."""
    nodes, names = said.node_names, [_cell(name) for name in said.class_names]
    graph, y, every = said.graph, said._y, len(said.probabilities)
    given = {UNLABELLED: "", **dict(enumerate(names))}
    number, ending = ",%.6f" * (len(names) + 3), "%s\r\n" if said.sets is None else ",%s\r\n"
    line = "%d,%s,%s,%s" + number + ending
    joined = {b"": ""}

    def in_set(row: bytes) -> str:
        if row not in joined:
            joined[row] = _cell("|".join(compress(said.class_names, row)))
        return joined[row]

    for start in range(0, every, ROWS):
        part = torch.arange(start, min(start + ROWS, every))
        some, called = said.at(part), nodes[start : start + ROWS]
        doubt = torch.stack([some.total, some.aleatoric, some.epistemic], 1)
        cells = {name: _cell(name) for name in set(called)}
        columns = (
            graph[part].tolist(),
            called,
            y[part].tolist(),
            some.label.tolist(),
            torch.cat([some.probabilities, doubt], 1).tolist(),
            [b""] * len(part) if said.sets is None else _rows_of(said.sets[part]),
        )
        for which, node, told, label, values, inside in zip(*columns, strict=True):
            yield line % (which, cells[node], given[told], names[label], *values, in_set(inside))


def _rows_of(sets: Tensor) -> list[bytes]:
    """[N, C] bool as one text of bytes for every node."""
    whole, width = sets.numpy().tobytes(), sets.size(1)
    return [whole[start : start + width] for start in range(0, len(whole), width)]


def _parquet(path: Path, said: OwnPrediction) -> None:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise UserError("Writing Parquet needs pyarrow; install it with: pip install 'mpnp[tables]'.") from error
    parquet.write_table(arrow.table(dict(said.columns())), path)


def _json(path: Path, said: OwnPrediction) -> None:
    """A list of objects, one per node; a label that was not given is null, a set is a list."""
    columns = {name: _plain(values) for name, values in said.columns().items()}
    if said.set_names is not None:
        columns["set"] = said.set_names
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path.write_text(json.dumps(without_nan(rows), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _graphml(path: Path, said: OwnPrediction) -> None:
    """The graph itself, with what is predicted as attributes of its nodes."""
    from networkx import write_graphml_xml

    if len(said.own.graphs) > 1:
        raise UserError(
            f"GraphML holds one graph, {len(said.own.graphs)} were predicted; write .csv, .parquet or .json."
        )
    strange = next((name for name in (*said.node_names, *said.class_names) if _not_in_xml(name)), None)
    if strange is not None:
        raise UserError(f"The name {strange!r} cannot be written as GraphML; write .csv, .parquet or .json.")
    write_graphml_xml(said.to_networkx(), path)


def _not_in_xml(text: str) -> bool:
    return any(ord(c) < 32 and c not in "\t\n\r" for c in text)


def _plain(values: Any) -> list[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)


WRITERS: dict[str, Callable[[Path, OwnPrediction], None]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".json": _json,
    ".graphml": _graphml,
}
