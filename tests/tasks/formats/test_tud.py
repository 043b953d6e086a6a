"""TUDataset folders."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mpnp.tasks.formats import as_graphs

from .sources import as_tud, fails, write


def test_under_raw_with_several_graphs_out_of_order(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    write(tmp_path / "raw", T_A="1,3\n3,1\n2,4\n2,4", T_graph_indicator="9\n4\n9\n4", T_node_labels="b\na\nb\nc\n\n")
    own = as_graphs(tmp_path)
    assert [graph.edge_index.tolist() for graph in own.graphs] == [[[0], [1]], [[0, 1], [1, 0]]]
    assert own.node_names == [["2", "4"], ["1", "3"]]
    assert [graph.y.tolist() for graph in own.graphs] == [[0, 2], [1, 1]] and own.class_names == ["a", "b", "c"]
    assert torch.equal(own.graphs[0].x, torch.ones(2, 1)) and own.feature_names == ["constant"]
    assert own.directed and not as_graphs(tmp_path, directed=False).directed


def test_without_labels(tmp_path: Path) -> None:
    own = as_graphs(write(tmp_path, T_A="1,2", T_graph_indicator="1\n1"))
    assert own.graphs[0].y.tolist() == [-1, -1] and own.class_names == []


def test_what_is_not_read_is_said(tmp_path: Path) -> None:
    as_tud(tmp_path)
    assert "Ignored: T_edge_labels.txt." in as_graphs(write(tmp_path, T_edge_labels="1\n" * 5)).notes


@pytest.mark.parametrize(
    ("files", "parts"),
    [
        ({"T_A": ""}, ("T_A.txt", "empty")),
        ({"T_A": "1, 5"}, ("node 5", "1 to 4")),
        ({"T_A": "0, 1"}, ("node 0",)),
        ({"T_A": "1, 1.5"}, ("node 1.5",)),
        ({"T_A": "1, 2\n1"}, ("line 2", "1 cells")),
        ({"T_graph_indicator": "1\n1\n2\n2"}, ("'3', '2'", "two graphs")),
        ({"T_graph_indicator": "1\none\n"}, ("line 2", "'one'")),
        ({"T_node_attributes": "1\n2\n3\n"}, ("3 rows", "4")),
        ({"T_node_attributes": "1,1\n2,2\n3,?\n4,4"}, ("line 3", "column 2", "'?'")),
        ({"T_node_attributes": "1,1\n2,2\n3\n4,4"}, ("line 3", "1 cells")),
        ({"T_node_labels": "1\n2\n3\n"}, ("T_node_labels.txt", "3 rows")),
        ({"T_node_labels": "1\n2\n3\n4,4"}, ("line 4", "2 cells")),
        ({"U_A": "1,2"}, ("several", "U_A.txt")),
    ],
)
def test_bad_files(tmp_path: Path, files: dict[str, str], parts: tuple[str, ...]) -> None:
    as_tud(tmp_path)
    fails(write(tmp_path, **files), *parts)


def test_without_its_indicator(tmp_path: Path) -> None:
    fails(write(tmp_path, T_A="1, 2"), "T_graph_indicator.txt", "missing")
