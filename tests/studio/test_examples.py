"""Graphs made on the spot."""

from __future__ import annotations

import pytest
import torch

from mpnp.errors import UserError
from mpnp.studio.examples import EXAMPLES, make


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_shows_one_label_per_class(name: str) -> None:
    scene = make(name)
    shown = scene.data.y >= 0
    assert scene.truth is not None and shown.sum() == len(scene.class_names)
    assert (scene.data.y[shown] == scene.truth[shown]).all()
    assert set(scene.data.y[shown].tolist()) == set(range(len(scene.class_names)))
    assert scene.places.shape == (scene.nodes, 3 if scene.kind == "cloud" else 2)
    assert scene.data.x.size(1) == len(scene.feature_names) and len(set(scene.names)) == scene.nodes
    assert torch.bincount(scene.truth).min() > 0.04 * scene.nodes


@pytest.mark.parametrize("name", ["karate", "sphere", "life"])
def test_an_example_is_the_same_every_time(name: str) -> None:
    one, two = make(name), make(name)
    assert one.identity == two.identity and torch.equal(one.data.y, two.data.y)


def test_the_board_follows_the_rule_of_life() -> None:
    scene = make("life")
    alive = scene.data.x[:, 1].bool()
    source, target = scene.data.edge_index
    around = torch.zeros(scene.nodes, dtype=torch.long).index_add_(0, target, alive[source].long())
    assert scene.truth is not None
    assert torch.equal(scene.truth.bool(), (around == 3) | (alive & (around == 2)))


def test_sizes() -> None:
    scene = make("blocks")
    assert scene.nodes == 5_000 and 19_000 < len(scene.edges) <= 20_000


def test_unknown_examples_are_told() -> None:
    with pytest.raises(UserError, match="karate"):
        make("karat")
