"""What every task offers: graphs in three splits, and how episodes are drawn from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import torch
from torch_geometric.data import Data

from ..episode import Episode
from ..errors import UserError
from ..files import cache_folder as cache_folder  # where tasks look for it
from ..graphs import GraphSet

Split = Literal["train", "val", "test"]
SPLITS: tuple[Split, ...] = ("train", "val", "test")


class Task(ABC):
    """A source of episodes.

    ``arbitrary``: class names have no meaning beyond one graph, so every episode draws a permutation of them.
    ``by_rule``: labels follow from features by a rule that is another in every graph. ``places``: features are coordinates in
    a frame that all graphs share; ``amounts``: some are lengths, volumes or counts, a few of them many times as large as
    the others. ``transductive``: tested nodes were seen in training. ``appendix``: which lines of the paper's table of
    hyperparameters are for it (see ``models/paper_table.py``).
    ``standardise``: features have scales of their own and are standardised with training statistics (by the model).
    ``context`` / ``extra``: the paper's ranges of the context rate and the extra-target rate in training.
    ``rates``: the context rates at which the paper reports.
    ``metrics``: what is counted besides the common scores: 'binary' for F1 and MCC, 'classes' for both and AUC over
    any number of classes, 'shapes' for mIoU.
    ``drawn``: there is no end of its graphs: they are drawn one by one (:meth:`draw`), each with features and classes of its own.
    ``source``: where the data comes from, in a word or two; ``version``: raised when the same name comes to mean other graphs.

    What is the same for all tasks of a class is an attribute of the class (without annotation even where that is a
    dataclass, so that it is no field); what depends on the fields is a property.
    """

    if TYPE_CHECKING:  # only read here: a subclass may store or compute them

        @property
        def name(self) -> str: ...
        @property
        def num_features(self) -> int: ...
        @property
        def num_classes(self) -> int: ...
        @property
        def num_relations(self) -> int: ...
        @property
        def source(self) -> str: ...
        @property
        def rates(self) -> tuple[float, ...]: ...
        @property
        def amounts(self) -> bool: ...
        @property
        def transductive(self) -> bool: ...
        @property
        def appendix(self) -> str: ...
    else:
        num_relations = 1
        source = "present"
        amounts = False
        transductive = False
        appendix = "other"

    arbitrary: ClassVar[bool] = False
    drawn: ClassVar[bool] = False
    by_rule: ClassVar[bool] = False
    places: ClassVar[bool] = False
    standardise: ClassVar[bool] = False
    metrics: ClassVar[tuple[Literal["binary", "classes", "shapes"], ...]] = ()
    context: tuple[float, float]
    extra: tuple[float, float]
    version: ClassVar[int] = 1

    @property
    def class_names(self) -> list[str]:
        return [str(c) for c in range(self.num_classes)]

    @abstractmethod
    def load(self) -> dict[Split, GraphSet]:
        """The graphs of each split."""

    @cached_property
    def splits(self) -> dict[Split, GraphSet]:
        return self.load()

    def graphs(self, split: Split) -> GraphSet:
        return self.splits[split]

    def size(self) -> tuple[int, float]:
        """Number of graphs and mean number of nodes; tasks that take long to load know it without."""
        stores = self.splits.values()
        graphs = sum(len(store) for store in stores)
        return graphs, sum(store.num_nodes for store in stores) / graphs

    def scale(self) -> tuple[int, int]:
        """About how many graphs there are and how many nodes each has; published tasks know it without their data."""
        graphs, nodes = self.size()
        return graphs, round(nodes)

    def augment(self, graph: Data, generator: torch.Generator) -> Data:
        """A training batch turned by symmetries of the task: another draw that is as likely as the one given."""
        return graph

    def __deepcopy__(self, memo: dict[int, Any]) -> Task:
        """Itself: its graphs never change, and whoever copies a model in training would copy them all."""
        return self

    def draw(self, number: int) -> Episode:
        """Episode ``number`` of a task that is ``drawn``, always the same for the same number."""
        raise UserError(f"{self.name} has a given number of graphs; they are not drawn one by one.")

    def published(self, rate: float, draw: int, split: Split) -> Episode | None:
        """The context that comes with the data at this rate, one for every ``draw``; ``None``: contexts are drawn at random."""
        return None

    def missing(self) -> str | None:
        """``None`` if the data is present, else one sentence on how to get it."""
        return None
