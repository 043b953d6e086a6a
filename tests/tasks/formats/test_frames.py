"""Parquet files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from mpnp.tasks.formats import as_graphs

from .sources import fails


@pytest.fixture
def arrow() -> Any:
    pytest.importorskip("pyarrow.parquet")
    import pyarrow

    return pyarrow


def write_parquet(folder: Path, arrow: Any, nodes: dict[str, Any], edges: dict[str, Any]) -> Path:
    for name, columns in (("nodes", nodes), ("edges", edges)):
        arrow.parquet.write_table(arrow.table(columns), folder / f"{name}.parquet")
    return folder


def test_columns_of_every_type(tmp_path: Path, arrow: Any) -> None:
    nodes = {
        "id": [5, 6, 7],
        "label": ["x", None, "y"],
        "size": [1, None, 3],
        "old": [True, False, None],
        "c": list("pqp"),
    }
    edges = {"source": [5, 6], "target": [6, 7], "weight": [1.5, 2.0]}
    own = as_graphs(write_parquet(tmp_path, arrow, nodes, edges))
    assert own.feature_names == ["size", "size missing", "old", "old missing", "c=p", "c=q"]
    assert own.graphs[0].x.tolist() == [[1, 0, 1, 0, 1, 0], [2, 1, 0, 0, 0, 1], [3, 0, 0.5, 1, 1, 0]]
    assert own.node_names == [["5", "6", "7"]] and own.graphs[0].y.tolist() == [0, -1, 1]
    assert own.graphs[0].edge_weight.tolist() == [1.5, 1.5, 2, 2]
    assert as_graphs(tmp_path / "edges.parquet").node_names == own.node_names


def test_bad_files(tmp_path: Path, arrow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = {"source": [1], "target": [1]}
    fails(write_parquet(tmp_path, arrow, {"id": [1], "at": [arrow.scalar(0, arrow.timestamp("s"))]}, ends), "is a date")
    fails(write_parquet(tmp_path, arrow, {"id": [1, 1]}, ends), "a second node is named '1'")
    fails(
        write_parquet(tmp_path, arrow, {"id": [1]}, {"source": [1], "target": [2]}), "node '2' is not in nodes.parquet"
    )
    monkeypatch.setattr("mpnp.tasks.formats.frames.MAX_NUMBERS", 0)
    fails(tmp_path, "cells, at most")
    (tmp_path / "nodes.parquet").write_text("hello")
    fails(tmp_path, "cannot be read as Parquet")
    (tmp_path / "edges.parquet").unlink()


def test_without_arrow_a_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nodes.parquet").write_text("never read")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    fails(tmp_path, "needs pyarrow", "pip install 'mpnp[tables]'")
