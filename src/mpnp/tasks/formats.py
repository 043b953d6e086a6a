"""Reading a user's own graphs: PyG files, TUDataset folders, GraphML and pairs of CSV files."""

from __future__ import annotations

import csv
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import AttrType, GlobalStorage
from torch_geometric.edge_index import EdgeIndex, SortOrder
from torch_geometric.utils import coalesce

from ..errors import UserError
from ..graphs import UNLABELLED

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MAX_CLASSES = 10_000  # beyond it a number in y is an identifier, not a class


@dataclass
class OwnGraphs:
    """``graphs`` (``x`` [N, F] float, ``edge_index`` [2, E], ``y`` [N] with -1 = unlabelled) with the user's own names.

    ``node_names`` per graph, ``class_names`` per label, ``feature_names`` per column of ``x``; '0', '1', … where the
    file has no names.
    """

    graphs: list[Data]
    node_names: list[list[str]]
    class_names: list[str]
    feature_names: list[str]


# --- PyG files -------------------------------------------------------------------------------------------------------


def _plain_dict(*_: Any) -> dict[Any, Any]:
    """In place of the defaultdict of cached names in a ``Data``, which torch admits but cannot fill."""
    return {}


@contextmanager
def _only_pyg() -> Iterator[None]:
    """Let ``torch.load`` admit what a saved ``Data`` needs, and nothing else.

    Not ``torch.serialization.safe_globals``: it would add to what other packages registered, and on leaving withdraw
    ``Data``, which PyG registered for the whole process.
    """
    pyg = [Data, DataTensorAttr, DataEdgeAttr, GlobalStorage, AttrType, EdgeIndex, SortOrder]
    before = torch.serialization.get_safe_globals()
    torch.serialization.clear_safe_globals()
    torch.serialization.add_safe_globals([*pyg, (_plain_dict, "collections.defaultdict")])
    try:
        yield
    finally:
        torch.serialization.clear_safe_globals()
        torch.serialization.add_safe_globals(before)


def read_pt(path: Path, known: list[str] | None) -> OwnGraphs:
    """Tensors and PyG's data classes alone are unpickled; anything else in the file is refused before it can run."""
    try:
        with _only_pyg():
            content = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:  # a damaged or foreign file can provoke any
        found = re.search(r"GLOBAL (\S+)", str(error))
        what = f"holds '{found[1]}'" if found else "cannot be read as a file written by torch.save"
        raise UserError(f"The file {path} {what}; save a PyG Data or a list of them, made of tensors only.") from error
    items = list(content) if isinstance(content, list | tuple) else [content]
    if not items:
        raise UserError(f"The file {path} holds an empty list; save at least one PyG Data.")
    graphs = [_from_item(item, f"item {i} of {path}") for i, item in enumerate(items)]
    classes = max(int(graph.y.max()) if graph.y.numel() else UNLABELLED for graph in graphs) + 1
    most = MAX_CLASSES if known is None else len(known)
    if classes > most:
        raise UserError(f"In {path}: the label {classes - 1} was given, 0 to {most - 1} are expected; renumber.")
    names = [str(i) for i in range(classes)] if known is None else known
    columns = graphs[0].x.size(1) if graphs[0].x is not None and graphs[0].x.dim() == 2 else 0
    nodes = [[str(n) for n in range(graph.y.numel())] for graph in graphs]
    return OwnGraphs(graphs, nodes, names, [str(i) for i in range(columns)])


def _from_item(item: Any, where: str) -> Data:
    """A plain ``Data`` from what the file holds, with every tensor of the kind the rest of the library relies on."""
    try:
        fields = item.to_dict() if isinstance(item, Data) else item
    except Exception as error:  # a Data with its insides missing
        raise UserError(f"In {where}: the PyG Data is damaged; save it again.") from error
    if not isinstance(fields, dict):
        raise UserError(f"In {where}: a {type(item).__name__} was given, a PyG Data is expected.")
    tensors: dict[str, Tensor | None] = {}
    for name in ("x", "edge_index", "y"):
        value = fields.get(name)
        if value is not None:
            if not isinstance(value, Tensor):
                raise UserError(f"In {where}: {name} is a {type(value).__name__}, a tensor is expected.")
            dense = value.layout is torch.strided and value.device.type == "cpu"
            if not dense or value.is_complex() or value.is_quantized or value.is_nested:
                raise UserError(
                    f"In {where}: {name} is a {value.layout} {value.dtype} tensor, a dense real one is expected."
                )
            value = value.as_tensor() if isinstance(value, EdgeIndex) else value.detach()
        tensors[name] = value
    x, edge_index, y = tensors["x"], tensors["edge_index"], tensors["y"]
    if edge_index is not None and (edge_index.is_floating_point() or edge_index.dtype == torch.bool):
        raise UserError(f"In {where}: edge_index is of type {edge_index.dtype}, torch.long is expected.")
    if y is not None and y.is_floating_point():
        raise UserError(f"In {where}: y is of type {y.dtype}, classes as whole numbers (torch.long) are expected.")
    if x is None and y is not None:
        x = torch.ones(y.numel(), 1)
    if y is None:
        y = torch.full((0 if x is None or x.dim() == 0 else x.size(0),), UNLABELLED)
    return Data(
        x=None if x is None else x.float(),
        edge_index=None if edge_index is None else edge_index.long(),
        y=y.long(),
    )


# --- Shared by the text formats --------------------------------------------------------------------------------------


def _rows(file: Path) -> list[tuple[int, list[str]]]:
    """Line number and stripped cells of every row; a blank line is an empty row."""
    if not file.exists():
        raise UserError(f"The file {file} is missing; put it there.")
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream, strict=True)
            rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except UnicodeDecodeError as error:
        raise UserError(f"The file {file} is not UTF-8 text; save it as such.") from error
    except csv.Error as error:
        raise UserError(f"The file {file} is not a table with commas ({error}); write it as such.") from error
    rows = [(line, row if any(row) else []) for line, row in rows]
    if not any(row for _, row in rows):
        raise UserError(f"The file {file} is empty; fill or remove it.")
    return rows


def _even(file: Path, rows: list[tuple[int, list[str]]], width: int) -> None:
    """Raise unless every row has ``width`` cells."""
    for line, row in rows:
        if len(row) != width:
            raise UserError(f"In {file}, line {line}: {len(row)} cells were given, {width} are expected.")


def _number(text: str) -> float:
    """The number ``text`` stands for, else NaN; Python alone would read '1_2' as 12."""
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


def _numbers(cells: list[list[str]], where: Callable[[int, int], str]) -> Floats:
    """Cells as finite numbers; ``where`` tells the place of a bad one (row, column)."""
    values = np.array([[_number(cell) for cell in row] for row in cells], dtype=np.float64)
    bad = np.argwhere(~(np.abs(values) <= np.finfo(np.float32).max))  # also true of NaN
    if len(bad):
        row, column = bad[0].tolist()
        raise UserError(
            f"In {where(row, column)}: '{cells[row][column]}' was given, a finite number is expected; "
            "fill in or drop such values."
        )
    return values


def _labels(texts: Sequence[str], known: list[str] | None, where: str) -> tuple[Tensor, list[str]]:
    """Numbered labels and the names of the classes, in numeric order if all are numbers, else alphabetical.

    '' and 'nan' are no label; '1.0', which tables make of 1 when another label is missing, is '1'.
    """
    own = {text for text in texts if text and text.lower() != "nan"}
    numbers = {text: _number(text) for text in own}
    if all(math.isfinite(number) for number in numbers.values()):
        broken = next((text for text, number in numbers.items() if not number.is_integer()), None)
        if broken is not None:
            raise UserError(
                f"In {where}: the label '{broken}' is a fraction, classes are expected; use whole numbers or names."
            )
        # Past 2^53 different numbers become the same float.
        written = {text: str(int(number)) if abs(number) < 2**53 else text for text, number in numbers.items()}
        names = sorted(set(written.values()), key=_number)
    else:
        written = {text: text for text in own}
        names = sorted(own)
    if known is not None:
        strange = next((name for name in names if name not in known), None)
        if strange is not None:
            raise UserError(f"In {where}: the label '{strange}' was given, one of {', '.join(known)} is expected.")
        names = known
    index = {name: i for i, name in enumerate(names)}
    return torch.tensor([index[written[t]] if t in own else UNLABELLED for t in texts], dtype=torch.long), names


def _cut(
    where: str, x: Floats, y: Tensor, edges: Ints, owner: Ints, names: list[str]
) -> tuple[list[Data], list[list[str]]]:
    """One table of nodes and edges [2, E] as a graph per value of ``owner`` [N]; edges sorted, duplicates removed."""
    across = np.flatnonzero(owner[edges[0]] != owner[edges[1]])
    if len(across):
        source, target = edges[:, across[0]]
        raise UserError(f"In {where}: the edge '{names[source]}', '{names[target]}' joins two graphs; remove it.")
    order = np.argsort(owner, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    ptr = np.concatenate([[0], np.bincount(owner).cumsum()])
    edge_index = coalesce(torch.from_numpy(rank[edges]), num_nodes=len(order))
    edge_ptr = torch.searchsorted(edge_index[0].contiguous(), torch.from_numpy(ptr)).tolist()
    x_sorted, y_sorted = torch.from_numpy(x[order]).float(), y[torch.from_numpy(order)]
    graphs, graph_names = [], []
    for i in range(len(ptr) - 1):
        nodes = slice(int(ptr[i]), int(ptr[i + 1]))
        edge_index_i = edge_index[:, edge_ptr[i] : edge_ptr[i + 1]] - nodes.start
        graphs.append(Data(x=x_sorted[nodes], edge_index=edge_index_i, y=y_sorted[nodes]))
        graph_names.append([names[n] for n in order[nodes]])
    return graphs, graph_names


# --- CSV, TUDataset, GraphML -----------------------------------------------------------------------------------------


def read_csv(folder: Path, known: list[str] | None) -> OwnGraphs:
    """``nodes.csv`` and ``edges.csv``; columns are told by their names, in small or capital letters."""
    file, edge_file = folder / "nodes.csv", folder / "edges.csv"
    (_, header), *rows = [row for row in _rows(file) if row[1]]
    if len(header) == 1 and re.search(r"[;\t]", header[0]):
        raise UserError(f"In {file}: the columns '{header[0]}' are not separated by commas; save it with commas.")
    _even(file, rows, len(header))
    lower = [name.lower() for name in header]
    if len(set(lower)) < len(lower):
        twice = next(name for name in lower if lower.count(name) > 1)
        raise UserError(f"In {file}: two columns are named '{twice}'; rename one.")
    if all(math.isfinite(_number(cell)) for cell in header):
        raise UserError(f"The file {file} starts with numbers, a header is expected; add one such as id,label,size.")
    if not rows:
        raise UserError(f"The file {file} has a header but no nodes; add a row per node.")
    key = next((lower.index(name) for name in ("id", "node") if name in lower), 0)
    special = {name: lower.index(name) for name in ("label", "graph") if name in lower}
    if key in special.values():
        raise UserError(f"In {file}: no column names the nodes; add one called 'id'.")

    index: dict[str, int] = {}
    for line, row in rows:
        if not row[key]:
            raise UserError(f"In {file}, line {line}: the node has no name; give it one in column '{header[key]}'.")
        if row[key] in index:
            raise UserError(f"In {file}, line {line}: a second node is named '{row[key]}'; names must differ.")
        index[row[key]] = len(index)
    features = [i for i in range(len(header)) if i != key and i not in special.values()]
    cells = [[row[i] for i in features] for _, row in rows]
    x = _numbers(cells, lambda row, column: f"{file}, line {rows[row][0]}, column '{header[features[column]]}'")
    y, classes = _labels([row[special["label"]] if "label" in special else "" for _, row in rows], known, str(file))
    graph_of: dict[str, int] = {}
    owner = [graph_of.setdefault(row[special["graph"]] if "graph" in special else "", len(graph_of)) for _, row in rows]
    if len(graph_of) > 1 and "" in graph_of:
        line = rows[owner.index(graph_of[""])][0]
        raise UserError(f"In {file}, line {line}: the node's graph is missing; fill in the column 'graph'.")
    feature_names = [header[i] for i in features]

    (_, header), *links = [row for row in _rows(edge_file) if row[1]]
    _even(edge_file, links, len(header))
    lower = [name.lower() for name in header]
    if len(header) < 2:
        raise UserError(f"In {edge_file}: the header '{header[0]}' was given, source,target is expected.")
    named = "source" in lower and "target" in lower
    ends = (lower.index("source"), lower.index("target")) if named else (0, 1)
    if not named and header[0] in index and header[1] in index:
        raise UserError(f"The file {edge_file} starts with an edge, a header is expected; add the line source,target.")
    for line, row in links:
        lost = next((row[end] for end in ends if row[end] not in index), None)
        if lost is not None:
            raise UserError(f"In {edge_file}, line {line}: node '{lost}' is not in nodes.csv; add it or drop the edge.")
    edges = np.array([[index[row[end]] for _, row in links] for end in ends], dtype=np.int64)
    edges = np.concatenate([edges, edges[::-1]], axis=1)
    graphs, names = _cut(str(edge_file), x, y, edges, np.array(owner), list(index))
    return OwnGraphs(graphs, names, classes, feature_names)


def read_tud(folder: Path, prefix: str, known: list[str] | None) -> OwnGraphs:
    """``prefix_A.txt`` and so on; ids of graphs and nodes count from 1, labels may be any text."""

    def table(kind: str, width: int | None, length: int | None = None) -> Floats:
        file = folder / f"{prefix}_{kind}.txt"
        rows = [row for row in _rows(file) if row[1]]
        _even(file, rows, width or len(rows[0][1]))
        if length not in (None, len(rows)):
            raise UserError(f"The file {file} has {len(rows)} rows, one per node ({length}) is expected.")
        return _numbers([row for _, row in rows], lambda row, col: f"{file}, line {rows[row][0]}, column {col + 1}")

    indicator = table("graph_indicator", 1)[:, 0]
    nodes = len(indicator)
    edges = table("A", 2).T
    lost = edges[(edges < 1) | (edges > nodes) | (edges % 1 != 0)]
    if len(lost):
        raise UserError(f"In {folder / prefix}_A.txt: an edge names node {lost[0]:g}, nodes are numbered 1 to {nodes}.")
    attributes = (folder / f"{prefix}_node_attributes.txt").exists()
    x = table("node_attributes", None, nodes) if attributes else np.ones((nodes, 0))
    y, classes = torch.full((nodes,), UNLABELLED), known or []
    file = folder / f"{prefix}_node_labels.txt"
    if file.exists():
        rows = _rows(file)
        while len(rows) > nodes and not rows[-1][1]:  # blank lines at the end of the file
            rows.pop()
        if len(rows) != nodes:
            raise UserError(f"The file {file} has {len(rows)} rows, one per node ({nodes}) is expected.")
        _even(file, [row for row in rows if row[1]], 1)
        y, classes = _labels([row[0] if row else "" for _, row in rows], known, str(file))
    owner = np.unique(indicator, return_inverse=True)[1].reshape(-1)
    names = [str(n) for n in range(1, nodes + 1)]
    graphs, graph_names = _cut(f"{folder / prefix}_A.txt", x, y, edges.astype(np.int64) - 1, owner, names)
    return OwnGraphs(graphs, graph_names, classes, [str(i) for i in range(x.shape[1])])


def read_graphml(path: Path, known: list[str] | None) -> OwnGraphs:
    """One graph; defaults of attributes are filled in, which NetworkX leaves to its callers."""
    try:
        root = ElementTree.parse(path).getroot()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of details that do not matter here, such as ports
            graph = nx.read_graphml(path)
        values: list[dict[str, Any]] = [{**graph.graph["node_default"], **data} for _, data in graph.nodes(data=True)]
    except OSError:
        raise
    except Exception as error:  # a malformed file can provoke any
        raise UserError(f"The file {path} is not valid GraphML ({error}); write it again.") from error
    if len(root.findall("{*}graph")) > 1:
        raise UserError(f"The file {path} holds several graphs, one is expected; use nodes.csv with a column 'graph'.")
    # NetworkX quietly merges nodes of the same name and adds the nodes that only edges name.
    declared = Counter(str(node.get("id")) for node in root.findall(".//{*}node"))
    index = {name: i for i, name in enumerate(graph.nodes)}
    for name, count in declared.items():
        if count > 1:
            raise UserError(f"In {path}: {count} nodes are named '{name}'; names must differ.")
        if name not in index:
            raise UserError(f"In {path}: the node '{name}' belongs to a graph within the graph; flatten it.")
    for name in index:
        if name not in declared:
            raise UserError(f"In {path}: an edge names the node '{name}', which is not there; add it or drop the edge.")
    if not index:
        raise UserError(f"In {path}: the graph has no nodes; add some.")

    attributes = list(dict.fromkeys(name for data in values for name in data))
    label = next((a for name in ("label", "y", "class") for a in attributes if a.lower() == name), None)
    # An empty element is a missing value, whatever the type.
    given = {name: [data[name] for data in values if data.get(name) not in ("", None)] for name in attributes}
    features = [a for a in attributes if a != label and given[a] and all(isinstance(v, int | float) for v in given[a])]
    cells = [[_text(data.get(name)) for name in features] for data in values]
    names = list(index)
    x = _numbers(cells, lambda row, column: f"{path}, attribute '{features[column]}' of node '{names[row]}'")
    y, classes = _labels(["" if label is None else _text(data.get(label)) for data in values], known, str(path))
    edges = np.array([[index[u], index[v]] for u, v in graph.edges()], dtype=np.int64).reshape(-1, 2).T
    if not graph.is_directed():
        edges = np.concatenate([edges, edges[::-1]], axis=1)
    graphs, node_names = _cut(str(path), x, y, edges, np.zeros(len(names), dtype=np.int64), names)
    return OwnGraphs(graphs, node_names, classes, features)


def _text(value: Any) -> str:
    """A value of an attribute as a table would have it; truth values are 0 and 1."""
    return "" if value is None else str(int(value) if isinstance(value, bool) else value).strip()
