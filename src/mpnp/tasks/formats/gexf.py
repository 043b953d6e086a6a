"""GEXF, as Gephi writes it: one graph whose nodes and edges have attributes of declared types."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ...errors import UserError
from .markup import MalformedError, attribute, parse, same_direction, the_graph, value_of
from .own_graphs import Choices, OwnGraphs
from .records import Record, from_records

DIRECTIONS = ("directed", "undirected", "mutual")
Declared = dict[str, tuple[str, str, Any]]  # title, type and default by id


def read_gexf(path: Path, choices: Choices) -> OwnGraphs:
    """Attributes are features but for ``label`` and so on.

    The text that drawings put beside a node is called its label, too, and is one only if ``label_column`` says so.
    """
    notes: list[str] = []
    try:
        graph = the_graph(parse(path, "gexf"), path)
        if graph.get("mode") == "dynamic":
            raise MalformedError("the graph changes over time; export one moment of it")
        default = graph.get("defaultedgetype", "undirected")
        of_nodes, of_edges = _declared(graph, "node"), _declared(graph, "edge")
        nodes = [(attribute(node, "id"), _attributes(node, of_nodes)) for node in graph.findall("{*}nodes/{*}node")]
        if graph.find("{*}nodes/{*}node/{*}nodes") is not None:
            raise MalformedError("there are nodes within nodes; flatten them")
        written = {attribute(node, "id"): node.get("label") for node in graph.findall("{*}nodes/{*}node")}
        if choices.label_column == "label":
            nodes = [(key, {"label": None if written[key] == key else written[key], **found}) for key, found in nodes]
        elif any(written.values()):
            notes.append(
                "The texts beside nodes in drawings are ignored, unless you name 'label' as the column of labels."
            )
        edges = graph.findall("{*}edges/{*}edge")
        links = [(attribute(edge, "source"), attribute(edge, "target"), _of_edge(edge, of_edges)) for edge in edges]
        same_direction({_direction(edge, default) == "directed" for edge in edges}, default == "directed")
    except MalformedError as error:
        raise UserError(f"The file {path} is not valid GEXF ({error}); write it again.") from error
    return from_records([Record(nodes, links, default == "directed")], str(path), choices, notes=notes)


def _declared(graph: ElementTree.Element, owner: str) -> Declared:
    found: Declared = {}
    for group in graph.findall("{*}attributes"):
        if group.get("class") == owner:
            for each in group.findall("{*}attribute"):
                kind, default = each.get("type", "string"), each.find("{*}default")
                value = None if default is None else value_of(default.text, kind)
                found[attribute(each, "id")] = (each.get("title") or attribute(each, "id"), kind, value)
    return found


def _attributes(element: ElementTree.Element, declared: Declared) -> dict[str, Any]:
    found = {title: default for title, _, default in declared.values() if default is not None}
    for each in element.findall("{*}attvalues/{*}attvalue"):
        key = each.get("for") or attribute(each, "id")
        if key not in declared:
            raise MalformedError(f"the attribute '{key}' is not declared")
        title, kind, _ = declared[key]
        found[title] = value_of(each.get("value"), kind)
    return found


def _direction(edge: ElementTree.Element, default: str) -> str:
    """NetworkX writes an attribute of edges that is called 'type' in the place of their direction."""
    return edge.get("type", default) if edge.get("type") in DIRECTIONS else default


def _of_edge(edge: ElementTree.Element, declared: Declared) -> dict[str, Any]:
    found = _attributes(edge, declared)
    if edge.get("weight") is not None:
        found["weight"] = value_of(edge.get("weight"), "double")
    kind = edge.get("kind") or edge.get("type")
    if kind is not None and kind not in DIRECTIONS:
        found["type"] = kind
    return found
