"""``nodes.csv`` and ``edges.csv``."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Generator, Iterator
from itertools import islice
from pathlib import Path

from ...errors import UserError
from .cells import meant
from .labels import number
from .own_graphs import Choices, OwnGraphs
from .tables import Table, from_tables

Rows = list[tuple[int, list[str]]]
CHUNK = 4_096  # rows turned into columns at a time
BLOCK = 2**22  # characters read at a time
SPACE = re.compile(r"[^\S\n]")


def read_csv(folder: Path, choices: Choices) -> OwnGraphs:
    """Columns are told by their names, in small or capital letters; see docs/your-graphs.md."""
    nodes, edges = read_table(folder / "nodes.csv"), read_table(folder / "edges.csv")
    if all(math.isfinite(number(column)) for column in nodes.columns):
        raise UserError(
            f"The file {nodes.where} starts with numbers, a header is expected; add one such as id,label,size."
        )
    if not len(next(iter(nodes.columns.values()))):
        raise UserError(f"The file {nodes.where} has a header but no nodes; add a row per node.")
    if len(edges.columns) < 2:
        raise UserError(
            f"In {edges.where}: the header '{next(iter(edges.columns))}' was given, source,target is expected."
        )
    if edges.find("source") is None or edges.find("target") is None:
        names = set(nodes.columns[nodes.find("id", "node") or next(iter(nodes.columns))])
        if set(list(edges.columns)[:2]) <= names:
            raise UserError(
                f"The file {edges.where} starts with an edge, a header is expected; add the line source,target."
            )
    return from_tables(nodes, edges, choices)


def read_table(file: Path) -> Table:
    """A file as columns of stripped cells; blank lines are skipped."""
    rows = (row for row in _rows(file) if row[1])
    first = next(rows, None)
    if first is None:
        raise UserError(f"The file {file} is empty; fill or remove it.")
    header = first[1]
    if len(header) == 1 and re.search(r"[;\t]", header[0]):
        raise UserError(f"In {file}: the columns '{header[0]}' are not separated by commas; save it with commas.")
    lower = [name.lower() for name in header]
    if len(set(lower)) < len(lower):
        twice = next(name for name in lower if lower.count(name) > 1)
        raise UserError(f"In {file}: two columns are named '{twice}'; rename one.")
    seen: dict[str, str] = {}  # the same text once, however many edges name a node
    columns = _plain_columns(file, header, first[0], seen)
    if columns is not None:
        rows.close()
    else:
        columns = _columns(file, header, rows, seen)

    def place(row: int) -> str:
        line = next(islice((line for line, cells in _rows(file) if cells), row + 1, None))
        return f"{file}, line {line}"

    return Table(str(file), dict(zip(header, columns, strict=True)), place, typed=False)


def _columns(
    file: Path, header: list[str], rows: Iterator[tuple[int, list[str]]], seen: dict[str, str]
) -> list[list[str]]:
    """Row by row, in the few lines that say what is wrong with one."""
    columns: list[list[str]] = [[] for _ in header]
    while chunk := list(islice(rows, CHUNK)):
        for line, row in chunk:
            if len(row) != len(header):
                check_width(file, line, row, len(header))
        for i, column in enumerate(columns):
            cells = [row[i] for _, row in chunk]
            column.extend(map(seen.setdefault, cells, cells))
    return columns


def _plain_columns(file: Path, header: list[str], skip: int, seen: dict[str, str]) -> list[list[str]] | None:
    """The cells below the header of a file without quotes, whose rows are all whole: a tenth of the time.

    ``None`` where anything is out of the ordinary: then each row is looked at by itself.
    """
    width = len(header)
    columns: list[list[str]] = [[] for _ in header]
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            for _ in range(skip):
                stream.readline()
            while lines := stream.readlines(BLOCK):
                text = "".join(lines).replace("\r\n", "\n")
                if '"' in text or "\r" in text or "\0" in text or "\n\n" in text or text.startswith("\n"):
                    return None
                text = text.removesuffix("\n")
                if text.count(",") != len(lines) * (width - 1) or any(line.count(",") != width - 1 for line in lines):
                    return None
                cells = text.replace("\n", ",").split(",")
                if SPACE.search(text):
                    cells = [cell.strip() for cell in cells]
                if "'" in text:
                    cells = [meant(cell) for cell in cells]
                parts = [cells[i::width] for i in range(width)]
                if not all(parts[0]) and any(not any(row) for row in zip(*parts, strict=True)):
                    return None  # a row of empty cells is a blank line
                for column, part in zip(columns, parts, strict=True):
                    column.extend(map(seen.setdefault, part, part))
    except UnicodeDecodeError:
        return None
    return columns


def read_rows(file: Path) -> Rows:
    """Line number and stripped cells of every row; a blank line is an empty row."""
    rows = list(_rows(file))
    if not any(row for _, row in rows):
        raise UserError(f"The file {file} is empty; fill or remove it.")
    return rows


def check_width(file: Path, line: int, row: list[str], width: int) -> None:
    if len(row) != width:
        raise UserError(f"In {file}, line {line}: {len(row)} cells were given, {width} are expected.")


def _rows(file: Path) -> Generator[tuple[int, list[str]], None, None]:
    if not file.exists():
        raise UserError(f"The file {file} is missing; put it there.")
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream, strict=True)
            for row in reader:
                cells = [meant(cell.strip()) for cell in row]
                yield reader.line_num, cells if any(cells) else []
    except UnicodeDecodeError as error:
        raise UserError(f"The file {file} is not UTF-8 text; save it as such.") from error
    except csv.Error as error:
        raise UserError(f"The file {file} is not a table with commas ({error}); write it as such.") from error
