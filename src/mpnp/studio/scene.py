"""What is on the table: one graph with names, places to draw it at, and the Python lines that make it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from ..errors import UserError
from ..graphs import UNLABELLED, plain_edges
from ..plots.places import Floats, Ints, place
from ..tasks.own import OwnGraphs, as_graphs, load_graphs

Kind = Literal["graph", "board", "cloud"]
AXES = (("x", "y", "z"), ("lon", "lat"), ("longitude", "latitude"), ("pos_x", "pos_y", "pos_z"))
MOST_NODES = 1_000_000  # beyond it a browser has nothing to say


@dataclass
class Scene:
    """A graph to label.

    Shapes: ``data`` a PyG ``Data`` with ``x`` [N, F], ``edge_index`` [2, E] and ``y`` [N], -1 where unlabelled; ``places``
    [N, 2] or [N, 3]; ``truth`` [N], known of examples alone. ``recipe``: Python lines after which ``data`` and ``names``
    are this graph.
    """

    title: str
    data: Data
    names: list[str]
    class_names: list[str]
    feature_names: list[str]
    places: Floats
    recipe: str
    kind: Kind = "graph"
    truth: Tensor | None = None

    @property
    def nodes(self) -> int:
        return int(self.data.x.size(0))

    @property
    def edges(self) -> Ints:
        """Each edge once whatever its direction, no loops, [e, 2]."""
        source, target = plain_edges(self.data.edge_index).numpy()
        pairs = np.sort(np.stack([source, target], 1)[source != target], axis=1)
        return np.unique(pairs, axis=0)

    @property
    def identity(self) -> str:
        """The same for the same nodes and edges: labels of one graph are not taken for those of another."""
        digest = hashlib.sha256("\n".join(self.names).encode())
        digest.update(np.ascontiguousarray(self.edges).tobytes())
        return digest.hexdigest()[:16]


def from_file(path: str | Path, class_names: Sequence[str] | None = None, **reading: Any) -> Scene:
    """The graphs of a file, of any kind that :func:`mpnp.tasks.own.load_graphs` reads, as one; ``reading``: in what way."""
    own, whole = load_graphs(Path(path), class_names, **reading), Path(path).resolve()
    how = "".join(f", {name}={value!r}" for name, value in reading.items())
    recipe = (
        "from mpnp.studio.scene import from_file\n\n"
        f"scene = from_file({str(whole)!r}{how})\ndata, names = scene.data, scene.names\n"
    )
    return _scene(whole.stem if whole.name != "nodes.csv" else whole.parent.name, own, recipe)


def from_graph(graph: Any) -> Scene:
    """What a notebook has at hand: a path, a PyG ``Data``, a NetworkX graph and whatever else :func:`as_graphs` takes."""
    if isinstance(graph, str | Path):
        return from_file(graph)
    if isinstance(graph, Data) and graph.x is None and graph.num_nodes:
        graph = graph.clone()
        graph.x = torch.ones(graph.num_nodes, 1)
    own = as_graphs(graph)
    seat = graph.get("pos") if isinstance(graph, Data) else None
    if seat is not None:
        own.graphs[0].pos = seat
    return _scene("graph", own, _given())


def _given() -> str:
    return "# data: your PyG graph; names: one for each of its nodes\nnames = [str(i) for i in range(data.num_nodes)]\n"


def _scene(title: str, own: OwnGraphs, recipe: str) -> Scene:
    data = _union(own.graphs)
    several = len(own.graphs) > 1
    names = [f"{i}/{name}" if several else name for i, graph in enumerate(own.node_names) for name in graph]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(f"Two nodes are named '{twice}'; names must differ, as labels are kept by them.")
    if len(names) > MOST_NODES:
        raise UserError(f"The graph has {len(names):,} nodes, up to {MOST_NODES:,} can be shown; give a part of it.")
    seat = _own_places(data, own.feature_names)
    edges = plain_edges(data.edge_index).numpy()
    return Scene(title, data, names, list(own.class_names), list(own.feature_names), place(edges, len(names), seat),
                 recipe, "cloud" if seat is not None and seat.shape[1] == 3 else "graph")  # fmt: skip


def _union(graphs: Sequence[Data]) -> Data:
    """Several graphs side by side, as one ``Data`` of plain tensors."""
    start, x, edges, y, pos, weight = 0, [], [], [], [], []
    for graph in graphs:
        x.append(graph.x.float())
        weight.append(graph.get("edge_weight"))
        edges.append(plain_edges(graph.edge_index) + start)
        y.append(torch.full((graph.x.size(0),), UNLABELLED) if graph.y is None else graph.y.long())
        pos.append(graph.get("pos"))
        start += graph.x.size(0)
    union = Data(x=torch.cat(x), edge_index=torch.cat(edges, 1), y=torch.cat(y))
    if len(graphs) == 1 and pos[0] is not None:
        union.pos = pos[0]
    if all(one is not None for one in weight):
        union.edge_weight = torch.cat(weight)
    return union


def _own_places(data: Data, feature_names: Sequence[str]) -> Floats | None:
    """Coordinates in ``pos``, or in features that are called like coordinates."""
    pos = data.get("pos")
    if pos is not None and pos.dim() == 2 and pos.size(1) in (2, 3):
        return pos.double().numpy()
    lower = [name.lower() for name in feature_names]
    for axes in AXES:
        found = [lower.index(axis) for axis in axes if axis in lower]
        if len(found) >= 2 and all(axis in lower for axis in axes[:2]):
            return data.x[:, found].double().numpy()
    return None
