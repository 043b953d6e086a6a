"""What the tests of pictures share: small graphs, one of each kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.prediction import Prediction
from mpnp.tasks.lattices import torus


def graph(nodes: int, edges: list[tuple[int, int]], **more: Any) -> Data:
    edge_index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()
    x = torch.nn.functional.one_hot(torch.arange(nodes) % 2, 2).float()
    return Data(x=x, edge_index=edge_index, y=torch.arange(nodes) % 3 - 1, **more)


def episode() -> Episode:
    """Two graphs, the second with labels that are not shown, and nodes without a label in both."""
    context = torch.tensor([True] * 5 + [False] * 3)
    return Episode.from_graphs([graph(5, [(0, 1), (1, 0), (2, 3)]), graph(3, [(0, 2)])], context)


def lines(nodes: int = 30, **more: Any) -> Data:
    """A path; the first half of it is class 0, the second class 1."""
    steps = torch.arange(nodes - 1)
    one_way = torch.stack([steps, steps + 1])
    x = more.pop("x", F.one_hot(torch.arange(nodes) % 2, 2).float())
    edge_index = torch.cat([one_way, one_way.flip(0)], 1)
    return Data(x=x, edge_index=edge_index, y=(torch.arange(nodes) >= nodes // 2).long(), **more)


def points(nodes: int = 30) -> torch.Tensor:
    return torch.randn(nodes, 3, generator=torch.Generator().manual_seed(0))


def cloud(nodes: int = 30) -> Episode:
    """A path of points in space of which the first three show their label."""
    place = points(nodes)
    return Episode.from_graphs([lines(nodes, x=place, pos=place)], torch.arange(nodes) < 3, num_classes=2)


def sphere(nodes: int = 40) -> Episode:
    place = F.normalize(points(nodes), dim=1)
    return Episode.from_graphs([lines(nodes, pos=place)], torch.arange(nodes) < 4, num_classes=2)


def board(side: int = 4) -> Episode:
    """A Life-like board in stripes: the labels of the first row are shown."""
    pairs = torch.from_numpy(torus(side))
    column = torch.arange(side * side) % side
    data = Data(x=F.one_hot(column % 2, 2).float(), edge_index=torch.cat([pairs, pairs.flip(0)], 1), y=1 - column % 2)
    return Episode.from_graphs([data], torch.arange(side * side) < side, num_classes=2)


def sure(episode: Episode, wrong: tuple[int, ...] = ()) -> Prediction:
    """Certain of the true labels, and of another at the nodes ``wrong``."""
    label = episode.y.clone()
    label[list(wrong)] = (label[list(wrong)] + 1) % episode.num_classes
    return Prediction.certain(F.one_hot(label, episode.num_classes).float())


def unsure(episode: Episode) -> Prediction:
    return Prediction.certain(torch.full((episode.num_nodes, episode.num_classes), 1 / episode.num_classes))


def colours(collection: Any) -> list[str]:
    from matplotlib.colors import to_hex

    return [to_hex(colour).upper() for colour in np.atleast_2d(collection.get_facecolors())]
