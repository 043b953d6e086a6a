"""TUDataset folders: ``NAME_A.txt`` and so on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ...errors import UserError
from ...graphs import UNLABELLED
from .arrays import position_names
from .columns import LARGEST
from .csv_files import check_width, read_rows
from .labels import number, numbered
from .own_graphs import Choices, Edges, OwnGraphs, cut, lacks_reverse


def read_tud(folder: Path, prefix: str, choices: Choices) -> OwnGraphs:
    """``prefix_A.txt`` and so on; ids of graphs and nodes count from 1, labels may be any text."""

    def table(kind: str, width: int | None, length: int | None = None) -> NDArray[np.float64]:
        file = folder / f"{prefix}_{kind}.txt"
        rows = [row for row in read_rows(file) if row[1]]
        for line, row in rows:
            check_width(file, line, row, width or len(rows[0][1]))
        if length not in (None, len(rows)):
            raise UserError(f"The file {file} has {len(rows)} rows, one per node ({length}) is expected.")
        return _numbers([row for _, row in rows], lambda row, col: f"{file}, line {rows[row][0]}, column {col + 1}")

    indicator = table("graph_indicator", 1)[:, 0]
    nodes = len(indicator)
    edges = table("A", 2).T
    lost = edges[(edges < 1) | (edges > nodes) | (edges % 1 != 0)]
    if len(lost):
        raise UserError(f"In {folder / prefix}_A.txt: an edge names node {lost[0]:g}, nodes are numbered 1 to {nodes}.")
    attributes = (folder / f"{prefix}_node_attributes.txt").exists()
    x = table("node_attributes", None, nodes) if attributes else np.ones((nodes, 0))
    y, classes = torch.full((nodes,), UNLABELLED), list(choices.class_names or [])
    notes: list[str] = []
    file = folder / f"{prefix}_node_labels.txt"
    if file.exists():
        rows = read_rows(file)
        while len(rows) > nodes and not rows[-1][1]:  # blank lines at the end of the file
            rows.pop()
        if len(rows) != nodes:
            raise UserError(f"The file {file} has {len(rows)} rows, one per node ({nodes}) is expected.")
        for line, row in rows:
            if row:
                check_width(file, line, row, 1)
        y, classes = numbered(
            [row[0] if row else "" for _, row in rows], choices.class_names, str(file), notes, choices.more_classes
        )
    unread = [kind for kind in ("edge_labels", "edge_attributes") if (folder / f"{prefix}_{kind}.txt").exists()]
    if unread:
        notes.append(f"Ignored: {', '.join(f'{prefix}_{kind}.txt' for kind in unread)}.")
    owner = np.unique(indicator, return_inverse=True)[1].reshape(-1)
    names = [str(n) for n in range(1, nodes + 1)]
    links = Edges(edges.astype(np.int64) - 1)
    if choices.directed is False:
        links = links.both_ways(nodes)
    graphs, graph_names = cut(f"{folder / prefix}_A.txt", x, y, links, owner, names)
    features = position_names(x.shape[1], choices, str(folder), notes)
    return OwnGraphs(
        graphs, graph_names, classes, features, directed=lacks_reverse(graphs), notes=notes, where=str(folder / prefix)
    )


def _numbers(cells: list[list[str]], where: Callable[[int, int], str]) -> NDArray[np.float64]:
    """Cells as finite numbers; ``where`` tells the place of a bad one (row, column)."""
    values = np.array([[number(cell) for cell in row] for row in cells], dtype=np.float64)
    bad = np.argwhere(~(np.abs(values) <= LARGEST))  # also true of NaN
    if len(bad):
        row, column = bad[0].tolist()
        raise UserError(
            f"In {where(row, column)}: '{cells[row][column]}' was given, a finite number is expected; "
            "fill in or drop such values."
        )
    return values
