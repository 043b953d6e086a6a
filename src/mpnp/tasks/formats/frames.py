"""Tables in memory and in Parquet files: pandas' frames and Arrow's tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import UserError
from .own_graphs import MAX_NUMBERS, Choices, OwnGraphs
from .tables import Table, from_tables


def read_parquet(folder: Path, choices: Choices) -> OwnGraphs:
    """``nodes.parquet`` and ``edges.parquet``, with the columns of the CSV files."""
    return from_tables(_parquet(folder / "nodes.parquet"), _parquet(folder / "edges.parquet"), choices)


def from_frames(nodes: Any, edges: Any, choices: Choices) -> OwnGraphs:
    """Two pandas frames with the columns of the CSV files; without a column ``id`` the index names the nodes."""
    table, links = _frame(nodes, "the frame of nodes"), _frame(edges, "the frame of edges")
    if table.find("id", "node") is None:
        table.columns = {"id": nodes.index.tolist(), **table.columns}
    return from_tables(table, links, choices)


def is_frame(value: Any) -> bool:
    """Told without importing pandas, which few need."""
    return is_pandas(value) and hasattr(value, "columns")


def is_pandas(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "pandas"


def _frame(frame: Any, where: str) -> Table:
    columns: dict[str, Sequence[Any]] = {}
    for name in frame.columns:
        column = frame[name]
        if getattr(column, "ndim", 1) != 1:
            raise UserError(f"In {where}: two columns are named '{name}'; rename one.")
        kind = getattr(column.dtype, "kind", "O")
        columns[str(name)] = (
            column.to_numpy() if isinstance(column.dtype, np.dtype) and kind in "iufb" else column.tolist()
        )
    return Table(where, columns, lambda row: f"{where}, row {row}")


def _parquet(file: Path) -> Table:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise UserError(f"Reading {file} needs pyarrow; install it with: pip install 'mpnp[tables]'.") from error
    if not file.exists():
        raise UserError(f"The file {file} is missing; put it there.")
    try:
        opened = parquet.ParquetFile(file)
        cells = opened.metadata.num_rows * opened.metadata.num_columns
        if cells > MAX_NUMBERS:
            raise UserError(f"The file {file} holds {cells:,} cells, at most {MAX_NUMBERS:,} are read; divide it.")
        table = opened.read()
    except (arrow.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"The file {file} cannot be read as Parquet ({reason}); write it again.") from error
    columns: dict[str, Sequence[Any]] = {}
    for name in table.column_names:
        column = table.column(name)
        if arrow.types.is_integer(column.type) or arrow.types.is_floating(column.type):
            columns[name] = column.to_numpy()  # NaN where null
        else:
            columns[name] = column.to_pylist()
    if not columns:
        raise UserError(f"The file {file} has no columns; nodes need an id, edges source and target.")
    return Table(str(file), columns, lambda row: f"{file}, row {row}")
