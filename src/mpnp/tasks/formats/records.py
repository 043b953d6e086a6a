"""Nodes and edges that carry attributes, as NetworkX, JSON, GraphML and GEXF have them, to tables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import UserError
from .labels import text_of
from .own_graphs import Choices, OwnGraphs
from .tables import Table, from_tables

KEY, GRAPH = "(id)", "(graph)"  # columns of our own, which no attribute is called
LABELS = ("label", "class", "target", "y")
Attributes = Mapping[str, Any]


@dataclass
class Record:
    """One graph: nodes by key and edges by the keys of their ends, each with its attributes."""

    nodes: Sequence[tuple[Hashable, Attributes]]
    edges: Sequence[tuple[Hashable, Hashable, Attributes]]
    directed: bool = False


def from_records(
    records: Sequence[Record],
    where: str,
    choices: Choices,
    *,
    label: tuple[str, ...] = LABELS,
    notes: list[str] | None = None,
) -> OwnGraphs:
    """Graphs from records; attributes are columns, told by their names."""
    if len({record.directed for record in records}) > 1:
        raise UserError(f"In {where}: some graphs are directed and some are not; make them alike.")
    # Nodes of different graphs may be called alike.
    nodes = [(i, key, attributes) for i, record in enumerate(records) for key, attributes in record.nodes]
    edges = [(i, *edge) for i, record in enumerate(records) for edge in record.edges]
    names = [text_of(key) for _, key, _ in nodes]
    node_columns: dict[str, Sequence[Any]] = {KEY: [_Key((i, key)) for i, key, _ in nodes]}
    node_columns |= _columns([attributes for *_, attributes in nodes], ())
    if len(records) > 1:
        node_columns[GRAPH] = [i for i, *_ in nodes]
    edge_columns: dict[str, Sequence[Any]] = {
        "source": [_Key((i, source)) for i, source, _, _ in edges],
        "target": [_Key((i, target)) for i, _, target, _ in edges],
    }
    edge_columns |= _columns([attributes for *_, attributes in edges], ("source", "target"))
    return from_tables(
        Table(where, node_columns, lambda row: f"{where}, node '{names[row]}'"),
        Table(where, edge_columns, lambda row: f"{where}, edge {row + 1}"),
        choices,
        label=label,
        key=(KEY,),
        graph=(GRAPH,),
        directed=bool(records) and records[0].directed,
        names=names,
        notes=notes,
    )


class _Key(tuple[int, Hashable]):
    """A node of a graph, told by its own name in sentences."""

    __slots__ = ()

    def __str__(self) -> str:
        return text_of(self[1])


def _columns(rows: list[Attributes], taken: tuple[str, ...]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for attributes in rows for name in attributes)
    return {
        str(name): [attributes.get(name) for attributes in rows] for name in names if str(name).lower() not in taken
    }
