"""The same graph in every format, and paths that hold none."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from mpnp.errors import UserError
from mpnp.tasks.formats import as_graphs

from .sources import EDGES, X, Y, as_csv, as_gexf, as_graphml, as_json, as_npz, as_pt, as_tud, fails

NAMED = (as_graphml, as_csv, as_gexf, as_json)


@pytest.mark.parametrize("form", [as_pt, as_tud, as_npz, *NAMED])
def test_the_same_graph_in_every_format(tmp_path: Path, form: Callable[[Path], Path]) -> None:
    own = as_graphs(form(tmp_path))
    (graph,) = own.graphs
    assert graph.x.dtype == torch.float32 and graph.edge_index.dtype == graph.y.dtype == torch.long
    assert torch.equal(graph.x, X) and torch.equal(graph.edge_index, EDGES) and torch.equal(graph.y, Y)
    assert own.class_names == (["0", "1"] if form in (as_pt, as_npz) else ["3", "7"])
    numbered = {as_pt: ["0", "1", "2", "3"], as_npz: ["0", "1", "2", "3"], as_tud: ["1", "2", "3", "4"]}
    assert own.node_names == [numbered.get(form, ["a", "b", "c", "d"])]
    assert own.feature_names == (["p", "q"] if form in NAMED else ["0", "1"])
    assert own.feature_kinds == ["number", "number"]
    assert not own.directed


@pytest.mark.parametrize("form", [as_pt, as_tud, as_npz, *NAMED])
def test_given_class_names_fix_the_numbering(tmp_path: Path, form: Callable[[Path], Path]) -> None:
    path = form(tmp_path)
    if form in (as_pt, as_npz):
        assert as_graphs(path, class_names=["x", "y", "z"]).class_names == ["x", "y", "z"]
        with pytest.raises(UserError, match="label 1"):
            as_graphs(path, class_names=["x"])
        return
    own = as_graphs(path, class_names=["7", "5", "3"])
    assert own.class_names == ["7", "5", "3"] and own.graphs[0].y.tolist() == [0, 2, 0, -1]
    with pytest.raises(UserError, match="label '7' was given, one of 3, 5"):
        as_graphs(path, class_names=["3", "5"])


def test_features_are_known_by_name(tmp_path: Path) -> None:
    own = as_graphs(as_csv(tmp_path), feature_names=["q", "p"])
    assert own.feature_names == ["q", "p"] and torch.equal(own.graphs[0].x, X.flip(1))
    with pytest.raises(UserError, match="the feature 'r', which the model was trained with, is not there"):
        as_graphs(tmp_path, feature_names=["p", "r"])
    few = as_graphs(tmp_path, feature_names=["q"])
    assert few.graphs[0].x.tolist() == X[:, 1:].tolist()
    assert "Column 'p' is ignored: the model was trained without it." in few.notes
    nameless = as_graphs(as_pt(tmp_path), feature_names=["q", "p"])
    assert torch.equal(nameless.graphs[0].x, X) and any("no names" in note for note in nameless.notes)
    with pytest.raises(UserError, match="2 features, the model was trained with 3"):
        as_graphs(tmp_path / "g.pt", feature_names=["0", "1", "2"])


def test_paths_that_hold_no_graphs(tmp_path: Path) -> None:
    fails(tmp_path / "nowhere", "nothing at", "nodes.csv")
    fails(tmp_path, "no graphs", "nodes.csv")
    (tmp_path / "g.xlsx").write_text("?")
    fails(tmp_path / "g.xlsx", "unknown kind", ".graphml")
    for name in ("e.pt", "e.graphml", "e.gexf", "e.json", "e.npz", "nodes.csv"):
        (tmp_path / name).write_text("")
        fails(tmp_path / name, "empty")
    with pytest.raises(UserError, match="Cannot read"):
        as_graphs("x" * 5000)


def test_either_file_of_a_pair_names_the_folder(tmp_path: Path) -> None:
    as_csv(tmp_path)
    assert torch.equal(as_graphs(tmp_path / "edges.csv").graphs[0].x, as_graphs(tmp_path / "nodes.csv").graphs[0].x)


@pytest.mark.parametrize("before", [True, False])
def test_garbage_is_collected_again_after_reading(tmp_path: Path, before: bool) -> None:
    as_csv(tmp_path)
    try:
        gc.enable() if before else gc.disable()
        as_graphs(tmp_path)
        fails(tmp_path / "nowhere", "nothing at")
        assert gc.isenabled() is before
    finally:
        gc.enable()
