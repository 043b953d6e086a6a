"""The contract of every query strategy, and what they share."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch_geometric.utils import remove_self_loops, to_undirected

from ..episode import Episode
from ..graphs import plain_edges
from ..prediction import Prediction


class Choice(NamedTuple):
    """``nodes`` [M] to ask for, graph by graph and the best of each graph first, and their ``scores`` [M]: why."""

    nodes: Tensor
    scores: Tensor


class Strategy(Protocol):
    """Chooses ``count`` nodes of every graph, or all of its ``pool`` [N] bool where that holds fewer.

    It reads no label but those shown. ``noise`` [N], numbers in [0, 1), settles what scores leave open. ``says``: what
    the score is, in words.
    """

    @property
    def says(self) -> str: ...

    def choose(self, episode: Episode, prediction: Prediction, pool: Tensor, count: int, noise: Tensor) -> Choice: ...


def best(scores: Tensor, pool: Tensor, batch: Tensor, count: int, noise: Tensor) -> Tensor:
    """The ``count`` nodes of each graph's pool with the largest scores [N], the best first; equal ones by ``noise``."""
    nodes = pool.nonzero().squeeze(1)
    nodes = nodes[noise[nodes].argsort()]
    # Differences this small come from the order of additions, not from the data.
    nodes = nodes[scores[nodes].double().round(decimals=6).argsort(descending=True, stable=True)]
    nodes = nodes[batch[nodes].argsort(stable=True)]
    sizes = torch.bincount(batch[nodes])
    rank = torch.arange(nodes.numel()) - (sizes.cumsum(0) - sizes)[batch[nodes]]
    return nodes[rank < count]


def by_graph(nodes: list[Tensor], scores: list[Tensor], batch: Tensor) -> Choice:
    """Nodes chosen one after the other, graph by graph."""
    if not nodes:
        return Choice(torch.zeros(0, dtype=torch.long), torch.zeros(0))
    every = torch.cat(nodes)
    order = batch[every].argsort(stable=True)
    return Choice(every[order], torch.cat(scores)[order])


def both_ways(episode: Episode) -> Tensor:
    """Both directions of every edge between two nodes, [2, E]."""
    edges, _ = remove_self_loops(plain_edges(episode.graph.edge_index))
    return to_undirected(edges, num_nodes=episode.num_nodes)
