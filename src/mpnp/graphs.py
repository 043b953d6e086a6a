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
    for key, rows in (("edge_type", edge_index.size(1)), ("pos", nodes)):
        value = graph.get(key)
        if value is not None and value.size(0) != rows:
            raise UserError(f"In {name}: {key} has {value.size(0)} rows, {rows} are expected.")
    if y is not None:
        if y.shape != (nodes,):
            raise UserError(f"In {name}: y has shape {list(y.shape)}, one label per node ([{nodes}]) is expected.")
        if y.is_floating_point() or int(y.min()) < UNLABELLED:
            raise UserError(
                f"In {name}: labels must be whole numbers 0, 1, 2, … with {UNLABELLED} for 'unlabelled', "
                f"but {y.min().item()} was given."
            )


@dataclass
class GraphSet:
    """Many graphs in one block-diagonal store.

    Any subset comes out as one batch without a loop over its graphs, with the adjacency sorted and ready for sparse
    products.

    Shapes: ``x`` [N, F], ``y`` [N] (-1 where unlabelled), ``edge_index`` [2, E] sorted by target, numbered through the
    whole store, ``ptr`` and ``edge_ptr`` [B + 1] the offsets of each graph's nodes and edges; ``extra`` per-node
    tensors [N, …] such as positions, ``edge_type`` [E]; ``undirected`` (found out if not given) lets the backward pass of
    message passing use the adjacency as its own transpose.
    """

    x: Tensor
    y: Tensor
    edge_index: Tensor
    ptr: Tensor
    edge_type: Tensor | None = None
    extra: dict[str, Tensor] = field(default_factory=dict)
    undirected: bool | None = None
    edge_ptr: Tensor = field(init=False)

    def __post_init__(self) -> None:
        source, target = self.edge_index
        rising = target.diff() > 0
        if not (rising | ((target[1:] == target[:-1]) & (source.diff() >= 0))).all():
            order = (target * self.num_nodes + source).argsort(stable=True)
            self.edge_index = self.edge_index[:, order]
            self.edge_type = None if self.edge_type is None else self.edge_type[order]
        if self.undirected is None:
            source, target = self.edge_index
            reverse = (source * self.num_nodes + target).sort().values
            self.undirected = self.edge_type is None and torch.equal(target * self.num_nodes + source, reverse)
        self.edge_ptr = torch.searchsorted(self.edge_index[1].contiguous(), self.ptr)

    @classmethod
    def from_data_list(cls, graphs: Sequence[Data]) -> GraphSet:
        """Pack PyG graphs (``x``, ``edge_index``, optional ``y``, ``edge_type``, ``pos``); each is checked."""
        if not graphs:
            raise UserError("No graph was given; at least one is expected.")
        for i, graph in enumerate(graphs):
            check_graph(graph, f"graph {i}")
            if graph.x.size(1) != graphs[0].x.size(1):
                raise UserError(
                    f"Graph {i} has {graph.x.size(1)} features per node, graph 0 has {graphs[0].x.size(1)}; "
                    "all graphs of a set need the same."
                )
        sizes = torch.tensor([g.x.size(0) for g in graphs])
        ptr = torch.zeros(len(graphs) + 1, dtype=torch.long)
        ptr[1:] = sizes.cumsum(0)
        typed = all(g.get("edge_type") is not None for g in graphs)
        if not typed and any(g.get("edge_type") is not None for g in graphs):
            raise UserError("Some graphs have an edge_type and some have none; give it to all of them or to none.")
        unlabelled = [torch.full((int(n),), UNLABELLED) for n in sizes]
        return cls(
            x=torch.cat([g.x.float() for g in graphs]),
            y=torch.cat([u if g.y is None else g.y.long() for g, u in zip(graphs, unlabelled, strict=True)]),
            edge_index=torch.cat([plain_edges(g.edge_index) + o for g, o in zip(graphs, ptr, strict=False)], 1),
            ptr=ptr,
            edge_type=torch.cat([g.edge_type for g in graphs]) if typed else None,
            extra={"pos": torch.cat([g.pos for g in graphs])} if all(g.pos is not None for g in graphs) else {},
        )

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
            undirected=self.undirected,
            extra={name: data[name] for name in self.extra},
        )


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
