"""What can be seen of an episode's graphs without labels, kept while the same graphs are asked about again."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import torch
from torch import Tensor

from ..episode import Episode
from ..experts.views import Views


class _Seen(NamedTuple):
    x: Tensor
    edges: Tensor
    views: list[Views]


_RECENT: deque[_Seen] = deque(maxlen=2)  # two, as a replay goes back and forth between no more than that


def views_of(episode: Episode) -> list[Views]:
    """One for every graph of the episode. Episodes that share their tensors, as all steps of labelling do, share these."""
    graph = episode.graph
    for seen in tuple(_RECENT):
        if seen.x is graph.x and seen.edges is graph.edge_index:
            return seen.views
    alone = episode.num_graphs == 1
    views = [Views.of(graph if alone else episode.only(number).graph) for number in range(episode.num_graphs)]
    _RECENT.append(_Seen(graph.x, graph.edge_index, views))
    return views


def looks(views: Views, steps: int = 2) -> Tensor:
    """Features smoothed along the edges for so many steps, as a graph convolution does it, [N, d]; of graphs without
    features, what their places in the graph are like."""
    if views.x is None:
        return views.structure
    smooth = views.x
    for _ in range(steps):
        smooth = views.walks.normalised(smooth)
    return smooth


def distances(one: Tensor, other: Tensor, most: int = 2**26) -> Tensor:
    """[N, d], [M, d] → [N, M]; not by matrix products, by which equal rows come out apart, unless that takes more than so many steps."""
    few = one.size(0) * other.size(0) * one.size(1) < most
    mode = "donot_use_mm_for_euclid_dist" if few else "use_mm_for_euclid_dist"
    return torch.cdist(one, other, compute_mode=mode)
