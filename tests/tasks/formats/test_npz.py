"""NumPy archives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from mpnp.tasks.formats import as_graphs

from .sources import EDGES, X, Y, fails


def write_npz(folder: Path, **arrays: Any) -> Path:
    np.savez_compressed(folder / "g.npz", **arrays)
    return folder / "g.npz"


def rows(prefix: str, matrix: Any) -> dict[str, Any]:
    csr = sparse.csr_matrix(matrix)
    parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": np.array(csr.shape)}
    return {f"{prefix}_{name}": value for name, value in parts.items()}


def test_names_of_public_collections(tmp_path: Path) -> None:
    masks = np.array([[True, False, True, False], [False] * 4])
    plain = {"node_features": X.numpy(), "node_labels": Y.numpy(), "edges": EDGES.T.numpy(), "train_masks": masks}
    own = as_graphs(write_npz(tmp_path, **plain))
    assert own.graphs[0].edge_index.tolist() == EDGES.tolist() and own.graphs[0].y.tolist() == [1, -1, 1, -1]
    assert "Of several training masks the first is used." in own.notes
    adjacency = sparse.coo_matrix((np.ones(5), EDGES.numpy()), shape=(4, 4))
    own = as_graphs(write_npz(tmp_path, **rows("attr", X.numpy()), **rows("adj", adjacency), labels=Y.numpy()))
    assert own.graphs[0].x.tolist() == X.tolist() and own.graphs[0].edge_index.tolist() == EDGES.tolist()
    assert own.graphs[0].get("edge_weight") is None


def test_weights_of_a_sparse_adjacency(tmp_path: Path) -> None:
    own = as_graphs(write_npz(tmp_path, **rows("adj", [[0, 2.5], [0, 0]]), y=np.array([0, 1])))
    assert own.graphs[0].edge_index.tolist() == [[0], [1]] and own.graphs[0].edge_weight.tolist() == [2.5]
    assert own.feature_names == ["0"] and own.directed


@pytest.mark.parametrize(
    ("arrays", "part"),
    [
        ({"x": X.numpy()}, "no edge_index"),
        ({"x": X.numpy(), "edge_index": np.array([["a"], ["b"]])}, "edge_index is a ndarray"),
        ({"x": np.array([object()]), "edge_index": EDGES.numpy()}, "cannot be read"),
        ({"edge_index": EDGES.numpy(), **rows("x", [[1.0]]), "x_indices": np.array([7])}, "make no matrix"),
        ({"edge_index": EDGES.numpy(), **rows("x", [[1.0]]), "x_shape": np.array([2**20, 2**20])}, "make no matrix"),
    ],
)
def test_bad_archives(tmp_path: Path, arrays: dict[str, Any], part: str) -> None:
    fails(write_npz(tmp_path, **arrays), part)


def test_sparse_features_are_not_made_dense_beyond_reason(tmp_path: Path) -> None:
    wide = sparse.csr_matrix(([1.0], ([0], [0])), shape=(4, 2**40))
    fails(write_npz(tmp_path, edge_index=EDGES.numpy(), **rows("x", wide)), "numbers, at most")


def test_archives_are_not_unfolded_beyond_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mpnp.tasks.formats.npz.FREE", 1000)
    fails(write_npz(tmp_path, x=np.zeros((100_000, 10)), edge_index=EDGES.numpy()), "unfold to")


def test_damaged_archives(tmp_path: Path) -> None:
    path = write_npz(tmp_path, x=X.numpy(), edge_index=EDGES.numpy())
    whole = path.read_bytes()
    middle = whole.index(b"x.npy") + 60  # within the compressed bytes
    for content in (whole[:100], b"hello", whole[:-30], whole[:middle] + b"\xff\xff\xff" + whole[middle + 3 :]):
        path.write_bytes(content)
        fails(path, "NumPy archive")
