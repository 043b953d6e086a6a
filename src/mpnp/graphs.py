"""Graphs, checked and packed: the store from which every episode is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch_geometric import EdgeIndex
from torch_geometric.data import Data

from .errors import UserError

UNLABELLED = -1


def check_graph(graph: Data, name: str = "the graph") -> None:
    """Raise a :class:`UserError` unless ``graph`` has finite features, edges between its own nodes and valid labels."""
    x, edge_index, y = graph.x, graph.edge_index, graph.y
    if x is None or x.dim() != 2:
        shape = "no x" if x is None else f"x of shape {list(x.shape)}"
        raise UserError(f"In {name}: {shape} was given, node features [nodes, features] are expected.")
    nodes = x.size(0)
    if nodes == 0:
        raise UserError(f"In {name}: the graph has no nodes; remove it or give it at least one.")
    if not torch.isfinite(x).all():
        row, column = (~torch.isfinite(x)).nonzero()[0].tolist()
        raise UserError(
            f"In {name}: feature {column} of node {row} is {x[row, column].item()}, a finite number is expected; "
            "fill in or drop such values."
        )
    if edge_index is None or edge_index.dim() != 2 or edge_index.size(0) != 2:
        raise UserError(f"In {name}: an edge_index of shape [2, edges] is expected.")
    if edge_index.numel():
        if edge_index.is_floating_point():
            raise UserError(f"In {name}: edge_index holds {edge_index.dtype} values, whole node numbers are expected.")
        low, high = int(edge_index.min()), int(edge_index.max())
        if low < 0 or high >= nodes:
            bad = low if low < 0 else high
            raise UserError(f"In {name}: an edge names node {bad}, but the nodes are numbered 0 to {nodes - 1}.")
    for key, rows in (("edge_type", edge_index.size(1)), ("edge_weight", edge_index.size(1)), ("pos", nodes)):
        value = graph.get(key)
        if value is not None and (value.dim() == 0 or value.size(0) != rows):
            given = "no" if value.dim() == 0 else value.size(0)
            raise UserError(f"In {name}: {key} has {given} rows, {rows} are expected.")
    if graph.get("edge_weight") is not None:
        _check_weights(graph.edge_weight, name)
    if y is not None:
        if y.shape != (nodes,):
            raise UserError(f"In {name}: y has shape {list(y.shape)}, one label per node ([{nodes}]) is expected.")
        if y.is_floating_point() or int(y.min()) < UNLABELLED:
            raise UserError(
                f"In {name}: labels must be whole numbers 0, 1, 2, … with {UNLABELLED} for 'unlabelled', "
                f"but {y.min().item()} was given."
            )


def all_sound(graphs: Sequence[Data]) -> bool:
    """Whether :func:`check_graph` has nothing to say of many graphs, looked at all at once; ``False``: look one by one."""
    try:
        fields = [(g.x, plain_edges(g.edge_index), g.y, g.get("edge_weight"), g.get("edge_type")) for g in graphs]
        shaped = all(
            x.dim() == 2
            and x.size(0) > 0
            and edges.dim() == 2
            and edges.size(0) == 2
            and y.shape == (x.size(0),)
            and (weight is None or weight.shape == (edges.size(1),))
            and (kind is None or kind.shape == (edges.size(1),))
            for x, edges, y, weight, kind in fields
        )
        whole = [not g.edge_index.is_floating_point() and not g.y.is_floating_point() for g in graphs]
        if not shaped or not all(whole) or any(g.get("pos") is not None for g in graphs):
            return False
        x, edges, y = (torch.cat([row[i] for row in fields], dim) for i, dim in ((0, 0), (1, 1), (2, 0)))
        size = torch.tensor([row[0].size(0) for row in fields]).repeat_interleave(
            torch.tensor([row[1].size(1) for row in fields])
        )
        weights = [row[3] for row in fields if row[3] is not None]
        for weight in [torch.cat(weights)] if weights else []:
            if not bool((torch.isfinite(weight) & (weight >= 0)).all()):
                return False
        inside = bool(((edges >= 0) & (edges < size)).all())
        return inside and int(y.min()) >= UNLABELLED and bool(torch.isfinite(x).all())
    except (AttributeError, RuntimeError, TypeError):  # a field that is missing, or of another kind or width
        return False


def _check_weights(weight: Tensor, name: str) -> None:
    if weight.dim() != 1:
        raise UserError(f"In {name}: edge_weight has shape {list(weight.shape)}, one number per edge is expected.")
    bad = (~(torch.isfinite(weight) & (weight >= 0))).nonzero().flatten()
    if bad.numel():
        raise UserError(
            f"In {name}: the weight of edge {int(bad[0])} is {weight[bad[0]].item()}, a finite number that is not "
            "negative is expected; change or drop it."
        )


@dataclass(repr=False)
class GraphSet:
    """Many graphs in one block-diagonal store.

    Any subset comes out as one batch without a loop over its graphs, with the adjacency sorted and ready for sparse
    products.

    Shapes: ``x`` [N, F], ``y`` [N] (-1 where unlabelled), ``edge_index`` [2, E] sorted by target, numbered through the
    whole store, ``ptr`` and ``edge_ptr`` [B + 1] the offsets of each graph's nodes and edges; ``extra`` per-node
    tensors [N, …] such as positions, ``edge_type`` [E], ``edge_weight`` [E] (finite, not negative); ``undirected`` (found
    out if not given) lets the backward pass of message passing use the adjacency as its own transpose.
    """

    x: Tensor
    y: Tensor
    edge_index: Tensor
    ptr: Tensor
    edge_type: Tensor | None = None
    extra: dict[str, Tensor] = field(default_factory=dict)
    undirected: bool | None = None
    edge_weight: Tensor | None = None
    edge_ptr: Tensor = field(init=False)

    def __post_init__(self) -> None:
        order = _order_by_target(self.edge_index, self.num_nodes)
        if order is not None:
            self.edge_index = self.edge_index[:, order]
            self.edge_type = None if self.edge_type is None else self.edge_type[order]
            self.edge_weight = None if self.edge_weight is None else self.edge_weight[order]
        if self.undirected is None:
            # Types of the two directions may differ.
            self.undirected = self.edge_type is None and _symmetric(self.edge_index, self.edge_weight, self.num_nodes)
        self.edge_ptr = torch.searchsorted(self.edge_index[1].contiguous(), self.ptr)

    @classmethod
    def from_data_list(cls, graphs: Sequence[Data]) -> GraphSet:
        """Pack PyG graphs (``x``, ``edge_index``, optional ``y``, ``edge_type``, ``edge_weight``, ``pos``), checked."""
        if not graphs:
            raise UserError("No graph was given; at least one is expected.")
        for i, graph in enumerate([] if all_sound(graphs) else graphs):
            check_graph(graph, f"graph {i}")
            if graph.x.size(1) != graphs[0].x.size(1):
                raise UserError(
                    f"Graph {i} has {graph.x.size(1)} features per node, graph 0 has {graphs[0].x.size(1)}; "
                    "all graphs of a set need the same."
                )
        sizes = torch.tensor([g.x.size(0) for g in graphs])
        ptr = torch.zeros(len(graphs) + 1, dtype=torch.long)
        ptr[1:] = sizes.cumsum(0)
        typed, weighted = _all_have("edge_type", graphs), _all_have("edge_weight", graphs)
        unlabelled = [torch.full((int(n),), UNLABELLED) for n in sizes]
        return cls(
            x=torch.cat([g.x.float() for g in graphs]),
            y=torch.cat([u if g.y is None else g.y.long() for g, u in zip(graphs, unlabelled, strict=True)]),
            edge_index=torch.cat([plain_edges(g.edge_index) + o for g, o in zip(graphs, ptr, strict=False)], 1),
            ptr=ptr,
            edge_type=torch.cat([g.edge_type for g in graphs]) if typed else None,
            edge_weight=torch.cat([g.edge_weight.float() for g in graphs]) if weighted else None,
            extra={"pos": torch.cat([g.pos for g in graphs])} if all(g.pos is not None for g in graphs) else {},
        )

    def __repr__(self) -> str:
        optional = {"edge_type": self.edge_type, "edge_weight": self.edge_weight, **self.extra}
        carried = "".join(f", {name}" for name, value in optional.items() if value is not None)
        sizes = f"graphs={len(self)}, nodes={self.num_nodes}, features={self.num_features}"
        return f"{type(self).__name__}({sizes}{carried})"

    def _repr_html_(self) -> str:
        """Sizes as a row, in a notebook; no tensor is written out."""
        labelled = int((self.y != UNLABELLED).sum())
        row = {
            "graphs": len(self),
            "nodes": self.num_nodes,
            "edges": self.edge_index.size(1),
            "labelled nodes": labelled,
        }
        row["features"] = self.num_features
        head = "".join(f"<th>{name}</th>" for name in row)
        body = "".join(f"<td>{value:,}</td>" for value in row.values())
        return f"<table><caption>{type(self).__name__}</caption><tr>{head}</tr><tr>{body}</tr></table>"

    def __len__(self) -> int:
        return self.ptr.numel() - 1

    @property
    def num_nodes(self) -> int:
        return self.x.size(0)

    @property
    def num_features(self) -> int:
        return self.x.size(1)

    @property
    def sizes(self) -> Tensor:
        """Nodes per graph, [B]."""
        return self.ptr.diff()

    def select(self, index: Tensor) -> Data:
        """The graphs ``index`` as one block-diagonal PyG ``Data`` with ``batch``, ``ptr`` and a cached ``EdgeIndex``."""
        nodes, ptr, batch = _gather(self.ptr, index)
        edges, _, edge_batch = _gather(self.edge_ptr, index)
        shift = (ptr[:-1] - self.ptr[index])[edge_batch]
        data = Data(
            x=self.x[nodes],
            y=self.y[nodes],
            edge_index=EdgeIndex(
                self.edge_index[:, edges] + shift,
                sparse_size=(nodes.numel(), nodes.numel()),
                sort_order="col",
                is_undirected=self.undirected,
            ),
            batch=batch,
            ptr=ptr,
            **{name: value[nodes] for name, value in self.extra.items()},
        )
        if self.edge_type is not None:
            data.edge_type = self.edge_type[edges]
        if self.edge_weight is not None:
            data.edge_weight = self.edge_weight[edges]
        return data

    def subset(self, index: Tensor) -> GraphSet:
        """The graphs ``index`` as a store of their own."""
        data = self.select(index)
        return GraphSet(
            x=data.x,
            y=data.y,
            edge_index=plain_edges(data.edge_index),
            ptr=data.ptr,
            edge_type=data.get("edge_type"),
            edge_weight=data.get("edge_weight"),
            undirected=self.undirected,
            extra={name: data[name] for name in self.extra},
        )


def cut(graph: Data, first: int, last: int) -> Data:
    """The graphs ``first`` to ``last - 1`` of a block-diagonal batch, with every field of their nodes and edges."""
    start, end = int(graph.ptr[first]), int(graph.ptr[last])
    every = plain_edges(graph.edge_index)
    inside = ((every[1] >= start) & (every[1] < end)).nonzero().flatten()
    order = _order_by_target(every[:, inside], graph.num_nodes)
    inside = inside if order is None else inside[order]
    data = Data()
    for name in sorted(set(graph.keys()) - {"edge_index", "batch", "ptr"}):
        if graph.is_edge_attr(name):
            data[name] = graph[name][inside]
        elif graph.is_node_attr(name):
            data[name] = graph[name][start:end]
    edges, undirected = every[:, inside] - start, getattr(graph.edge_index, "is_undirected", None)
    if undirected is None:
        undirected = data.get("edge_type") is None and _symmetric(edges, data.get("edge_weight"), end - start)
    data.edge_index = EdgeIndex(
        edges, sparse_size=(end - start, end - start), sort_order="col", is_undirected=undirected
    )
    data.batch, data.ptr = graph.batch[start:end] - first, graph.ptr[first : last + 1] - start
    return data


def plain_edges(edge_index: Tensor) -> Tensor:
    """The edges [2, E] as an ordinary tensor of whole numbers."""
    # as_subclass(Tensor) would leave an EdgeIndex what it is. No edges at all are often torch.empty(2, 0), a float.
    return (edge_index.as_tensor() if isinstance(edge_index, EdgeIndex) else edge_index).long()


def _gather(ptr: Tensor, index: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of the segments ``index`` of a store with offsets ``ptr``: (rows, offsets after the gather, segment of each row)."""
    sizes = ptr[index + 1] - ptr[index]
    offsets = torch.zeros(index.numel() + 1, dtype=torch.long)
    offsets[1:] = sizes.cumsum(0)
    segment = torch.repeat_interleave(torch.arange(index.numel()), sizes)
    rows = torch.arange(int(offsets[-1])) + (ptr[index] - offsets[:-1])[segment]
    return rows, offsets, segment


def _order_by_target(edge_index: Tensor, nodes: int) -> Tensor | None:
    """The order that sorts edges by target, then by source; ``None`` if they are sorted already."""
    source, target = edge_index
    if ((target.diff() > 0) | ((target[1:] == target[:-1]) & (source.diff() >= 0))).all():
        return None
    return (target * nodes + source).argsort(stable=True)


def _symmetric(edge_index: Tensor, weight: Tensor | None, nodes: int) -> bool:
    """Whether every edge, sorted by target, has its reverse, of the same weight."""
    source, target = edge_index
    reverse, order = (source * nodes + target).sort(stable=True)
    return torch.equal(target * nodes + source, reverse) and (weight is None or torch.equal(weight, weight[order]))


def _all_have(name: str, graphs: Sequence[Data]) -> bool:
    """Whether the graphs have the field ``name``; refused if only some have."""
    count = sum(graph.get(name) is not None for graph in graphs)
    if 0 < count < len(graphs):
        raise UserError(f"Some graphs have an {name} and some have none; give it to all of them or to none.")
    return count > 0
