"""Node-link JSON, as NetworkX and D3 have it."""

from __future__ import annotations

import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any

from ...errors import UserError
from .own_graphs import Choices, OwnGraphs
from .records import Record, from_records

EXAMPLE = '{"nodes": [{"id": "a"}, …], "links": [{"source": "a", "target": "b"}, …]}'


def read_json(path: Path, choices: Choices) -> OwnGraphs:
    """An object with ``nodes`` and ``links`` (or ``edges``), or a list of such; attributes are columns."""
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UserError(f"The file {path} is not valid JSON ({str(error)[:100]}); write it again.") from error
    graphs = content if isinstance(content, list) else [content]
    if not graphs:
        raise UserError(f"The file {path} holds an empty list; give at least one graph.")
    where = [str(path) if len(graphs) == 1 else f"graph {i} of {path}" for i in range(len(graphs))]
    return from_records([_record(graph, place) for graph, place in zip(graphs, where, strict=True)], str(path), choices)


def _record(graph: Any, where: str) -> Record:
    links = "links" if isinstance(graph, dict) and "links" in graph else "edges"
    if (
        not isinstance(graph, dict)
        or not isinstance(graph.get("nodes"), list)
        or not isinstance(graph.get(links), list)
    ):
        raise UserError(f"In {where}: lists of nodes and links are expected, as in {EXAMPLE}.")
    nodes = [(_key(node, "id", where), _others(node, ("id",))) for node in graph["nodes"]]
    ends = ("source", "target")
    edges = [(*(_key(edge, end, where) for end in ends), _others(edge, (*ends, "key"))) for edge in graph[links]]
    return Record(nodes, edges, bool(graph.get("directed", False)))  # type: ignore[arg-type]


def _key(element: Any, name: str, where: str) -> Hashable:
    value = element.get(name) if isinstance(element, dict) else None
    if not isinstance(value, str | int | float):
        raise UserError(f"In {where}: {str(element)[:60]} has no {name}; nodes and links as in {EXAMPLE} are expected.")
    return value


def _others(element: dict[str, Any], taken: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in element.items() if name not in taken}
