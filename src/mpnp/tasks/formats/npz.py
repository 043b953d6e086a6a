"""NumPy archives: one graph as arrays, under the names that public collections use."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...errors import UserError
from .arrays import from_items
from .own_graphs import Choices, OwnGraphs, check_size

# Our name, and the names in archives of graph2gauss, of Shchur et al. and of Platonov et al.
NAMES = {
    "x": ("x", "features", "node_features"),
    "y": ("y", "labels", "node_labels"),
    "edge_index": ("edge_index", "edges"),
    "edge_weight": ("edge_weight",),
    "edge_type": ("edge_type",),
    "train_mask": ("train_mask", "train", "train_masks"),
}
FEATURES, ADJACENCY = ("x", "attr"), ("adj",)  # as compressed rows: PREFIX_data, _indices, _indptr, _shape
FREE, RATIO = 2**28, 100  # bytes that any archive may unfold to, and how many per byte of a larger one


def read_npz(path: Path, choices: Choices) -> OwnGraphs:
    """Arrays ``x``, ``edge_index``, ``y`` and so on; features and adjacency may be sparse. Nothing is unpickled."""
    try:
        with zipfile.ZipFile(path) as archive:
            unfolded = sum(entry.file_size for entry in archive.infolist())
        if unfolded > max(FREE, RATIO * path.stat().st_size):
            raise UserError(f"The file {path} would unfold to {unfolded:,} bytes, which no graph does; write it again.")
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (OSError, UserError):
        raise
    except Exception as error:  # a damaged archive can provoke any
        raise UserError(
            f"The file {path} cannot be read as a NumPy archive ({error}); write it with np.savez."
        ) from error
    found = {name: next((arrays[key] for key in keys if key in arrays), None) for name, keys in NAMES.items()}
    if found["x"] is None and (matrix := _rows(arrays, FEATURES, path)) is not None:
        check_size(matrix.shape[0], matrix.shape[1], str(path))
        found["x"] = matrix.toarray()
    if found["edge_index"] is None and (matrix := _rows(arrays, ADJACENCY, path)) is not None:
        matrix = matrix.tocoo()
        found["edge_index"] = np.stack([matrix.row, matrix.col]).astype(np.int64)
        if (matrix.data != 1).any():
            found["edge_weight"] = matrix.data.astype(np.float32)
    edges = found["edge_index"]
    if edges is None:
        raise UserError(f"In {path}: there is no edge_index; the arrays are {', '.join(arrays) or 'none'}.")
    if edges.ndim == 2 and edges.shape[1] == 2 != edges.shape[0]:
        found["edge_index"] = edges.T
    return from_items([found], str(path), choices)


def _rows(arrays: Mapping[str, NDArray[Any]], prefixes: tuple[str, ...], path: Path) -> sparse.csr_matrix | None:
    """The sparse matrix that is stored under one of the prefixes."""
    for prefix in prefixes:
        names = [f"{prefix}_{part}" for part in ("data", "indices", "indptr", "shape")]
        if all(name in arrays for name in names):
            data, indices, pointer, shape = (arrays[name] for name in names)
            try:
                matrix = sparse.csr_matrix((data, indices, pointer), shape=tuple(shape.tolist()))
                matrix.check_format(full_check=True)
                return matrix
            except (ValueError, TypeError, IndexError) as error:
                raise UserError(
                    f"In {path}: {prefix}_data and so on make no matrix ({error}); write them again."
                ) from error
    return None
