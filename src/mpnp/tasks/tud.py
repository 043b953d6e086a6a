"""Node classification on five sets of the TUDataset collection (Morris et al. 2020): two of proteins, three of molecules.

| task         | nodes                          | features                       | label                          |
|--------------|--------------------------------|--------------------------------|--------------------------------|
| tud/proteins | secondary structure elements   | 29 attributes                  | helix, sheet or turn (0, 1, 2) |
| tud/enzymes  | the same, of enzymes           | 18 attributes                  | helix, sheet or turn (1, 2, 3) |
| tud/dhfr     | atoms of inhibitors            | position x, y, z               | atomic number, one of 9        |
| tud/cox2     | atoms of inhibitors            | position x, y, z               | atomic number, one of 8        |
| tud/bzr      | atoms of ligands               | position x, y, z               | atomic number, one of 10       |

The features are the node attributes alone: PyG's ``x`` would append the one-hot label to them.

The paper drops 6 graphs of Proteins for having several components or an element of negative length. As stated, the two
rules drop 51 of the 1113: 46 graphs of several components and 5 others with a negative length. We keep to the rules;
which 6 the paper means is unknown. Its attributes 0, 1, 2 are an element's first residue, last residue
and length, last - first + 1 (true of every node of the set, no other is a length in residues). Enzymes have such graphs
too (31 and 3); the paper keeps all 600, and so do we.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from scipy.sparse import coo_array
from torch import Tensor

from ..errors import UserError, unknown_name
from ..files import replacing
from ..graphs import GraphSet
from .base import Split, Task, cache_folder
from .formats import Choices, read_tud
from .sources import find_data

FILES = ("A", "graph_indicator", "node_attributes", "node_labels")
LENGTH = 2  # the column of PROTEINS_full that holds an element's length


@dataclass(frozen=True)
class Dataset:
    """What a set of the collection must hold."""

    name: str
    num_features: int
    class_names: tuple[str, ...]
    graphs: int
    nodes: int  # per graph, on average


DATASETS = {
    "proteins": Dataset("PROTEINS_full", 29, ("0", "1", "2"), 1062, 37),
    "enzymes": Dataset("ENZYMES", 18, ("1", "2", "3"), 600, 33),
    "dhfr": Dataset("DHFR", 3, ("1", "6", "7", "8", "9", "16", "17", "35", "53"), 756, 42),
    "cox2": Dataset("COX2", 3, ("1", "6", "7", "8", "9", "16", "17", "35"), 467, 41),
    "bzr": Dataset("BZR", 3, ("1", "6", "7", "8", "9", "15", "16", "17", "35", "53"), 405, 36),
}


@dataclass
class TudTask(Task):
    """The set ``key`` of :data:`DATASETS`, divided by ``seed``: 80/20 train/test, a tenth of the former for validation."""

    key: str
    seed: int = 0

    standardise = True
    context = (0.1, 0.25)
    extra = (0.1, 0.25)
    rates = (0.05, 0.1, 0.3)
    source = "TUDataset"

    def __post_init__(self) -> None:
        if self.key not in DATASETS:
            raise unknown_name("TUD task", self.key, DATASETS)

    @property
    def dataset(self) -> Dataset:
        return DATASETS[self.key]

    @property
    def name(self) -> str:
        return f"tud/{self.key}"

    @property
    def amounts(self) -> bool:
        """Attributes of secondary structure elements are lengths, volumes and counts; those of atoms are positions."""
        return self.key in ("enzymes", "proteins")

    @property
    def appendix(self) -> str:
        return self.key if self.key in ("enzymes", "proteins") else "molecules"

    def scale(self) -> tuple[int, int]:
        return self.dataset.graphs, self.dataset.nodes

    @property
    def num_features(self) -> int:
        return self.dataset.num_features

    @property
    def num_classes(self) -> int:
        return len(self.dataset.class_names)

    @property
    def class_names(self) -> list[str]:
        """The labels as the files have them."""
        return list(self.dataset.class_names)

    def missing(self) -> str | None:
        name = self.dataset.name
        if _complete(_raw(name), name):
            return None
        return f"{name} is downloaded when it is first used, or set MPNP_DATA to a folder that holds tud/{name}/raw."

    def load(self) -> dict[Split, GraphSet]:
        name = self.dataset.name
        if not _complete(_raw(name), name):
            download(name)
        folder = _raw(name)
        own = read_tud(folder, name, Choices())
        found = (len(own.feature_names), tuple(own.class_names))
        if found != (self.num_features, self.dataset.class_names):
            raise UserError(
                f"{folder} holds {found[0]} attributes and the labels {', '.join(found[1])}, but {name} has "
                f"{self.num_features} and {', '.join(self.class_names)}; fetch it again."
            )
        everything = GraphSet.from_data_list(own.graphs)
        kept = sound(everything) if self.key == "proteins" else torch.ones(len(everything), dtype=torch.bool)
        return split_by_seed(everything, kept.nonzero().flatten(), self.seed)


def sound(graphs: GraphSet) -> Tensor:
    """Which proteins are in one piece and without an element of negative length, [B] bool."""
    from scipy.sparse.csgraph import connected_components  # slow to import

    nodes, count = graphs.num_nodes, len(graphs)
    edges = graphs.edge_index.numpy()
    adjacency = coo_array((np.ones(edges.shape[1]), (edges[0], edges[1])), shape=(nodes, nodes))
    _, piece = connected_components(adjacency, directed=False)
    owner = np.repeat(np.arange(count), graphs.sizes.numpy())
    first = np.unique(piece, return_index=True)[1]  # one node of every piece
    pieces = np.bincount(owner[first], minlength=count)
    negative = np.bincount(owner[graphs.x[:, LENGTH].numpy() < 0], minlength=count)
    return torch.from_numpy((pieces == 1) & (negative == 0))


def split_by_seed(graphs: GraphSet, kept: Tensor, seed: int) -> dict[Split, GraphSet]:
    """The graphs ``kept`` in random order: a fifth for testing, a tenth of the others for validation."""
    shuffled = kept[torch.randperm(kept.numel(), generator=torch.Generator().manual_seed(seed))]
    test = round(0.2 * kept.numel())
    val = round(0.1 * (kept.numel() - test))
    parts: dict[Split, Tensor] = {
        "train": shuffled[test + val :],
        "val": shuffled[test : test + val],
        "test": shuffled[:test],
    }
    return {split: graphs.subset(part) for split, part in parts.items()}


def download(name: str) -> None:
    """Fetch the set with PyG into the cache folder; only its text files are kept."""
    from torch_geometric.datasets import TUDataset  # slow to import

    folder = cache_folder() / "data" / "tud" / name
    # Under another name first: PyG takes a download that was cut short for a whole one.
    with replacing(folder) as temporary:
        try:
            TUDataset(str(temporary / "pyg"), name)
            os.replace(temporary / "pyg" / name / "raw", temporary / "raw")
        except Exception as error:  # of the network, the archive or PyG's reader
            reason = " ".join(f"{type(error).__name__} {error}".split())
            raise UserError(
                f"{name} could not be downloaded from {TUDataset.url} ({reason}); check the connection, or set "
                f"MPNP_DATA to a folder that holds tud/{name}/raw."
            ) from error
        shutil.rmtree(temporary / "pyg")


def _raw(name: str) -> Path:
    return find_data(f"tud/{name}/raw")


def _complete(folder: Path, name: str) -> bool:
    return all((folder / f"{name}_{kind}.txt").exists() for kind in FILES)
