"""A user's own graphs as a task that holds out graphs or, where there are few, nodes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from ..episode import Episode
from ..errors import UserError
from ..graphs import UNLABELLED, GraphSet
from ..progress import stage
from .base import SPLITS, Split, Task
from .formats import OwnGraphs, as_graphs

__all__ = ["OwnGraphs", "OwnTask", "as_graphs", "load_graphs"]

SHARES = (0.7, 0.1, 0.2)  # of train, val, test
FEWEST_GRAPHS = 5  # from here on whole graphs are held out
LONG_TAIL = 10  # spreads from the mean: measurements hardly go so far, amounts do
FEWEST_LABELS = 2  # an episode shows one node and predicts another


def load_graphs(
    path: str | Path,
    class_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    **reading: Any,
) -> OwnGraphs:
    """The graphs at ``path``, with the classes and features of a trained model; :func:`as_graphs` has all options."""
    with stage(f"reading {path}"):
        return as_graphs(Path(path), class_names=class_names, feature_names=feature_names, **reading)


@dataclass(repr=False)
class OwnTask(Task):
    """The graphs ``given``, a path or anything else that :func:`as_graphs` takes, divided 70/10/20 by ``seed``.

    With at least five graphs, each with two or more labelled nodes, whole graphs are held out. With fewer, the splits
    hold the same graphs with different labelled nodes: a label kept in one split is hidden (-1) in the others, so none
    that is tested on was trained on. Graphs with fewer than two labels in a split are left out of it.

    ``reading``: how they are read, in the words of :func:`as_graphs`: ``label_column``, ``directed``, ``ignore`` and so on.
    """

    given: Any
    seed: int = 0
    reading: Mapping[str, Any] = field(default_factory=dict)

    standardise = True
    metrics = ("classes",)
    context = (0.1, 0.5)
    extra = (0.1, 0.5)
    rates = (0.05, 0.1, 0.3)

    def __repr__(self) -> str:
        given = str(self.given) if isinstance(self.given, Path) else type(self.given).__name__
        reading = "".join(f", {name}={value!r}" for name, value in self.reading.items())
        return f"OwnTask({given!r}, seed={self.seed}{reading})"

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
        return as_graphs(self.given, **self.reading)

    @cached_property
    def fingerprint(self) -> str:
        """The same for the same labels at the same places, wherever they were read from and whatever the classes are called."""
        y = torch.cat([graph.y for graph in self.own.graphs]).numpy()
        told = np.flatnonzero(y != UNLABELLED)
        first, which = np.unique(y[told], return_index=True, return_inverse=True)[1:]
        alike = first[which]  # the first label of the same class
        sizes = np.array([graph.y.numel() for graph in self.own.graphs])
        return hashlib.sha256(b"".join(part.astype("<i8").tobytes() for part in (sizes, told, alike))).hexdigest()[:16]

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

    @cached_property
    def amounts(self) -> bool:
        """Whether a feature of more than two values has some more than ten spreads from its mean."""
        x = torch.cat([graph.x for graph in self.own.graphs])
        far = (x - x.mean(0)).abs().amax(0) > LONG_TAIL * x.std(0, unbiased=False)
        return any(column.unique().numel() > 2 for column in x[:, far].T)

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
        self._check_labels()
        if self.transductive:
            return self._by_nodes()
        usable = [graph for graph in self.own.graphs if _count(graph.y) >= FEWEST_LABELS]
        parts = _divide(torch.arange(len(usable)), torch.Generator().manual_seed(self.seed), least=1)
        return {
            split: GraphSet.from_data_list([usable[i] for i in part.tolist()])
            for split, part in zip(SPLITS, parts, strict=True)
        }

    def labelled(self) -> Episode:
        """All graphs with every label in the context: what a model reads in use."""
        return Episode.from_graphs(self.own.graphs, num_classes=self.num_classes)

    def part(self, *splits: Split) -> Tensor:
        """Whose label belongs to one of the ``splits``, [N] bool over the nodes of all graphs, where nodes are divided.

        Labels of graphs that have too few to be divided are for training.
        """
        inside = []
        for graph, parts in zip(self.own.graphs, self._parts, strict=True):
            mask = torch.zeros_like(graph.y, dtype=torch.bool)
            for split in splits:
                mask[parts[split]] = True
            inside.append(mask)
        return torch.cat(inside)

    def read_as(self, **reading: Any) -> OwnTask:
        """The same graphs read in another way, with the features of a trained model in its order, say."""
        new = {name: value for name, value in reading.items() if value}
        now = {"feature_names": self.own.feature_names, "class_names": self.own.class_names}
        if all(value == now.get(name, value) for name, value in new.items()):
            return self
        return OwnTask(self.given, self.seed, {**self.reading, **new})

    def in_use(self, split: Split) -> Episode:
        """The labels of a split to predict, those of the splits before it in the context: as the model will be used."""
        episode = self.labelled()
        context = self.part(*SPLITS[: SPLITS.index(split)])
        return replace(episode, context=context, target=context | self.part(split))

    @cached_property
    def _parts(self) -> list[dict[Split, Tensor]]:
        """The labelled nodes of every graph, by split."""
        generator = torch.Generator().manual_seed(self.seed)
        found: list[dict[Split, Tensor]] = []
        for graph in self.own.graphs:
            nodes = (graph.y != UNLABELLED).nonzero().flatten()
            parts = (
                _divide(nodes, generator, least=0) if nodes.numel() >= FEWEST_LABELS else [nodes, nodes[:0], nodes[:0]]
            )
            found.append(dict(zip(SPLITS, parts, strict=True)))
        return found

    def _check_labels(self) -> None:
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

    def _by_nodes(self) -> dict[Split, GraphSet]:
        kept: dict[Split, list[Data]] = {split: [] for split in SPLITS}
        for graph, parts in zip(self.own.graphs, self._parts, strict=True):
            for split, part in parts.items():
                if _count(graph.y) >= FEWEST_LABELS and part.numel() >= FEWEST_LABELS:
                    kept[split].append(_only(graph, part))
        if not all(kept.values()):
            most = max((_count(graph.y) for graph in self.own.graphs), default=0)
            raise UserError(
                f"No graph in {self.where} has more than {most} labelled node{'s' * (most != 1)}, which cannot be "
                f"divided 70/10/20 with {FEWEST_LABELS} in each part; label at least 15 nodes of a graph, or give "
                f"{FEWEST_GRAPHS} graphs with {FEWEST_LABELS} labels each."
            )
        return {split: GraphSet.from_data_list(part) for split, part in kept.items()}


class Lessons(Task):
    """The graphs of a task of few graphs, with the labels of the nodes ``shown`` [N] alone to learn from."""

    name = "lessons"

    def __init__(self, task: OwnTask, shown: Tensor) -> None:
        self.task, self.shown = task, shown
        self.context, self.extra = task.context, task.extra

    @property
    def num_features(self) -> int:
        return self.task.num_features

    @property
    def num_classes(self) -> int:
        return self.task.num_classes

    @property
    def rates(self) -> tuple[float, ...]:
        return self.task.rates

    def load(self) -> dict[Split, GraphSet]:
        parts = self.shown.split([graph.y.numel() for graph in self.task.own.graphs])
        told = [_only(graph, part.nonzero().flatten()) for graph, part in zip(self.task.own.graphs, parts, strict=True)]
        usable = [graph for graph in told if _count(graph.y) >= FEWEST_LABELS]
        return {"train": GraphSet.from_data_list(usable)}


def _only(graph: Data, nodes: Tensor) -> Data:
    """The same graph with the labels of ``nodes`` alone."""
    other = copy(graph)
    other.y = torch.full_like(graph.y, UNLABELLED)
    other.y[nodes] = graph.y[nodes]
    return other


def _count(y: Tensor) -> int:
    return int((y != UNLABELLED).sum())


def _divide(items: Tensor, generator: torch.Generator, least: int) -> list[Tensor]:
    """``items`` in random order, cut into train, val and test; val and test get at least ``least``."""
    shuffled = items[torch.randperm(items.numel(), generator=generator)]
    val, test = (max(least, round(share * items.numel())) for share in SHARES[1:])
    return [shuffled[val + test :], shuffled[:val], shuffled[val : val + test]]
