"""Whatever people hold their graphs in, as graphs: files, PyG, NetworkX, SciPy, pandas."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch_geometric.data import Data

from ...errors import UserError
from ...graphs import UNLABELLED
from .arrays import from_items
from .columns import encode, read_column
from .files import checked, load
from .frames import from_frames, is_frame, is_pandas
from .labels import is_missing, numbered
from .own_graphs import NO_LABELS, Choices, OwnGraphs, check_size
from .records import Record, from_records

EXPECTED = (
    "a path, a PyG Data, a NetworkX graph, a SciPy sparse matrix or (matrix, features), two pandas frames (nodes, edges), "
    "or a list of the first three kinds"
)


def as_graphs(
    source: Any,
    labels: Any = None,
    *,
    class_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    label_column: str | None = None,
    directed: bool | None = None,
    ignore: Sequence[str] = (),
    more_classes: bool = False,
) -> OwnGraphs:
    """Graphs from any usual container or file, with names and notes on what was made of it.

    ``source``: a path, a PyG ``Data``, a NetworkX graph, a SciPy sparse matrix, ``(matrix, features)``, two pandas frames
    ``(nodes, edges)``, or a list of ``Data`` or NetworkX graphs. Labels of a ``Data`` outside its ``train_mask`` are hidden.

    ``labels``, in place of those in the source: one per node in an array or a list, with -1, NaN or ``None`` for unknown, or a
    dict or pandas Series by the nodes' names; numbers or texts. For several graphs, one of these per graph.

    For the other options see docs/your-graphs.md.
    """
    choices = Choices(class_names, feature_names, label_column, directed, tuple(ignore), more_classes)
    try:
        own = _read(source, choices if labels is None else replace(choices, class_names=None))
        return own if labels is None else _labelled(own, labels, class_names, more_classes)
    except UserError as error:  # which may quote a cell of several lines
        raise UserError(" ".join(str(error).split())) from error


def _read(source: Any, choices: Choices) -> OwnGraphs:
    if isinstance(source, OwnGraphs):
        return source
    if isinstance(source, str | Path):
        return load(Path(source), choices)
    networkx = sys.modules.get("networkx")  # who has such a graph has imported it
    several = list(source) if isinstance(source, list | tuple) else [source]
    if several and all(isinstance(each, Data | Mapping) for each in several):
        return checked(from_items(several, "the graph" if len(several) == 1 else "the graphs", choices))
    if several and networkx is not None and all(isinstance(each, networkx.Graph) for each in several):
        return checked(_from_networkx(several, choices))
    if sparse.issparse(source):
        return checked(_from_matrix(source, None, choices))
    if len(several) == 2 and sparse.issparse(several[0]):
        return checked(_from_matrix(several[0], several[1], choices))
    if len(several) == 2 and all(is_frame(each) for each in several):
        return checked(from_frames(several[0], several[1], choices))
    given = "an empty list" if not several else f"a {type(source).__name__}"
    if several and several[0] is not source:
        given += f" of {', '.join(dict.fromkeys(type(each).__name__ for each in several))}"
    raise UserError(f"As graphs {given} was given; {EXPECTED} is expected.")


def _from_networkx(graphs: list[Any], choices: Choices) -> OwnGraphs:
    records = [Record(list(g.nodes(data=True)), list(g.edges(data=True)), g.is_directed()) for g in graphs]
    return from_records(records, "the graph" if len(graphs) == 1 else "the graphs", choices)


def _from_matrix(adjacency: Any, features: Any, choices: Choices) -> OwnGraphs:
    """Entry (i, j) is the weight of an edge from i to j; all of them 1 are no weights."""
    matrix = sparse.coo_array(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise UserError(f"A matrix of shape {list(matrix.shape)} was given, a square one of edges is expected.")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    item: dict[str, Any] = {"edge_index": torch.from_numpy(np.stack([matrix.row, matrix.col]).astype(np.int64))}
    weights = matrix.data.astype(np.float64)
    if (weights != 1).any():
        item["edge_weight"] = torch.from_numpy(weights)
    names: list[str] = []
    if features is None:
        item["x"] = torch.ones(matrix.shape[0], 1)
        names = ["constant"]
    elif is_frame(features):
        where, notes = "the frame of features", list[str]()
        columns = [
            read_column(str(c), features[c].tolist(), True, lambda r: f"{where}, row {r}") for c in features.columns
        ]
        made = encode([c for c in columns if c is not None], len(features), choices.feature_names, where, notes)
        item["x"] = torch.from_numpy(made.x)
        own = from_items([item], "the matrix", replace(choices, feature_names=None))
        return replace(own, feature_names=made.names, feature_kinds=made.kinds, notes=[*notes, *own.notes])
    else:
        check_size(*_shape(features), "the features")
        dense = features.toarray() if sparse.issparse(features) else features
        try:
            item["x"] = dense if isinstance(dense, Tensor) else torch.from_numpy(np.array(dense, dtype=np.float32))
        except (TypeError, ValueError) as error:
            raise UserError(f"The features are no numbers ({error}); give numbers, or a pandas frame.") from error
    if len(item["x"]) != matrix.shape[0]:
        raise UserError(
            f"{len(item['x'])} rows of features were given for {matrix.shape[0]} nodes; one per node is expected."
        )
    own = from_items([item], "the matrix", choices)
    return replace(own, feature_names=names, feature_kinds=["constant"]) if names else own


def _shape(features: Any) -> tuple[int, int]:
    shape = getattr(features, "shape", None)
    if shape is None or len(shape) != 2:
        given = type(features).__name__ if shape is None else f"features of shape {list(shape)}"
        raise UserError(f"Beside the matrix {given} was given, an array of features [nodes, features] is expected.")
    return int(shape[0]), int(shape[1])


def _labelled(own: OwnGraphs, labels: Any, class_names: Sequence[str] | None, more: bool) -> OwnGraphs:
    """The same graphs with other labels."""
    if len(own.graphs) > 1 and not isinstance(labels, list | tuple):
        raise UserError(
            f"Labels for {len(own.graphs)} graphs were given as a {type(labels).__name__}, a list is expected."
        )
    per_graph = [labels] if len(own.graphs) == 1 else list(labels)
    if len(per_graph) != len(own.graphs):
        raise UserError(
            f"Labels of {len(per_graph)} graphs were given for {len(own.graphs)}; one set per graph is expected."
        )
    notes = [note for note in own.notes if note != NO_LABELS]
    if any((graph.y != UNLABELLED).any() for graph in own.graphs):
        notes.append("The labels given are used in place of those in the source.")
    values = [_per_node(each, names) for each, names in zip(per_graph, own.node_names, strict=True)]
    y, classes = numbered([value for graph in values for value in graph], class_names, "the labels", notes, more)
    graphs = []
    for graph, part in zip(own.graphs, y.split([len(graph) for graph in values]), strict=True):
        graphs.append(graph.clone())
        graphs[-1].y = part
    return replace(own, graphs=graphs, class_names=classes, notes=notes)


def _per_node(labels: Any, names: list[str]) -> list[Any]:
    """One value per node, ``None`` where it is unknown."""
    if isinstance(labels, Mapping) or (is_pandas(labels) and hasattr(labels, "index")):
        by_name = {str(name): value for name, value in labels.items()}
        strange = next(iter(by_name.keys() - set(names)), None)
        if strange is not None:
            raise UserError(
                f"A label was given for '{strange}', but no node is called so; nodes are called {names[0]}, …."
            )
        listed = [by_name.get(name) for name in names]
    else:
        listed = labels.tolist() if hasattr(labels, "tolist") else labels
        if isinstance(listed, str) or not isinstance(listed, Sequence):
            raise UserError(f"As labels a {type(labels).__name__} was given, an array, a list or a dict is expected.")
        if len(listed) != len(names):
            raise UserError(f"{len(listed)} labels were given for {len(names)} nodes; one per node is expected.")
    if any(isinstance(value, list) for value in listed):
        raise UserError("Several labels per node were given, one is expected; predict one after the other.")
    return [None if is_missing(value) or value == UNLABELLED else value for value in listed]
