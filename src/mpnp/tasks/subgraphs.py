"""Many parts of one graph, too many to store: each is cut when it is asked for."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric import EdgeIndex
from torch_geometric.data import Data

from ..graphs import UNLABELLED, GraphSet


class SubgraphSet(GraphSet):
    """Induced subgraphs of one undirected graph, with the interface of :class:`GraphSet`.

    The nodes fall into groups; subgraph b holds those of the groups ``choices[b]`` and the edges between them, and a node
    is labelled by the place of its group in ``choices[b]``.

    Shapes: ``x`` [n, F], ``y`` [n] the group of each node and ``edge_index`` [2, E] (both directions) are those of the one
    graph; ``choices`` [B, C]; ``ptr`` [B + 1], ``sizes`` [B] and ``num_nodes`` count the nodes of the subgraphs, a node as
    often as it is in one.
    """

    def __init__(self, x: Tensor, group: Tensor, edge_index: Tensor, choices: Tensor) -> None:
        self.choices = choices
        self.groups = 1 + int(torch.cat([group, choices.flatten()]).max())
        sizes = torch.bincount(group, minlength=self.groups)[choices].sum(1)
        super().__init__(x, group, edge_index, torch.cat([sizes.new_zeros(1), sizes.cumsum(0)]), undirected=True)

    def __post_init__(self) -> None:
        # Unlike in a GraphSet the edges are not cut up by ``ptr``; sorted by target they stay so in every subgraph.
        source, target = self.edge_index
        self.edge_index = self.edge_index[:, (target * self.x.size(0) + source).argsort()]

    @property
    def num_nodes(self) -> int:
        return int(self.ptr[-1])

    def select(self, index: Tensor) -> Data:
        """The subgraphs ``index`` as one block-diagonal batch, like :meth:`GraphSet.select`."""
        chosen = self.choices[index]
        place = torch.full((index.numel(), self.groups), UNLABELLED)
        place.scatter_(1, chosen, torch.arange(chosen.size(1)).expand_as(chosen))
        label = place[:, self.y]
        keep = label != UNLABELLED
        batch, node = keep.nonzero().unbind(1)
        number = keep.flatten().cumsum(0).view_as(keep) - 1
        source, target = self.edge_index
        edge_batch, edge = (keep[:, source] & keep[:, target]).nonzero().unbind(1)
        return Data(
            x=self.x[node],
            y=label[keep],
            edge_index=EdgeIndex(
                torch.stack([number[edge_batch, source[edge]], number[edge_batch, target[edge]]]),
                sparse_size=(node.numel(), node.numel()),
                sort_order="col",
                is_undirected=True,
            ),
            batch=batch,
            ptr=torch.cat([batch.new_zeros(1), keep.sum(1).cumsum(0)]),
        )

    def subset(self, index: Tensor) -> SubgraphSet:
        """The subgraphs ``index`` as a set of their own."""
        return SubgraphSet(self.x, self.y, self.edge_index, self.choices[index])
