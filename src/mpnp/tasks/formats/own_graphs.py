"""What reading a user's graphs gives, and how: graphs, names, and sentences on what was inferred."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from ...errors import UserError

Ints = NDArray[np.int64]
Floats = NDArray[np.floating]
FeatureKind = Literal["number", "truth", "category", "missing", "constant"]

NO_LABELS = "There is no column of labels (label, class or target, unless you name another); all nodes are unlabelled."
MAX_CLASSES = 10_000  # beyond it a label is an identifier, not a class
MAX_NUMBERS = 2**29  # in a table of features: 2 GiB


@dataclass
class OwnGraphs:
    """``graphs`` with the user's own names, and what was made of the source on the way.

    Each graph has ``x`` [N, F] float, ``edge_index`` [2, E], ``y`` [N] with -1 for unlabelled and, where the source has
    them, ``edge_weight`` [E] and ``edge_type`` [E].

    ``node_names`` per graph, ``class_names`` per label, ``feature_names`` and ``feature_kinds`` per column of ``x``,
    ``edge_type_names`` per edge type; '0', '1', … where the source has no names. ``directed``: whether some edge goes one
    way only. ``notes``: sentences on what was inferred, imputed and ignored. ``where``: the source, as sentences name it.
    """

    graphs: list[Data]
    node_names: list[list[str]]
    class_names: list[str]
    feature_names: list[str]
    feature_kinds: list[FeatureKind] = field(default_factory=list)
    edge_type_names: list[str] = field(default_factory=list)
    directed: bool = False
    notes: list[str] = field(default_factory=list)
    where: str = "the graphs"

    def __post_init__(self) -> None:
        if len(self.feature_kinds) != len(self.feature_names):
            self.feature_kinds = ["number"] * len(self.feature_names)

    def __repr__(self) -> str:
        nodes, labelled = sum(g.y.numel() for g in self.graphs), sum(int((g.y >= 0).sum()) for g in self.graphs)
        sizes = f"graphs={len(self.graphs)}, nodes={nodes}, labelled={labelled}, classes={len(self.class_names)}"
        return f"OwnGraphs({sizes}, features={len(self.feature_names)}, notes={len(self.notes)})"


@dataclass(frozen=True)
class Choices:
    """What a caller may say about how to read; ``None`` leaves it to the source.

    ``class_names`` and ``feature_names`` fix the numbering of classes and the order of features, so that a source agrees
    with a trained model. ``label_column``: the column of labels. ``directed``: whether the direction of edges counts.
    ``ignore``: columns to leave out. ``more_classes``: labels may be others than ``class_names``, which they follow.
    """

    class_names: Sequence[str] | None = None
    feature_names: Sequence[str] | None = None
    label_column: str | None = None
    directed: bool | None = None
    ignore: Sequence[str] = ()
    more_classes: bool = False


@dataclass
class Edges:
    """Edges between nodes that are numbered through: ``ends`` [2, E], and per edge a weight and the number of a type."""

    ends: Ints
    weight: Floats | None = None
    kind: Ints | None = None
    kind_names: list[str] = field(default_factory=list)

    def both_ways(self, nodes: int) -> Edges:
        """Every edge and its reverse; as they are if they come in pairs of the same weight already."""
        source, target = self.ends
        kinds = 1 if self.kind is None else len(self.kind_names)
        kind = 0 if self.kind is None else self.kind
        forth, back = ((a * nodes + b) * kinds + kind for a, b in ((source, target), (target, source)))
        if self.weight is not None:
            one, other = np.lexsort((self.weight, forth)), np.lexsort((self.weight, back))
            if np.array_equal(forth[one], back[other]) and np.array_equal(self.weight[one], self.weight[other]):
                return self
        turned = source != target  # the reverse of a loop is the loop itself
        return Edges(
            np.concatenate([self.ends, self.ends[::-1, turned]], axis=1),
            None if self.weight is None else np.concatenate([self.weight, self.weight[turned]]),
            None if self.kind is None else np.concatenate([self.kind, self.kind[turned]]),
            self.kind_names,
        )

    def merged(self, nodes: int) -> Edges:
        """Sorted by source, then target, then type; of repeated edges one is left, with the sum of their weights."""
        kinds = 1 if self.kind is None else len(self.kind_names)
        key = (self.ends[0] * nodes + self.ends[1]) * kinds + (0 if self.kind is None else self.kind)
        weight: Floats | None = None
        if self.weight is None:
            key = np.sort(key)  # which np.unique, by hashing, takes ten times as long for
            key = key[_new(key)]
        else:
            order = np.argsort(key, kind="stable")
            key, first = key[order], _new(key[order])
            total = np.bincount(np.cumsum(first) - 1, self.weight[order], minlength=int(first.sum()))
            key, weight = key[first], total.astype(np.float64)
        pair, kind = np.divmod(key, kinds)
        ends = np.stack(np.divmod(pair, max(nodes, 1)))
        return Edges(ends, weight, None if self.kind is None else kind, self.kind_names)


def _new(rising: Ints) -> NDArray[np.bool_]:
    """Where a rising row of numbers has another than before, [n]."""
    return np.concatenate([[True], rising[1:] != rising[:-1]])[: len(rising)]


def cut(
    where: str, x: Floats, y: Tensor, edges: Edges, owner: Ints, names: list[str]
) -> tuple[list[Data], list[list[str]]]:
    """One table of nodes and their edges as a graph per value of ``owner`` [N]; edges sorted, repeated ones merged."""
    across = np.flatnonzero(owner[edges.ends[0]] != owner[edges.ends[1]])
    if len(across):
        source, target = edges.ends[:, across[0]]
        raise UserError(f"In {where}: the edge '{names[source]}', '{names[target]}' joins two graphs; remove it.")
    order = np.argsort(owner, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    ptr = np.concatenate([[0], np.bincount(owner).cumsum()])
    edges = Edges(rank[edges.ends], edges.weight, edges.kind, edges.kind_names).merged(len(order))
    edge_ptr = np.searchsorted(edges.ends[0], ptr)
    fields = {"edge_index": torch.from_numpy(edges.ends)}
    if edges.weight is not None:
        fields["edge_weight"] = torch.from_numpy(edges.weight).float()
    if edges.kind is not None:
        fields["edge_type"] = torch.from_numpy(edges.kind)
    x_sorted, y_sorted = torch.from_numpy(x[order]).float(), y[torch.from_numpy(order)]
    graphs, graph_names = [], []
    for i in range(len(ptr) - 1):
        nodes, inside = slice(int(ptr[i]), int(ptr[i + 1])), slice(int(edge_ptr[i]), int(edge_ptr[i + 1]))
        graph = Data(x=x_sorted[nodes], y=y_sorted[nodes])
        graph.update({name: value[..., inside] for name, value in fields.items()})
        graph.edge_index = graph.edge_index - nodes.start
        graphs.append(graph)
        graph_names.append([names[n] for n in order[nodes]])
    return graphs, graph_names


def lacks_reverse(graphs: Sequence[Data]) -> bool:
    """Whether an edge of some graph lacks its reverse."""
    for graph in graphs:
        source, target = graph.edge_index
        n = graph.y.numel()
        if not torch.equal((source * n + target).unique(), (target * n + source).unique()):
            return True
    return False


def check_size(nodes: int, columns: int, where: str) -> None:
    """Refuse a table of features that would not fit, before it is made."""
    if nodes * columns > MAX_NUMBERS:
        raise UserError(
            f"In {where}: {columns:,} features of {nodes:,} nodes make {nodes * columns:,} numbers, at most "
            f"{MAX_NUMBERS:,} are read; give fewer columns, or fewer categories in them."
        )
