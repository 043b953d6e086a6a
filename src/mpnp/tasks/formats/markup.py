"""What the XML formats share: reading without surprises, and values of declared types."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ...errors import UserError
from .labels import is_missing, number

WHOLE, REAL = ("int", "integer", "long", "short", "byte"), ("float", "double", "decimal")


class MalformedError(Exception):
    """What is wrong with a file, for the sentence that names it."""


def parse(path: Path, root_name: str) -> ElementTree.Element:
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, ValueError, LookupError) as error:  # the last two: of an encoding
        raise MalformedError(str(error)) from error
    if root.tag.rpartition("}")[2] != root_name:
        raise MalformedError(f"it starts with <{root.tag.rpartition('}')[2]}>, <{root_name}> is expected")
    return root


def the_graph(root: ElementTree.Element, path: Path) -> ElementTree.Element:
    graphs = root.findall("{*}graph")
    if not graphs:
        raise MalformedError("there is no <graph>")
    if len(graphs) > 1:
        raise UserError(f"The file {path} holds several graphs, one is expected; use nodes.csv with a column 'graph'.")
    return graphs[0]


def value_of(text: str | None, kind: str) -> Any:
    """A value of the declared type; ``None`` for an empty element. Python alone would read '1_0' as 10."""
    text = (text or "").strip()
    if is_missing(text):
        return None
    if kind == "boolean":
        if text.lower() not in ("true", "false", "1", "0"):
            raise MalformedError(f"'{text}' is no boolean")
        return text.lower() in ("true", "1")
    if kind in WHOLE + REAL:
        value = number(text)
        if value != value or (kind in WHOLE and not value.is_integer()):
            raise MalformedError(f"'{text}' is no {kind}")
        return int(text) if kind in WHOLE and len(text) < 19 and text.lstrip("+-").isdigit() else value
    return text


def same_direction(kinds: set[bool], directed: bool) -> None:
    if kinds - {directed}:
        raise MalformedError("directed and undirected edges are mixed")


def attribute(element: ElementTree.Element, name: str) -> str:
    value = element.get(name)
    if value is None:
        raise MalformedError(f"a <{element.tag.rpartition('}')[2]}> has no {name}")
    return value
