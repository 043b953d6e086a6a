"""Graphs made on the spot, to try the studio on: each with a truth that can be asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import networkx as nx
import numpy as np
import torch
from scipy.spatial import cKDTree
from torch import Tensor
from torch_geometric.data import Data

from ..errors import unknown_name
from ..graphs import UNLABELLED
from ..plots.places import Floats, Ints, place, unit
from ..tasks import lattices
from .scene import Kind, Scene


@dataclass(frozen=True)
class Example:
    """``title`` and ``about`` stand on the start page; ``make`` draws the graph, the same every time."""

    title: str
    about: str
    make: Callable[[], Scene]


def make(name: str) -> Scene:
    if name not in EXAMPLES:
        raise unknown_name("example", name, EXAMPLES)
    return EXAMPLES[name].make()


def _scene(
    name: str,
    edges: Ints,
    x: Floats,
    truth: Ints,
    class_names: list[str],
    feature_names: list[str],
    *,
    own: Floats | None = None,
    kind: Kind = "graph",
    names: list[str] | None = None,
) -> Scene:
    """``edges`` [2, E], each once. The first node of every class, in an order drawn at random, shows its label."""
    both = torch.from_numpy(np.concatenate([edges, edges[::-1]], axis=1).astype(np.int64))
    order = np.random.default_rng(0).permutation(len(truth))
    y = torch.full((len(truth),), UNLABELLED)
    for label in range(len(class_names)):
        first = order[truth[order] == label][0]
        y[first] = label
    return Scene(
        title=EXAMPLES[name].title,
        data=Data(x=torch.from_numpy(x).float(), edge_index=both, y=y),
        names=names or [str(i) for i in range(len(truth))],
        class_names=class_names,
        feature_names=feature_names,
        places=place(edges, len(truth), own),
        recipe=f"from mpnp.studio.examples import make\n\nscene = make({name!r})\ndata, names = scene.data, scene.names\n",
        kind=kind,
        truth=Tensor(torch.from_numpy(truth.astype(np.int64))),
    )


def karate() -> Scene:
    """Zachary's karate club: who went with whom when it split."""
    graph = nx.karate_club_graph()
    truth = np.array([int(graph.nodes[node]["club"] == "Officer") for node in graph])
    names = [f"member {node + 1}" for node in graph]
    nothing = np.ones((len(truth), 1))
    return _scene("karate", np.array(graph.edges).T, nothing, truth, ["Mr. Hi", "Officer"], ["constant"], names=names)


def sphere(nodes: int = 600) -> Scene:
    """A cellular automaton on the Voronoi cells of a sphere: what was the rule?"""
    rng = np.random.default_rng(2)
    points = rng.normal(size=(nodes, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    edges = lattices.spherical_voronoi(points, np.array([nodes])).astype(np.int64)
    # Neighbouring cells start alike more often than not, so that the outcome has parts one can see.
    wave = np.sin(4 * points[:, 0] + 1) + np.sin(5 * points[:, 1]) + np.sin(4 * points[:, 2] + 2)
    state = (wave + 0.5 * rng.normal(size=nodes) > 0).astype(np.int64)
    alive, degree = np.zeros(nodes), np.zeros(nodes)
    for one, other in (edges, edges[::-1]):
        np.add.at(alive, one, state[other])
        np.add.at(degree, one, 1)
    share = alive / degree
    truth = np.where(state == 1, (share > 0.25) & (share < 0.95), share > 0.55).astype(np.int64)
    return _scene("sphere", edges, np.eye(2)[state], truth, ["dead", "alive"], ["was dead", "was alive"],
                  own=points, kind="cloud")  # fmt: skip


def life(side: int = 30) -> Scene:
    """A Life-like board one generation on: born with three living neighbours, living on with two or three."""
    rng = np.random.default_rng(3)
    board = (rng.random((side, side)) < 0.4).astype(np.int64)
    around = sum(np.roll(board, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0))
    truth = ((around == 3) | ((board == 1) & (around == 2))).astype(np.int64).ravel()
    row, column = np.divmod(np.arange(side * side), side)
    own = np.stack([column, side - 1 - row], axis=1).astype(np.float64)
    names = [f"row {r + 1}, column {c + 1}" for r, c in zip(row, column, strict=True)]
    return _scene("life", lattices.torus(side), np.eye(2)[board.ravel()], truth, ["dead", "alive"],
                  ["was dead", "was alive"], own=own, kind="board", names=names)  # fmt: skip


def lamp(nodes: int = 2_000) -> Scene:
    """Points on a desk lamp: foot, pole and shade, each linked to the eight nearest."""
    rng = np.random.default_rng(4)
    foot, pole = nodes // 4, nodes // 5
    shade = nodes - foot - pole
    angle = rng.random(nodes) * 2 * np.pi
    radius = np.concatenate([0.55 * np.sqrt(rng.random(foot)), np.full(pole, 0.04), np.zeros(shade)])
    height = np.concatenate([0.06 * rng.random(foot), rng.random(pole) * 1.5, rng.random(shade)])
    radius[-shade:] = 0.28 + 0.42 * (1 - height[-shade:])
    height[-shade:] = 1.25 + 0.65 * height[-shade:]
    points = np.stack([radius * np.cos(angle), height, radius * np.sin(angle)], axis=1)
    points += 0.008 * rng.normal(size=points.shape)
    nearest = cKDTree(points).query(points, 9)[1][:, 1:]
    pairs = np.stack([np.repeat(np.arange(nodes), 8), nearest.ravel()])
    edges = np.unique(np.sort(pairs, axis=0), axis=1)
    truth = np.repeat([0, 1, 2], [foot, pole, shade])
    return _scene("lamp", edges, unit(points), truth, ["foot", "pole", "shade"], ["x", "height", "z"],
                  own=points, kind="cloud")  # fmt: skip


def blocks(nodes: int = 5_000, degree: int = 8, classes: int = 5, seed: int = 5) -> Scene:
    """A block model: five groups, most edges within them, and features that say a little."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, nodes)
    source = rng.integers(0, nodes, nodes * degree // 2)
    order, size = np.argsort(truth, kind="stable"), np.bincount(truth, minlength=classes)
    first = (size.cumsum() - size)[truth[source]]
    within = order[first + (rng.random(len(source)) * size[truth[source]]).astype(np.int64)]
    target = np.where(rng.random(len(source)) < 0.8, within, rng.integers(0, nodes, len(source)))
    pairs = np.stack([source, target])[:, source != target]
    edges = np.unique(np.sort(pairs, axis=0), axis=1)
    x = rng.normal(size=(classes, 16))[truth] * 0.6 + rng.normal(size=(nodes, 16))
    names = [f"group {chr(65 + label)}" for label in range(classes)]
    return _scene("blocks", edges, x, truth, names, [f"feature {i}" for i in range(16)])


EXAMPLES: dict[str, Example] = {
    "karate": Example("Karate club", "34 members, and the quarrel that split them", karate),
    "sphere": Example("Automaton on a sphere", "600 cells that live or die by a hidden rule", sphere),
    "life": Example("Life-like board", "30 × 30 cells, one generation on", life),
    "lamp": Example("Lamp", "2,000 points of a thing with three parts", lamp),
    "blocks": Example("Block model", "5,000 nodes in five groups, 20,000 edges", blocks),
}
