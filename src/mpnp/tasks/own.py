"""A user's own graphs as a task that holds out graphs or, where there are few, nodes."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from ..errors import UserError
from ..graphs import UNLABELLED, GraphSet
from .base import SPLITS, Split, Task
from .formats import OwnGraphs, as_graphs

__all__ = ["OwnGraphs", "OwnTask", "as_graphs", "load_graphs"]

SHARES = (0.7, 0.1, 0.2)  # of train, val, test
FEWEST_GRAPHS = 5  # from here on whole graphs are held out
FEWEST_LABELS = 2  # an episode shows one node and predicts another


def load_graphs(
    path: str | Path, class_names: Sequence[str] | None = None, feature_names: Sequence[str] | None = None
) -> OwnGraphs:
    """The graphs at ``path``, with the classes and features of a trained model; :func:`as_graphs` has all options."""
    return as_graphs(Path(path), class_names=class_names, feature_names=feature_names)


@dataclass
class OwnTask(Task):
    """The graphs ``given``, a path or anything else that :func:`as_graphs` takes, divided 70/10/20 by ``seed``.

    With at least five graphs, each with two or more labelled nodes, whole graphs are held out. With fewer, the splits
    hold the same graphs with different labelled nodes: a label kept in one split is hidden (-1) in the others, so none
    that is tested on was trained on. Graphs with fewer than two labels in a split are left out of it.
    """

    given: Any
    seed: int = 0

    standardise = True
    context = (0.1, 0.5)
    extra = (0.1, 0.5)
    rates = (0.05, 0.1, 0.3)

    def __post_init__(self) -> None:
        self.given = Path(self.given) if isinstance(self.given, str) else self.given

    @property
    def where(self) -> str:
        """The graphs, as sentences name them."""
        return str(self.given) if isinstance(self.given, Path) else self.own.where

    @property
    def name(self) -> str:
        return f"own:{self.given}" if isinstance(self.given, Path) else "own:graphs"

    @cached_property
    def own(self) -> OwnGraphs:
        """The graphs as read, unlabelled ones included, with the user's names."""
        return as_graphs(self.given)

    @property
    def num_features(self) -> int:
        return len(self.own.feature_names)

    @property
    def num_classes(self) -> int:
        return len(self.own.class_names)

    @property
    def num_relations(self) -> int:
        return max(1, len(self.own.edge_type_names))

    @property
    def class_names(self) -> list[str]:
        return self.own.class_names

    @property
    def transductive(self) -> bool:
        """Whether the splits hold the same graphs, with other labels."""
        return sum(_count(graph.y) >= FEWEST_LABELS for graph in self.own.graphs) < FEWEST_GRAPHS

    def scale(self) -> tuple[int, int]:
        graphs = self.own.graphs
        return len(graphs), round(sum(graph.num_nodes for graph in graphs) / len(graphs))

    @property
    def feature_names(self) -> list[str]:
        return self.own.feature_names

    def missing(self) -> str | None:
        if not isinstance(self.given, Path) or self.given.exists():
            return None
        return f"There is nothing at {self.given}; give the path of your graphs."

    def load(self) -> dict[Split, GraphSet]:
        labels = torch.cat([graph.y[graph.y != UNLABELLED] for graph in self.own.graphs])
        if labels.numel() == 0:
            raise UserError(
                f"No node in {self.where} has a label, so there is nothing to learn from; give labels in the column or "
                "attribute 'label', in y, or in NAME_node_labels.txt."
            )
        if labels.min() == labels.max():
            only = self.own.class_names[int(labels[0])]
            raise UserError(
                f"All labelled nodes in {self.where} are of class '{only}'; two or more classes are needed."
            )
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
                    kept[split].append(copy(graph))
                    kept[split][-1].y = y
        if not all(kept.values()):
            most = max((_count(graph.y) for graph in self.own.graphs), default=0)
            raise UserError(
                f"No graph in {self.where} has more than {most} labelled node{'s' * (most != 1)}, which cannot be "
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
