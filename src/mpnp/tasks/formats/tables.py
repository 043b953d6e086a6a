"""Two tables, one of nodes and one of edges, to graphs: what all formats with named columns have in common."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...errors import UserError
from ...graphs import UNLABELLED
from .columns import encode, read_column
from .labels import in_order, is_missing, number, numbered, text_of
from .own_graphs import NO_LABELS, Choices, Edges, Floats, Ints, OwnGraphs, cut, lacks_reverse

MAX_EDGE_TYPES = 1_000


@dataclass
class Table:
    """Columns by name, each with a value per row.

    ``where``: the table, as sentences name it; ``place``: a row of it. ``typed``: values mean what they are; otherwise
    they are cells of text, whose meaning is found out.
    """

    where: str
    columns: dict[str, Sequence[Any]]
    place: Callable[[int], str]
    typed: bool = True

    def find(self, *names: str) -> str | None:
        """The column that has the first of ``names``, in small or capital letters."""
        lower = {column.lower(): column for column in self.columns}
        return next((lower[name] for name in names if name in lower), None)


def from_tables(
    nodes: Table,
    edges: Table,
    choices: Choices,
    *,
    label: tuple[str, ...] = ("label", "class", "target"),
    key: tuple[str, ...] = ("id", "node"),
    graph: tuple[str, ...] = ("graph",),
    directed: bool = False,
    names: list[str] | None = None,
    notes: list[str] | None = None,
) -> OwnGraphs:
    """Graphs from a table of ``nodes`` (names, labels, graphs, features) and one of ``edges`` (ends, weights, types).

    ``label``, ``key``, ``graph``: how the columns of labels, of the nodes' names and of their graphs may be called;
    ``directed``: what the source says of its edges; ``names``: what nodes are called, where that is not their key.
    """
    notes = [] if notes is None else notes
    key_column = nodes.find(*key) or next(iter(nodes.columns))
    label_column, graph_column = _label_column(nodes, choices, label), nodes.find(*graph)
    if key_column in (label_column, graph_column):
        raise UserError(f"In {nodes.where}: no column names the nodes; add one called 'id'.")
    index = _index(nodes, key_column)
    special = {key_column, label_column, graph_column}
    ignored = {name.lower() for name in choices.ignore}
    columns = []
    for name, values in nodes.columns.items():
        if name in special:
            continue
        if name.lower() in ignored:
            notes.append(f"Column '{name}' is ignored as asked.")
            continue
        column = read_column(name, values, nodes.typed, nodes.place)
        if column is None:
            notes.append(f"Column '{name}' holds no value and is ignored.")
        else:
            columns.append(column)
    features = encode(columns, len(index), choices.feature_names, nodes.where, notes)
    if label_column is None:
        y, classes = torch.full((len(index),), UNLABELLED), list(choices.class_names or [])
        notes.append(NO_LABELS)
    else:
        if label_column.lower() != "label":
            notes.append(f"Column '{label_column}' holds the labels.")
        y, classes = numbered(
            nodes.columns[label_column], choices.class_names, nodes.where, notes, choices.more_classes
        )
    links = _edges(edges, index, nodes.where, notes)
    repeated = links.ends.shape[1] - links.merged(len(index)).ends.shape[1]
    if repeated:
        how = "merged" if links.weight is None else "merged, their weights added up"
        notes.append(f"{repeated} repeated edge{'s' * (repeated > 1)} {'were' if repeated > 1 else 'was'} {how}.")
    one_way = directed if choices.directed is None else choices.directed
    if not one_way:
        links = links.both_ways(len(index))
    names = [text_of(name) for name in index] if names is None else names
    owner = _owner(nodes, graph_column, len(index))
    graphs, node_names = cut(edges.where, features.x, y, links, owner, names)
    return OwnGraphs(
        graphs,
        node_names,
        classes,
        features.names,
        features.kinds,
        links.kind_names,
        one_way and lacks_reverse(graphs),
        notes,
        nodes.where,
    )


def _label_column(nodes: Table, choices: Choices, names: tuple[str, ...]) -> str | None:
    if choices.label_column is None:
        return nodes.find(*names)
    found = nodes.find(choices.label_column.lower())
    if found is None:
        raise UserError(
            f"In {nodes.where}: there is no column '{choices.label_column}' of labels; the columns are "
            f"{', '.join(nodes.columns)}."
        )
    return found


def _index(nodes: Table, key: str) -> dict[Hashable, int]:
    index: dict[Hashable, int] = {}
    for row, name in enumerate(_names(nodes, key)):
        # A node may well be called 'NA'; only nothing at all is no name.
        if name == "" or (not isinstance(name, str) and is_missing(name)):
            raise UserError(f"In {nodes.place(row)}: the node has no name; give it one in column '{key}'.")
        if name in index:
            raise UserError(f"In {nodes.place(row)}: a second node is named '{text_of(name)}'; names must differ.")
        index[name] = row
    if not index:
        raise UserError(f"In {nodes.where}: there are no nodes; at least one is expected.")
    return index


def _names(table: Table, column: str) -> Sequence[Hashable]:
    """A column of names, which may be anything that can be looked up."""
    values = table.columns[column]
    rows = enumerate(values) if table.typed else ()  # cells of text always can
    row = next((row for row, value in rows if not isinstance(value, Hashable)), None)
    if row is not None:
        raise UserError(
            f"In {table.place(row)}: a {type(values[row]).__name__} was given as the name of a node, a text or a number is "
            f"expected in column '{column}'."
        )
    return values


def _owner(nodes: Table, column: str | None, count: int) -> Ints:
    """The graph of each node, numbered as they come."""
    if column is None:
        return np.zeros(count, dtype=np.int64)
    number_of: dict[str, int] = {}
    texts = [text_of(value) for value in nodes.columns[column]]
    owner = np.array([number_of.setdefault(text, len(number_of)) for text in texts], dtype=np.int64)
    if len(number_of) > 1 and "" in number_of:
        row = texts.index("")
        raise UserError(f"In {nodes.place(row)}: the node's graph is missing; fill in the column '{column}'.")
    return owner


def _edges(table: Table, index: dict[Hashable, int], nodes: str, notes: list[str]) -> Edges:
    source, target = table.find("source"), table.find("target")
    if len(table.columns) < 2:
        raise UserError(f"In {table.where}: there are fewer than two columns, source and target are expected.")
    if source is None or target is None:
        source, target = list(table.columns)[:2]
    ends = np.empty((2, len(table.columns[source])), dtype=np.int64)
    for side, column in enumerate((source, target)):
        numbers: list[Any] = list(map(index.get, _names(table, column)))
        if None in numbers:
            row = numbers.index(None)
            name = text_of(table.columns[column][row])
            raise UserError(
                f"In {table.place(row)}: node '{name}' is not in {Path(nodes).name}; add it or drop the edge."
            )
        ends[side] = numbers
    weight, kind = table.find("weight", "edge_weight"), table.find("type", "edge_type")
    rest = [column for column in table.columns if column not in (source, target, weight, kind)]
    if rest:
        notes.append(f"Ignored of the edges: {', '.join(rest)}; 'weight' and 'type' are read.")
    links = Edges(ends, None if weight is None else _weights(table, weight))
    if kind is not None:
        _add_types(links, table, kind, notes)
    return links


def _weights(table: Table, column: str) -> Floats:
    values = table.columns[column]
    weights = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            weight = number(value) if isinstance(value, str) else np.nan if is_missing(value) else float(value)
        except (TypeError, ValueError, OverflowError):
            weight = np.nan
        if not 0 <= weight <= np.finfo(np.float32).max:
            raise UserError(
                f"In {table.place(row)}: the weight '{text_of(value)}' was given, a finite number that is not negative is "
                "expected; change it or drop the edge."
            )
        weights[row] = weight
    return weights


def _add_types(links: Edges, table: Table, column: str, notes: list[str]) -> None:
    values = table.columns[column]
    gap = next((row for row, value in enumerate(values) if text_of(value) == ""), None)
    if gap is not None:
        raise UserError(f"In {table.place(gap)}: the edge has no {column}; give one to every edge or to none.")
    kinds = in_order({text_of(value) for value in values})
    if len(kinds) > MAX_EDGE_TYPES:
        raise UserError(
            f"In {table.where}: {len(kinds):,} types of edges were given, at most {MAX_EDGE_TYPES:,} are expected; drop "
            f"the column '{column}' or write weights into a column 'weight'."
        )
    if len(kinds) < 2:
        notes.append("All edges are of the same type, which is ignored.")
        return
    number_of = {text: i for i, text in enumerate(kinds)}
    links.kind = np.array([number_of[text_of(value)] for value in values], dtype=np.int64)
    links.kind_names = kinds
