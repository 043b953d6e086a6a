"""An episode: graphs on which some nodes show their label (context) and some must be predicted (targets)."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from .errors import UserError
from .graphs import UNLABELLED, GraphSet, cut


@dataclass(repr=False)
class Episode:
    """A block-diagonal batch of graphs with context and target masks.

    Models read labels only through :meth:`shown`, so a label outside the context has no influence whatever.

    Shapes: ``graph`` a PyG ``Data`` with ``x`` [N, F], ``edge_index`` [2, E], ``batch`` [N], ``ptr`` [B + 1];
    ``y`` [N] labels, -1 where unknown, the same as ``graph.y``; ``context``, ``target`` [N] bool, the targets containing
    the context.
    """

    graph: Data
    y: Tensor
    context: Tensor
    target: Tensor
    num_classes: int

    def __post_init__(self) -> None:
        if (
            self.graph.y is not self.y
        ):  # relabelled, say: the graph is shared with others, so a copy gets the new labels
            self.graph = copy(self.graph)
            self.graph.y = self.y

    def __repr__(self) -> str:
        shown, asked = int(self.context.sum()), int(self.target.sum())
        sizes = f"graphs={self.num_graphs}, nodes={self.num_nodes}, classes={self.num_classes}"
        return f"Episode({sizes}, context={shown}, targets={asked})"

    @classmethod
    def from_graphs(cls, graphs: list[Data], context: Tensor | None = None, num_classes: int | None = None) -> Episode:
        """Graphs as they are: by default every labelled node is context, and every node is a target.

        ``context`` [N] bool over the concatenated nodes shows only some of the labels.
        """
        batch = GraphSet.from_data_list(graphs).select(torch.arange(len(graphs)))
        labelled = batch.y != UNLABELLED
        classes = int(batch.y.max()) + 1 if num_classes is None else num_classes
        if int(batch.y.max()) >= classes:
            raise UserError(
                f"A label {int(batch.y.max())} was given, but there are {classes} classes (labels 0 to {classes - 1})."
            )
        if context is not None and context.shape != labelled.shape:
            raise UserError(
                f"A context of shape {list(context.shape)} was given, one flag per node ([{labelled.numel()}]) is expected."
            )
        shown = labelled if context is None else context.bool() & labelled
        return cls(batch, batch.y, shown, torch.ones_like(shown), max(classes, 1))

    @property
    def batch(self) -> Tensor:
        """Which graph each node belongs to, [N]."""
        return self.graph.batch

    @property
    def num_graphs(self) -> int:
        return self.graph.ptr.numel() - 1

    @property
    def num_nodes(self) -> int:
        return self.y.numel()

    @property
    def unlabelled_targets(self) -> Tensor:
        """Targets whose label is not shown: where the headline metrics are taken, [N] bool."""
        return self.target & ~self.context

    @property
    def share_shown(self) -> Tensor:
        """The share of each graph's nodes that show their label, [B]."""
        nodes = self.graph.ptr.diff()
        return torch.zeros_like(nodes).index_add(0, self.batch, self.context.long()) / nodes.clamp(min=1)

    def shown(self, mask: Tensor | None = None) -> Tensor:
        """One-hot labels [N, C] of the nodes in ``mask`` (default: the context), zeros elsewhere and where unlabelled."""
        mask = (self.context if mask is None else mask) & (self.y != UNLABELLED)
        one_hot = F.one_hot(self.y.clamp(min=0), self.num_classes).float()
        return one_hot * mask.unsqueeze(-1)

    def with_context(self, context: Tensor) -> Episode:
        """The same graphs with another context."""
        return replace(self, context=context)

    def only(self, graph: int) -> Episode:
        """One graph of the batch as an episode of its own."""
        return self.part(graph, graph + 1)

    def part(self, first: int, last: int) -> Episode:
        """The graphs ``first`` to ``last - 1`` of the batch as an episode of their own."""
        nodes, data = slice(int(self.graph.ptr[first]), int(self.graph.ptr[last])), cut(self.graph, first, last)
        return Episode(data, data.y, self.context[nodes], self.target[nodes], self.num_classes)

    def relabelled(self, permutation: Tensor) -> Episode:
        """Classes renamed per graph: label c of graph b becomes ``permutation[b, c]``; ``permutation`` is [B, C]."""
        renamed = permutation[self.batch, self.y.clamp(min=0)]
        return replace(self, y=torch.where(self.y == UNLABELLED, self.y, renamed))

    def to(self, device: torch.device | str) -> Episode:
        if self.y.device == torch.device(device):
            return self
        graph = copy(self.graph).to(device)
        return replace(self, graph=graph, y=graph.y, context=self.context.to(device), target=self.target.to(device))


@dataclass(frozen=True)
class Sampling:
    """How context and targets are drawn from the labelled nodes of each graph.

    ``context``: range of the share of labelled nodes that show their label, at least one node unless the rate is 0.
    ``extra``: range of the share that are targets besides the context; ``None`` makes all labelled nodes targets.
    ``log_uniform``: draw the context rate log-uniformly, so that sparse contexts are as common as dense ones.
    ``arbitrary``: rename the classes of every graph by a random permutation.
    """

    context: tuple[float, float]
    extra: tuple[float, float] | None = None
    log_uniform: bool = False
    arbitrary: bool = False

    def __post_init__(self) -> None:
        for name, rates in (("context", self.context), ("extra", self.extra)):
            if rates is not None and not 0 <= rates[0] <= rates[1] <= 1:
                raise UserError(
                    f"The {name} rates {list(rates)} were given, two fractions with 0 ≤ low ≤ high ≤ 1 are expected."
                )
        if self.log_uniform and self.context[0] == 0:
            raise UserError("Log-uniform context rates need a lowest rate above 0.")

    @classmethod
    def fixed(cls, rate: float, arbitrary: bool = False) -> Sampling:
        """The evaluation draw: one context rate, every labelled node a target."""
        return cls((rate, rate), arbitrary=arbitrary)


def sample_episode(graph: Data, num_classes: int, sampling: Sampling, generator: torch.Generator) -> Episode:
    """Draw context, targets and (for arbitrary labelling) class names for every graph of a batch, without a loop."""
    y, batch, graphs = graph.y, graph.batch, graph.ptr.numel() - 1
    labelled = y != UNLABELLED
    count = torch.zeros(graphs, dtype=torch.long).scatter_add_(0, batch, labelled.long())

    low, high = sampling.context
    draw = torch.rand(graphs, generator=generator, dtype=torch.float64)
    rate = low * (high / low) ** draw if sampling.log_uniform else low + (high - low) * draw
    num_context = (rate * count).round().long()
    num_context = torch.where(rate > 0, num_context.clamp(min=1), num_context).minimum(count)
    if sampling.extra is None:
        num_target = count
    else:
        low, high = sampling.extra
        extra_rate = low + (high - low) * torch.rand(graphs, generator=generator, dtype=torch.float64)
        more = (extra_rate * count).round().long()
        more = torch.where(extra_rate > 0, more.clamp(min=1), more)
        num_target = (num_context + more).minimum(count)

    # A random order of the labelled nodes of each graph: context first, then the other targets, then the rest.
    key = batch + torch.where(labelled, torch.rand(y.numel(), generator=generator, dtype=torch.float64) * 0.5, 0.75)
    order = key.argsort()
    rank = torch.empty_like(order)
    rank[order] = torch.arange(y.numel()) - graph.ptr[:-1][batch[order]]
    episode = Episode(
        graph,
        y,
        context=labelled & (rank < num_context[batch]),
        target=labelled & (rank < num_target[batch]),
        num_classes=num_classes,
    )
    if sampling.arbitrary:
        shuffle = torch.rand(graphs, num_classes, generator=generator).argsort(dim=1)
        episode = episode.relabelled(shuffle)
    return episode
