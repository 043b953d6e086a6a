"""Node-link JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mpnp.tasks.formats import as_graphs

from .sources import fails


def write_json(folder: Path, content: Any) -> Path:
    (folder / "g.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return folder / "g.json"


def test_values_mean_what_they_are(tmp_path: Path) -> None:
    nodes: list[dict[str, Any]] = [
        {"id": 1, "class": "x", "size": 2, "old": True, "zip": "010"},
        {"id": 2, "class": None, "size": None, "old": False, "zip": "020"},
        {"id": 3, "class": "y", "size": 4.5, "old": True, "zip": "010"},
    ]
    edges = [{"source": 1, "target": 3, "weight": 0.5}]
    own = as_graphs(write_json(tmp_path, {"directed": True, "nodes": nodes, "edges": edges}))
    assert own.feature_names == ["size", "size missing", "old", "zip=010", "zip=020"]
    assert own.graphs[0].x.tolist() == [[2, 0, 1, 1, 0], [3.25, 1, 0, 0, 1], [4.5, 0, 1, 1, 0]]
    assert own.graphs[0].y.tolist() == [0, -1, 1] and own.node_names == [["1", "2", "3"]]
    assert own.graphs[0].edge_index.tolist() == [[0], [2]] and own.graphs[0].edge_weight.tolist() == [0.5]


def test_several_graphs_may_name_their_nodes_alike(tmp_path: Path) -> None:
    one = {"nodes": [{"id": "a", "label": 1}, {"id": "b"}], "links": [{"source": "a", "target": "b"}]}
    two = {"nodes": [{"id": "b", "label": 0}], "links": []}
    own = as_graphs(write_json(tmp_path, [one, two]))
    assert own.node_names == [["a", "b"], ["b"]]
    assert [graph.y.tolist() for graph in own.graphs] == [[1, -1], [0]]
    assert [graph.edge_index.tolist() for graph in own.graphs] == [[[0, 1], [1, 0]], [[], []]]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("[]", "empty list"),
        ("3", "lists of nodes and links"),
        ({"nodes": []}, "lists of nodes and links"),
        ({"nodes": [{"name": "a"}], "links": []}, "has no id"),
        ({"nodes": ["a"], "links": []}, "has no id"),
        ({"nodes": [{"id": "a"}, {"id": "a"}], "links": []}, "a second node is named 'a'"),
        ({"nodes": [{"id": "a"}], "links": [{"source": "a"}]}, "has no target"),
        ({"nodes": [{"id": "a"}], "links": [{"source": "a", "target": "b"}]}, "node 'b' is not in"),
        ({"nodes": [{"id": "a", "v": [1]}, {"id": "b", "v": [2]}], "links": []}, "a list was given"),
        ({"nodes": [{"id": "a", "v": 1}, {"id": "b", "v": "2"}], "links": []}, "'2' was given among numbers"),
        ({"nodes": [{"id": "a", "v": 10**400}, {"id": "b", "v": 2}], "links": []}, "a finite number is expected"),
        ({"nodes": [{"id": "a"}], "links": [{"source": "a", "target": "a", "weight": [1]}]}, "the weight '[1]'"),
    ],
)
def test_bad_files(tmp_path: Path, content: Any, part: str) -> None:
    fails(write_json(tmp_path, content), part)
