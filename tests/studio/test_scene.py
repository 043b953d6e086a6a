"""Graphs of all kinds, made ready to be drawn and labelled."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from mpnp.errors import UserError
from mpnp.studio.scene import from_file, from_graph


def write(folder: Path, nodes: str, edges: str = "source,target\na,b\nb,c\n") -> Path:
    folder.mkdir()
    (folder / "nodes.csv").write_text(nodes)
    (folder / "edges.csv").write_text(edges)
    return folder


def test_a_folder_of_tables(tmp_path: Path) -> None:
    scene = from_file(write(tmp_path / "cats", "id,label,size\na,tabby,1\nb,,2\nc,,3\n"))
    assert (scene.title, scene.names, scene.class_names, scene.feature_names) == (
        "cats",
        ["a", "b", "c"],
        ["tabby"],
        ["size"],
    )
    assert scene.data.y.tolist() == [0, -1, -1]
    assert scene.edges.tolist() == [[0, 1], [1, 2]]
    assert scene.places.shape == (3, 2)
    assert from_file(tmp_path / "cats" / "nodes.csv").title == "cats"
    named = from_file(tmp_path / "cats", label_column="size", ignore=["label"])
    assert named.class_names == ["1", "2", "3"] and "label_column='size', ignore=['label'])" in named.recipe


def test_coordinates_are_places(tmp_path: Path) -> None:
    flat = from_file(write(tmp_path / "flat", "id,X,Y,w\na,0,0,1\nb,4,0,1\nc,2,1,1\n"))
    assert flat.places.tolist() == [[-1, -0.25], [1, -0.25], [0, 0.25]] and flat.kind == "graph"
    solid = from_file(write(tmp_path / "solid", "id,x,y,z\na,0,0,0\nb,4,0,0\nc,2,1,4\n"))
    assert solid.places.shape == (3, 3) and solid.kind == "cloud"


def test_several_graphs_lie_side_by_side(tmp_path: Path) -> None:
    scene = from_file(write(tmp_path / "two", "id,graph,w\na,g,1\nb,g,1\nc,h,1\n", "source,target\na,b\n"))
    assert scene.names == ["0/a", "0/b", "1/c"] and scene.edges.tolist() == [[0, 1]]


def test_networkx_and_pyg() -> None:
    scene = from_graph(nx.karate_club_graph())
    assert scene.nodes == 34 and len(scene.edges) == 78 and scene.class_names == []
    data = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3, pos=torch.rand(3, 3))
    assert from_graph(data).places.shape == (3, 3)
    labelled = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0], [1]]), y=torch.tensor([1, -1, 0]))
    assert from_graph(labelled).class_names == ["0", "1"]
    with pytest.raises(UserError, match="was given"):
        from_graph([1, 2])  # type: ignore[arg-type]


def test_identity_is_that_of_names_and_edges() -> None:
    def scene(edges: list[tuple[int, int]]) -> str:
        graph = nx.Graph()
        graph.add_nodes_from(range(4))
        graph.add_edges_from(edges)
        return from_graph(graph).identity

    assert scene([(0, 1), (2, 3)]) == scene([(3, 2), (1, 0)]) != scene([(0, 1)])


def test_names_on_disk_that_are_no_graph(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        from_file(tmp_path / "nothing.pt")
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(UserError):
        from_file(tmp_path / "array.npy")
