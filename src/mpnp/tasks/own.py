"""A user's own graphs, read from files and made a task that holds out graphs or, where there are few, nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor
from torch_geometric.data import Data

from ..errors import UserError
from ..graphs import UNLABELLED, GraphSet, check_graph
from .base import SPLITS, Split, Task
from .formats import OwnGraphs, read_csv, read_graphml, read_pt, read_tud

__all__ = ["OwnGraphs", "OwnTask", "load_graphs"]

KINDS = (
    "a .pt file, a .graphml file, a folder with nodes.csv and edges.csv, or a TUDataset folder with NAME_A.txt and "
    "NAME_graph_indicator.txt"
)
SHARES = (0.7, 0.1, 0.2)  # of train, val, test
FEWEST_GRAPHS = 5  # from here on whole graphs are held out
FEWEST_LABELS = 2  # an episode shows one node and predicts another


def load_graphs(path: str | Path, class_names: Sequence[str] | None = None) -> OwnGraphs:
    """Read graphs from any of the four kinds of files; whatever is wrong with them is a :class:`UserError`.

    ``class_names`` fixes the numbering of the classes, so that a file with other labels agrees with a trained model.

    - ``.pt``: a PyG ``Data``, a dict with ``x``, ``edge_index``, ``y``, or a list of these. Only tensors and PyG's data
      classes are admitted, so nothing in the file is executed.
    - TUDataset folder (files directly in it or under ``raw``): features are the node attributes alone, a blank line in
      the node labels is an unlabelled node, edges are taken as they stand, nodes are named by their number in the file.
    - ``.graphml``: numeric node attributes are features, others are ignored; ``label``, else ``y``, else ``class`` is
      the label. Undirected edges are kept in both directions, directed ones in theirs.
    - CSV: ``nodes.csv`` (first column or ``id``/``node``: unique name; ``label``; ``graph``; all others features) and
      ``edges.csv`` (``source``, ``target``, else the first two columns; the others are ignored). Edges are undirected.

    Without any feature every node has the constant 1.
    """
    path = Path(path)
    known = None if class_names is None else list(class_names)
    try:
        own = _dispatch(path, known)
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror or error}; check its permissions.") from error
    for i, graph in enumerate(own.graphs):
        where = str(path) if len(own.graphs) == 1 else f"graph {i} of {path}"
        if graph.x is not None and graph.x.dim() == 2 and graph.x.size(1) == 0:
            graph.x = torch.ones(graph.x.size(0), 1)
        check_graph(graph, where)
        if graph.x.size(1) != own.graphs[0].x.size(1):
            raise UserError(
                f"In {path}: graph {i} has {graph.x.size(1)} features per node, graph 0 has "
                f"{own.graphs[0].x.size(1)}; give all graphs the same features."
            )
    own.feature_names = own.feature_names or ["constant"]
    return own


def _dispatch(path: Path, known: list[str] | None) -> OwnGraphs:
    if not path.exists():
        raise UserError(f"There is nothing at {path}; give {KINDS}.")
    if path.is_dir():
        if (path / "nodes.csv").exists():
            return read_csv(path, known)
        for folder in (path, path / "raw"):
            adjacencies = sorted(folder.glob("*_A.txt"))
            named = [file for file in adjacencies if file.name == f"{path.resolve().name}_A.txt"]
            if len(adjacencies) > 1 and not named:
                names = ", ".join(file.name for file in adjacencies)
                raise UserError(f"The folder {folder} holds several datasets ({names}); keep one per folder.")
            if adjacencies:
                return read_tud(folder, (named or adjacencies)[0].name.removesuffix("_A.txt"), known)
        raise UserError(f"The folder {path} holds no graphs that can be read; give {KINDS}.")
    if path.stat().st_size == 0:
        raise UserError(f"The file {path} is empty; give {KINDS}.")
    if path.suffix.lower() == ".pt":
        return read_pt(path, known)
    if path.suffix.lower() == ".graphml":
        return read_graphml(path, known)
    if path.name == "nodes.csv":
        return read_csv(path.parent, known)
    raise UserError(f"The file {path} is of an unknown kind; give {KINDS}.")


@dataclass
class OwnTask(Task):
    """The graphs at ``path`` (see :func:`load_graphs`), divided 70/10/20 by ``seed``.

    With at least five graphs, each with two or more labelled nodes, whole graphs are held out. With fewer, the splits
    hold the same graphs with different labelled nodes: a label kept in one split is hidden (-1) in the others, so none
    that is tested on was trained on. Graphs with fewer than two labels in a split are left out of it.
    """

    path: Path
    seed: int = 0

    # Without annotations: constants of the class, not fields of the dataclass.
    standardise = True
    context = (0.1, 0.5)
    extra = (0.1, 0.5)
    rates = (0.05, 0.1, 0.3)

    def __post_init__(self) -> None:
        self.path = Path(self.path)

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"own:{self.path}"

    @cached_property
    def own(self) -> OwnGraphs:
        """The graphs as read, unlabelled ones included, with the user's names."""
        return load_graphs(self.path)

    @property
    def num_features(self) -> int:  # type: ignore[override]
        return int(self.own.graphs[0].x.size(1))

    @property
    def num_classes(self) -> int:  # type: ignore[override]
        return len(self.own.class_names)

    @property
    def class_names(self) -> list[str]:
        return self.own.class_names

    @property
    def transductive(self) -> bool:  # type: ignore[override]
        """Whether the splits hold the same graphs, with other labels."""
        return sum(_count(graph.y) >= FEWEST_LABELS for graph in self.own.graphs) < FEWEST_GRAPHS

    def scale(self) -> tuple[int, int]:
        graphs = self.own.graphs
        return len(graphs), round(sum(graph.num_nodes for graph in graphs) / len(graphs))

    def missing(self) -> str | None:
        return None if self.path.exists() else f"There is nothing at {self.path}; give the path of your graphs."

    def load(self) -> dict[Split, GraphSet]:
        labels = torch.cat([graph.y[graph.y != UNLABELLED] for graph in self.own.graphs])
        if labels.numel() == 0:
            raise UserError(
                f"No node in {self.path} has a label, so there is nothing to learn from; give labels in the column or "
                "attribute 'label', in y, or in NAME_node_labels.txt."
            )
        if labels.min() == labels.max():
            only = self.own.class_names[int(labels[0])]
            raise UserError(f"All labelled nodes in {self.path} are of class '{only}'; two or more classes are needed.")
        usable = [graph for graph in self.own.graphs if _count(graph.y) >= FEWEST_LABELS]
        generator = torch.Generator().manual_seed(self.seed)
        if len(usable) >= FEWEST_GRAPHS:
            parts = _divide(torch.arange(len(usable)), generator, least=1)
            return {
                split: GraphSet.from_data_list([usable[i] for i in part.tolist()])
                for split, part in zip(SPLITS, parts, strict=True)
            }
        return self._by_nodes(usable, generator)

    def _by_nodes(self, graphs: list[Data], generator: torch.Generator) -> dict[Split, GraphSet]:
        kept: dict[Split, list[Data]] = {split: [] for split in SPLITS}
        for graph in graphs:
            parts = _divide((graph.y != UNLABELLED).nonzero().flatten(), generator, least=0)
            for split, part in zip(SPLITS, parts, strict=True):
                if part.numel() >= FEWEST_LABELS:
                    y = torch.full_like(graph.y, UNLABELLED)
                    y[part] = graph.y[part]
                    kept[split].append(Data(x=graph.x, edge_index=graph.edge_index, y=y))
        if not all(kept.values()):
            most = max((_count(graph.y) for graph in self.own.graphs), default=0)
            raise UserError(
                f"No graph in {self.path} has more than {most} labelled node{'s' * (most != 1)}, which cannot be "
                f"divided 70/10/20 with {FEWEST_LABELS} in each part; label at least 15 nodes of a graph, or give "
                f"{FEWEST_GRAPHS} graphs with {FEWEST_LABELS} labels each."
            )
        return {split: GraphSet.from_data_list(part) for split, part in kept.items()}


def _count(y: Tensor) -> int:
    return int((y != UNLABELLED).sum())


def _divide(items: Tensor, generator: torch.Generator, least: int) -> list[Tensor]:
    """``items`` in random order, cut into train, val and test; val and test get at least ``least``."""
    shuffled = items[torch.randperm(items.numel(), generator=generator)]
    val, test = (max(least, round(share * items.numel())) for share in SHARES[1:])
    return [shuffled[val + test :], shuffled[:val], shuffled[val : val + test]]
