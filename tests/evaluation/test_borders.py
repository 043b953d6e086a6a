"""Borders: on a path they can be counted by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch_geometric.data import Data

from mpnp.defaults import SAMPLES
from mpnp.episode import Episode
from mpnp.evaluation.borders import border_shares, near_border, on_border
from mpnp.graphs import GraphSet
from mpnp.prediction import Prediction
from mpnp.tasks.base import SPLITS, Split, Task


def path(labels: str, both: bool = True) -> Data:
    """A path whose nodes have these labels, '?' for unknown."""
    steps = torch.arange(len(labels) - 1)
    edges = torch.stack([steps, steps + 1])
    y = torch.tensor([-1 if label == "?" else int(label) for label in labels])
    return Data(x=torch.ones(len(labels), 1), edge_index=torch.cat([edges, edges.flip(0)], 1) if both else edges, y=y)


def marks(mask: torch.Tensor) -> str:
    return "".join("x" if here else "." for here in mask.tolist())


@pytest.mark.parametrize("both", [True, False], ids=["both ways", "one way"])
def test_borders_and_what_is_near_them(both: bool) -> None:
    episode = Episode.from_graphs([path("0000011111", both), path("000", both)], num_classes=2)
    assert marks(on_border(episode)) == "....xx......."
    assert marks(near_border(episode)) == "..xxxxxx....."
    assert marks(near_border(episode, hops=0)) == marks(on_border(episode))
    assert marks(near_border(episode, hops=20)) == "xxxxxxxxxx..."  # never into another graph


def test_an_unknown_label_is_no_border() -> None:
    assert marks(on_border(Episode.from_graphs([path("00?11")], num_classes=2))) == "....."


class Paths(Task):
    name = "paths"
    context = extra = (0.1, 0.1)
    rates = (0.1,)
    num_features = 1
    num_classes = 2

    def __init__(self, *labels: str) -> None:
        self.labels = labels

    def load(self) -> dict[Split, GraphSet]:
        return {split: GraphSet.from_data_list([path(labels) for labels in self.labels]) for split in SPLITS}


class Told:
    """Says class 0 with the probabilities it is given, node by node."""

    name = "told"
    sees_own_label = False

    def __init__(self, *probabilities: float) -> None:
        self.probabilities = torch.tensor(probabilities)

    def predict(
        self, episode: Episode, *, samples: int = SAMPLES, seed: int = 0, nodes: torch.Tensor | None = None
    ) -> Prediction:
        return Prediction.certain(torch.stack([self.probabilities, 1 - self.probabilities], 1)).at(nodes)


def test_shares_of_what_lies_near_the_border() -> None:
    """Six of ten nodes near the border; unsure at one of them and at one far away; wrong at two of them and at one far away."""
    says = Told(0.5, 1, 1, 1, 1, 1, 0.5, 1, 0, 0)
    row = border_shares(says, Paths("0000011111"), [0.0]).at(0.0)
    assert row.nodes == pytest.approx(0.6) and row.graphs == 1
    assert row.total == pytest.approx(0.5) and row.aleatoric == pytest.approx(0.5)
    assert math.isnan(row.epistemic)
    # 0.5 counts as class 0: nodes 5, 6 and 7 are wrong, all of them near.
    assert row.mistakes == pytest.approx(1) and row.accuracy == pytest.approx(0.7)


def test_graphs_without_a_border_do_not_count() -> None:
    says = Told(0.5, 1, 1, 1, 1, 0.5, 0.5, 0.5)
    row = border_shares(says, Paths("00001", "000"), [0.0], hops=0).at(0.0)
    assert row.graphs == 1 and row.nodes == pytest.approx(2 / 5) and row.total == 0


def test_labels_that_are_shown_do_not_count() -> None:
    says = Told(*[0.9] * 10)
    table = border_shares(says, Paths("0000011111"), [0.5, 1.0], draws=2)
    assert 0 < table.at(0.5).nodes < 1
    assert math.isnan(table.at(1.0).nodes)
