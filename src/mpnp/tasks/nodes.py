"""Single graphs with published splits, ``node/<name>``: they measure a predictor that was trained elsewhere.

The labels under a split's training mask are the context, those under its test mask are scored, and those under its
validation mask are for rivals that need them, and for choices. Nothing is ever trained on these graphs for a model that is
measured on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor
from torch_geometric.data import Data

from ..episode import Episode
from ..errors import UserError, unknown_name
from ..graphs import UNLABELLED, GraphSet
from .base import SPLITS, Split, Task
from .sources import find_data

PER_CLASS = 20  # labels times classes, where a graph comes without published masks
STRATIFIED = 5  # splits of such a graph


class Source(NamedTuple):
    """Sizes, the labels that a published split shows (the first), and the PyG loader that downloads the graph: its class and what it is called with; ``None`` where PyG has none."""

    features: int
    classes: int
    nodes: int
    labels: int
    loader: str | None = None
    called: str | None = None


GRAPHS = {
    "cora": Source(1433, 7, 2708, 140, "Planetoid", "Cora"),
    "citeseer": Source(3703, 6, 3327, 120, "Planetoid", "CiteSeer"),
    "wisconsin": Source(1703, 5, 251, 120, "WebKB", "Wisconsin"),
    "texas": Source(1703, 5, 183, 87, "WebKB", "Texas"),
    "actor": Source(932, 5, 7600, 3_648, "Actor"),
    "squirrel_filtered": Source(2089, 5, 2223, 1_053),
    "minesweeper": Source(7, 2, 10_000, 5_000, "HeterophilousGraphDataset", "Minesweeper"),
    "photo": Source(745, 8, 7650, 160, "Amazon", "Photo"),
    "coauthor_cs": Source(6805, 15, 18_333, 302, "Coauthor", "CS"),
    "dblp": Source(1639, 4, 17_716, 80, "CitationFull", "DBLP"),
    "cora_ml": Source(2879, 7, 2995, 141, "CitationFull", "Cora_ML"),
    "blogcatalog": Source(8189, 6, 5196, 120, "AttributedGraphDataset", "BlogCatalog"),
    "air_usa": Source(1190, 4, 1190, 80, "Airports", "USA"),
    "acm": Source(1870, 3, 3025, 60),
}


@dataclass(frozen=True)
class Public:
    """A graph with all its labels, and its published masks, [splits, N] bool each."""

    graph: Data
    train: Tensor
    val: Tensor
    test: Tensor

    def mask(self, split: Split, number: int) -> Tensor:
        masks: Tensor = getattr(self, split)
        return masks[number % masks.size(0)]


@dataclass
class NodeTask(Task):
    """The graph ``key`` of :data:`GRAPHS`. Draw d of the context is split d of the published ones."""

    key: str

    context = (0.02, 0.5)
    extra = (0.02, 0.5)
    standardise = False
    transductive = True

    def __post_init__(self) -> None:
        if self.key not in GRAPHS:
            raise unknown_name("node task", self.key, GRAPHS)

    @property
    def name(self) -> str:
        return f"node/{self.key}"

    @property
    def num_features(self) -> int:
        return GRAPHS[self.key].features

    @property
    def num_classes(self) -> int:
        return GRAPHS[self.key].classes

    @property
    def file(self) -> Path:
        return find_data(f"nodes/{self.key}.npz")

    @property
    def source(self) -> str:
        return "public splits" if self.file.exists() else "by PyG"

    def missing(self) -> str | None:
        if self.file.exists() or _downloaded(self.key):
            return None
        if GRAPHS[self.key].loader:
            return f"{self.name} is downloaded by PyG when it is first used, or set MPNP_DATA to a folder with nodes/{self.key}.npz."
        return f"Set MPNP_DATA to a folder that holds nodes/{self.key}.npz."

    @cached_property
    def public(self) -> Public:
        if self.file.exists():
            return read(self.file)
        return by_pyg(self.key)

    @property
    def rates(self) -> tuple[float, ...]:
        """The share of labels that the published splits show."""
        return (round(GRAPHS[self.key].labels / GRAPHS[self.key].nodes, 4),)

    @property
    def num_splits(self) -> int:
        return self.public.train.size(0)

    def published(self, rate: float, draw: int, split: Split = "test") -> Episode | None:
        """Split ``draw`` as published, where ``rate`` is its share of labels: the training labels shown, those of ``split`` hidden."""
        if rate != self.rates[0]:
            return None
        context = self.public.mask("train", draw)
        whole = GraphSet.from_data_list([self.public.graph]).select(torch.zeros(1, dtype=torch.long))
        return Episode(whole, whole.y, context, self.public.mask(split, draw) | context, self.num_classes)

    def scale(self) -> tuple[int, int]:
        return 1, GRAPHS[self.key].nodes

    def size(self) -> tuple[int, float]:
        return 1, float(GRAPHS[self.key].nodes)

    def load(self) -> dict[Split, GraphSet]:
        """The first split: the graph with only the training labels, and with those of each other mask beside them."""
        public = self.public
        stores: dict[Split, GraphSet] = {}
        train = public.mask("train", 0)
        for split in SPLITS:
            seen = train | public.mask(split, 0)
            graph = Data(
                x=public.graph.x, edge_index=public.graph.edge_index, y=torch.where(seen, public.graph.y, UNLABELLED)
            )
            stores[split] = GraphSet.from_data_list([graph])
        return stores


def read(file: Path) -> Public:
    """A graph and its masks from an ``.npz``: features as CSR, ``edge_index``, ``y``, ``train``, ``val``, ``test``."""
    try:
        with np.load(file, allow_pickle=False) as held:
            shape = tuple(int(n) for n in held["x_shape"])
            x = csr_matrix((held["x_data"], held["x_indices"], held["x_indptr"]), shape=shape).toarray()
            graph = Data(
                x=torch.from_numpy(x).float(),
                edge_index=torch.from_numpy(held["edge_index"].astype(np.int64)),
                y=torch.from_numpy(held["y"].astype(np.int64)),
            )
            masks = [torch.from_numpy(held[name]).reshape(-1, graph.num_nodes) for name in ("train", "val", "test")]
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise UserError(f"{file} is damaged ({error}); copy it again.") from error
    return Public(graph, *masks)


def _downloaded(key: str) -> bool:
    return find_data(f"pyg/{key}").exists()


def by_pyg(key: str) -> Public:
    """The same graph through PyG's own loader, which downloads it once; with its masks, or stratified splits of our own."""
    from torch_geometric import datasets  # slow to import
    from torch_geometric.utils import remove_self_loops, to_undirected

    source = GRAPHS[key]
    if source.loader is None:
        raise UserError(f"PyG has no loader for node/{key}; set MPNP_DATA to a folder that holds nodes/{key}.npz.")
    loader = getattr(datasets, source.loader)
    root = str(find_data(f"pyg/{key}"))
    try:
        found = (loader(root) if source.called is None else loader(root, source.called))[0]
    except Exception as error:  # of the network, the archive or PyG's reader
        reason = " ".join(f"{type(error).__name__} {error}".split())
        raise UserError(
            f"node/{key} could not be downloaded by PyG's {source.loader} ({reason}); check the connection, or set "
            f"MPNP_DATA to a folder that holds nodes/{key}.npz."
        ) from error
    x = found.x.to_dense() if found.x.is_sparse else found.x
    edges = to_undirected(remove_self_loops(found.edge_index)[0], num_nodes=x.size(0))
    graph = Data(x=x.float(), edge_index=edges, y=found.y.long())
    if found.get("train_mask") is not None:
        masks = [found[f"{name}_mask"].reshape(x.size(0), -1).t().bool() for name in ("train", "val", "test")]
        return Public(graph, *masks)
    return Public(graph, *stratified(graph.y))


def stratified(y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Five splits: 20 labels × classes in all, shared out by the classes' sizes; half of the rest for validation, half for tests."""
    classes, nodes = int(y.max()) + 1, y.numel()
    share = min(1.0, PER_CLASS * classes / nodes)
    masks = torch.zeros(3, STRATIFIED, nodes, dtype=torch.bool)
    for number in range(STRATIFIED):
        order = torch.randperm(nodes, generator=torch.Generator().manual_seed(number))
        for label in range(classes):
            own = order[y[order] == label]
            first = max(1, round(share * own.numel()))
            middle = first + (own.numel() - first) // 2
            for mask, part in zip(masks, (own[:first], own[first:middle], own[middle:]), strict=True):
                mask[number, part] = True
    return masks[0], masks[1], masks[2]
