"""GraphML: one graph whose nodes and edges have attributes of declared types."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from ...errors import UserError
from .markup import MalformedError, attribute, parse, same_direction, the_graph, value_of
from .own_graphs import Choices, OwnGraphs
from .records import Record, from_records


class Key(NamedTuple):
    """A declared attribute of nodes, edges or both; ``name`` is ``None`` for drawings that editors add."""

    name: str | None
    kind: str
    owner: str
    default: Any


def read_graphml(path: Path, choices: Choices) -> OwnGraphs:
    """Attributes are features but for ``label``, else ``y``, ``class``, ``target``; defaults are filled in."""
    notes: list[str] = []
    try:
        root = parse(path, "graphml")
        graph = the_graph(root, path)
        keys = {attribute(key, "id"): _key(key) for key in root.findall("{*}key")}
        directed = graph.get("edgedefault") == "directed"
        nodes = [(attribute(n, "id"), _attributes(n, keys, "node", notes)) for n in graph.findall("{*}node")]
        edges = graph.findall("{*}edge")
        links = [
            (attribute(edge, "source"), attribute(edge, "target"), _attributes(edge, keys, "edge", notes))
            for edge in edges
        ]
        given = {edge.get("directed") for edge in edges} - {None}
        same_direction({value in ("true", "1") for value in given}, directed)
        if graph.find("{*}hyperedge") is not None:
            raise MalformedError("there is a <hyperedge>; join its nodes by edges")
    except MalformedError as error:
        raise UserError(f"The file {path} is not valid GraphML ({error}); write it again.") from error
    inner = graph.find("{*}node/{*}graph//{*}node")
    if inner is not None:
        raise UserError(f"In {path}: the node '{inner.get('id')}' belongs to a graph within the graph; flatten it.")
    labels = ("label", "y", "class", "target")
    return from_records(
        [Record(nodes, links, directed)], str(path), choices, label=labels, notes=list(dict.fromkeys(notes))
    )


def _key(element: ElementTree.Element) -> Key:
    kind, default = element.get("attr.type", "string"), element.find("{*}default")
    value = None if default is None else value_of(default.text, kind)
    return Key(element.get("attr.name"), kind, element.get("for", "all"), value)


def _attributes(element: ElementTree.Element, keys: dict[str, Key], owner: str, notes: list[str]) -> dict[str, Any]:
    mine = [key for key in keys.values() if key.owner in (owner, "all") and key.name is not None]
    found = {str(key.name): key.default for key in mine if key.default is not None}
    for data in element.findall("{*}data"):
        key = keys.get(attribute(data, "key"))
        if key is None:
            raise MalformedError(f"the key '{data.get('key')}' is not declared")
        if key.name is None:
            notes.append("What an editor wrote about the drawing is ignored.")
            continue
        found[key.name] = value_of(data.text, key.kind)
    return found
