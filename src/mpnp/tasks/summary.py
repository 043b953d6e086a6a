"""What was read of a user's graphs, in numbers and sentences."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from torch_geometric.data import Data

from ..graphs import UNLABELLED
from .formats import OwnGraphs

WORDS = {  # of one, of several
    "number": ("number", "numbers"),
    "truth": ("truth value", "truth values"),
    "category": ("category (one-hot)", "categories (one-hot)"),
    "missing": ("flag of missing values", "flags of missing values"),
    "constant": ("constant", "constants"),
}
SHOWN = 12  # classes that are listed one by one


@dataclass(frozen=True)
class Summary:
    """Sizes, labels, features and what was inferred.

    ``edges``: pairs of nodes, counted once where edges go both ways; ``components``: pieces that no edge joins;
    ``isolated``: nodes without an edge to another; ``classes``: labelled nodes per class; ``homophily``: of the edges between
    two labelled nodes, the share that joins the same class, ``None`` if there is no such edge; ``features``: columns per kind.
    """

    where: str
    graphs: int
    nodes: int
    edges: int
    directed: bool
    weighted: bool
    edge_types: tuple[str, ...]
    components: int
    isolated: int
    labelled: int
    classes: dict[str, int]
    homophily: float | None
    features: dict[str, int]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "edge_types": list(self.edge_types), "notes": list(self.notes)}

    def __str__(self) -> str:
        edges = [f"{self.edges:,} {'directed' if self.directed else 'undirected'}"]
        edges += ["weighted"] * self.weighted + [f"{len(self.edge_types)} types"] * bool(self.edge_types)
        counts = sorted(self.classes.items(), key=lambda item: -item[1])
        classes = ", ".join(f"{name} {count:,}" for name, count in counts[:SHOWN])
        classes += f" and {len(counts) - SHOWN} more" if len(counts) > SHOWN else ""
        homophily = (
            "unknown" if self.homophily is None else f"{100 * self.homophily:.0f} % of edges join the same class"
        )
        rows = {
            "graphs": f"{self.graphs:,}",
            "nodes": f"{self.nodes:,}, {self.isolated:,} of them isolated",
            "edges": ", ".join(edges),
            "components": f"{self.components:,}",
            "labelled": f"{self.labelled:,} of {self.nodes:,} nodes",
            "classes": f"{len(counts)}: {classes}" if counts else "none",
            "homophily": homophily,
            "features": ", ".join(f"{count:,} {WORDS[kind][count > 1]}" for kind, count in self.features.items()),
        }
        lines = [self.where, *(f"  {name:<11} {text}" for name, text in rows.items())]
        return "\n".join([*lines, *(f"  - {note}" for note in self.notes)])


def summary(own: OwnGraphs) -> Summary:
    """What was read, inferred, imputed and ignored."""
    counts: Counter[int] = Counter()
    edges = components = isolated = same = between = 0
    for graph in own.graphs:
        source, target = _pairs(graph)
        nodes = graph.y.numel()
        adjacency = coo_array((np.ones(len(source)), (source, target)), shape=(nodes, nodes))
        components += int(connected_components(adjacency, directed=False)[0])
        apart = source != target
        isolated += nodes - len(np.unique(np.concatenate([source[apart], target[apart]])))
        edges += len(source)
        y = graph.y.numpy()
        known = apart & (y[source] != UNLABELLED) & (y[target] != UNLABELLED)
        same, between = same + int((y[source] == y[target])[known].sum()), between + int(known.sum())
        counts.update(y[y != UNLABELLED].tolist())
    return Summary(
        where=own.where,
        graphs=len(own.graphs),
        nodes=sum(graph.y.numel() for graph in own.graphs),
        edges=sum(graph.edge_index.size(1) for graph in own.graphs) if own.directed else edges,
        directed=own.directed,
        weighted=any(graph.get("edge_weight") is not None for graph in own.graphs),
        edge_types=tuple(own.edge_type_names),
        components=components,
        isolated=isolated,
        labelled=counts.total(),
        classes={name: counts[i] for i, name in enumerate(own.class_names)},
        homophily=same / between if between else None,
        features=dict(Counter(own.feature_kinds)),
        notes=tuple(own.notes),
    )


def _pairs(graph: Data) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The two ends of every pair of joined nodes, each pair once."""
    nodes, edges = graph.y.numel(), graph.edge_index.numpy()
    low, high = np.divmod(np.unique(edges.min(0) * nodes + edges.max(0)), nodes)
    return low, high
