"""GEXF."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from mpnp.tasks.formats import as_graphs

from .sources import fails


def gexf(folder: Path, inside: str, about: str = "") -> Path:
    (folder / "g.gexf").write_text(f'<gexf xmlns="http://gexf.net/1.3"><graph {about}>{inside}</graph></gexf>')
    return folder / "g.gexf"


def test_weights_and_directions(tmp_path: Path) -> None:
    graph = nx.DiGraph()
    graph.add_node("u", label="seen in drawings", **{"class": "red"}, size=1)
    graph.add_node("v", **{"class": "blue"}, size=2)
    graph.add_edge("v", "u", weight=2.5)
    nx.write_gexf(graph, tmp_path / "g.gexf")
    own = as_graphs(tmp_path / "g.gexf")
    assert own.graphs[0].edge_index.tolist() == [[1], [0]] and own.graphs[0].edge_weight.tolist() == [2.5]
    assert own.class_names == ["blue", "red"] and own.feature_names == ["size"] and own.directed
    assert any("drawings" in note for note in own.notes)
    own = as_graphs(tmp_path / "g.gexf", label_column="label", ignore=["class"])
    assert own.class_names == ["seen in drawings"] and own.graphs[0].y.tolist() == [0, -1]


def test_defaults_and_kinds(tmp_path: Path) -> None:
    attributes = '<attributes class="node"><attribute id="0" title="s" type="float"><default>7</default></attribute></attributes>'
    nodes = '<nodes><node id="a"><attvalues><attvalue for="0" value="1.5"/></attvalues></node><node id="b"/></nodes>'
    edges = '<edges><edge source="a" target="b" kind="x"/><edge source="b" target="b" kind="y"/></edges>'
    own = as_graphs(gexf(tmp_path, attributes + nodes + edges))
    assert own.graphs[0].x.tolist() == [[1.5], [7]]
    assert own.graphs[0].edge_index.tolist() == [[0, 1, 1], [1, 0, 1]]
    assert own.graphs[0].edge_type.tolist() == [0, 0, 1] and own.edge_type_names == ["x", "y"]


@pytest.mark.parametrize(
    ("inside", "about", "part"),
    [
        ("", 'mode="dynamic"', "changes over time"),
        ("<nodes/>", "", "no nodes"),
        ('<nodes><node id="a"><nodes><node id="b"/></nodes></node></nodes>', "", "flatten"),
        ('<nodes><node id="a"><attvalues><attvalue for="0" value="1"/></attvalues></node></nodes>', "", "not declared"),
        ('<nodes><node id="a"/></nodes><edges><edge source="a" target="z"/></edges>', "", "'z'"),
        ('<nodes><node id="a"/></nodes><edges><edge source="a" target="a" type="directed"/></edges>', "", "mixed"),
        ('<nodes><node id="a"/></nodes><edges><edge source="a" target="a" weight="-1"/></edges>', "", "weight '-1"),
        ("<nodes>", "", "not valid GEXF"),
    ],
)
def test_bad_files(tmp_path: Path, inside: str, about: str, part: str) -> None:
    fails(gexf(tmp_path, inside, about), part)


def test_the_type_that_networkx_writes_for_a_direction(tmp_path: Path) -> None:
    graph = nx.Graph()
    graph.add_edge("u", "v", type="mail")
    graph.add_edge("v", "w", type="call")
    nx.write_gexf(graph, tmp_path / "g.gexf")
    own = as_graphs(tmp_path / "g.gexf")
    assert own.edge_type_names == ["call", "mail"] and not own.directed
    assert own.graphs[0].edge_type.tolist() == [1, 1, 0, 0]
