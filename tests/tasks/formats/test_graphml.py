"""GraphML."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from mpnp.tasks.formats import as_graphs

from .sources import fails, graphml

NODE = '<node id="a"/>'


def test_directed_graphs_keep_their_direction(tmp_path: Path) -> None:
    graph = nx.MultiDiGraph()
    graph.add_node("u", y="red", flag=True)
    graph.add_node("v", y="blue", flag=False)
    graph.add_edges_from([("v", "u"), ("v", "u")])
    nx.write_graphml(graph, tmp_path / "g.graphml")
    own = as_graphs(tmp_path / "g.graphml")
    assert own.graphs[0].edge_index.tolist() == [[1], [0]] and own.directed
    assert own.graphs[0].x.tolist() == [[1.0], [0.0]] and own.feature_kinds == ["truth"]
    assert own.graphs[0].y.tolist() == [1, 0] and own.class_names == ["blue", "red"]
    assert as_graphs(tmp_path / "g.graphml", directed=False).graphs[0].edge_index.tolist() == [[0, 1], [1, 0]]


def test_weights_and_types_of_edges(tmp_path: Path) -> None:
    graph = nx.DiGraph()
    graph.add_edge("u", "v", weight=2.5, type="likes")
    graph.add_edge("v", "u", weight=0.5, type="knows")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    own = as_graphs(tmp_path / "g.graphml")
    assert own.graphs[0].edge_weight.tolist() == [2.5, 0.5]
    assert own.graphs[0].edge_type.tolist() == [1, 0] and own.edge_type_names == ["knows", "likes"]


def test_defaults_are_filled_in(tmp_path: Path) -> None:
    nodes = '<node id="a"><data key="k">1</data></node><node id="b"/>'
    own = as_graphs(graphml(tmp_path, f'<graph edgedefault="undirected">{nodes}</graph>'))
    assert own.graphs[0].x.tolist() == [[1.0], [2.5]] and own.graphs[0].edge_index.shape == (2, 0)


def test_missing_values_are_imputed(tmp_path: Path) -> None:
    key = '<key id="k" for="node" attr.name="size" attr.type="int"/>'
    path = graphml(tmp_path, f'<graph>{NODE}<node id="b"><data key="k">3</data></node></graph>', key)
    own = as_graphs(path)
    assert own.graphs[0].x.tolist() == [[3, 1], [3, 0]] and own.feature_names == ["size", "size missing"]


def test_what_editors_add_is_left_out(tmp_path: Path) -> None:
    keys = '<key id="d" for="node" yfiles.type="nodegraphics"/><key id="s" for="node" attr.name="s" attr.type="int"/>'
    nodes = '<node id="a"><data key="d"><b/></data><data key="s">4</data></node>'
    own = as_graphs(graphml(tmp_path, f"<graph>{nodes}</graph>", keys))
    assert own.graphs[0].x.tolist() == [[4]] and "What an editor wrote about the drawing is ignored." in own.notes


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ("<graph>", ("not valid GraphML",)),
        ("", ("not valid GraphML",)),
        ("<graph/>", ("no nodes",)),
        (f"<graph>{NODE}{NODE}</graph>", ("a second node", "'a'")),
        ("<graph><node/></graph>", ("not valid GraphML", "<node> has no id")),
        (f'<graph>{NODE}<edge source="a" target="z"/></graph>', ("'z'", "is not in")),
        (f'<graph>{NODE}<edge source="a"/></graph>', ("not valid GraphML", "no target")),
        (f"<graph>{NODE}<hyperedge/></graph>", ("hyperedge",)),
        (f"<graph>{NODE}</graph><graph/>", ("several graphs",)),
        (f'<graph>{NODE}<node id="b"><graph><node id="c"/></graph></node></graph>', ("'c'", "flatten")),
        (f'<graph edgedefault="directed">{NODE}<edge source="a" target="a" directed="false"/></graph>', ("directed",)),
        ('<graph><node id="a"><data key="k">big</data></node></graph>', ("not valid GraphML", "big")),
        ('<graph><node id="a"><data key="k">1_0</data></node></graph>', ("not valid GraphML", "'1_0' is no double")),
        ('<graph><node id="a"><data key="k">inf</data></node></graph>', ("'size'", "'a'", "finite")),
        ('<graph><node id="a"><data key="no">1</data></node></graph>', ("not valid GraphML",)),
    ],
)
def test_bad_files(tmp_path: Path, body: str, parts: tuple[str, ...]) -> None:
    fails(graphml(tmp_path, body), *parts)


def test_another_kind_of_xml(tmp_path: Path) -> None:
    (tmp_path / "g.graphml").write_text("<html/>")
    fails(tmp_path / "g.graphml", "<html>", "<graphml> is expected")
