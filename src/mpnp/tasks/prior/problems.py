"""Made-up problems: a network, what its nodes are, what they look like, and which of them are labelled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from . import looks, networks
from .networks import Random, between, both_ways


@dataclass(frozen=True)
class Problem:
    """Shapes: ``x`` [N, F], ``edges`` [2, E] both ways, ``y`` [N] in 0 … classes - 1, ``context`` [N] bool; ``kind``: which
    family it was drawn from."""

    kind: str
    x: np.ndarray
    edges: np.ndarray
    y: np.ndarray
    classes: int
    context: np.ndarray


def draw(random: Random, kind: str | None = None, most_nodes: int = 2000) -> Problem:
    """A problem of a family drawn by weight, or of the one named."""
    kind = kind or str(random.choice(list(FAMILIES), p=[weight for weight, _ in FAMILIES.values()]))
    nodes = int(between(random, 60, most_nodes))
    classes = int(min(2 + random.geometric(0.22) - 1, 40, nodes // 4))
    while True:
        x, edges, y = FAMILIES[kind][1](random, nodes, classes)
        present, y = np.unique(y, return_inverse=True)
        if present.size > 1:
            break
    y = random.permutation(present.size)[y]
    if random.random() < 0.3:
        wrong = random.random(nodes) < random.uniform(0, 0.2)
        y = np.where(wrong, random.integers(0, present.size, nodes), y)
    edges = both_ways(edges, nodes)
    if random.random() < 0.1:  # edges that lead anywhere
        more = random.integers(0, nodes, (2, int(edges.shape[1] * random.uniform(0.05, 0.5))))
        edges = both_ways(np.concatenate([edges, more], 1), nodes)
    return Problem(kind, x, edges, y, present.size, _context(random, y, present.size))


def _context(random: Random, y: np.ndarray, classes: int) -> np.ndarray:
    """As many labels of every class (one to thirty), or a share of all nodes (few to most)."""
    order = random.permutation(y.size)
    context = np.zeros(y.size, dtype=bool)
    if random.random() < 0.6:
        each = int(random.choice([1, 2, 3, 5, 10, 20, 30], p=[0.12, 0.13, 0.15, 0.2, 0.18, 0.15, 0.07]))
        for c in range(classes):
            own = order[y[order] == c]
            context[own[: max(1, min(each, own.size // 2))]] = True
    else:
        context[order[: max(2, int(y.size * between(random, 0.01, 0.75)))]] = True
    return context


Drawn = tuple[np.ndarray, np.ndarray, np.ndarray]


def communities(random: Random, nodes: int, classes: int) -> Drawn:
    """Classes of communities, some communities across classes; alike or unlike neighbours; words or measurements of both."""
    y = random.choice(classes, nodes, p=random.dirichlet(np.full(classes, between(random, 0.7, 20))))
    below = int(min(between(random, 1, 30), max(1, nodes / (12 * classes))))
    community = y * below + random.integers(0, below, nodes)
    if random.random() < 0.3:  # circles that cut across classes
        across = random.random(nodes) < random.uniform(0.1, 0.8)
        community = np.where(across, classes * below + random.integers(0, 1 + classes, nodes), community)
    blocks = int(community.max()) + 1
    of = np.full(blocks, -1)
    of[community[community < classes * below]] = y[community < classes * below]
    alike = of[:, None] == of[None, :]
    style = random.random()
    if style < 0.8:  # birds of a feather
        affinity = np.full((blocks, blocks), between(random, 0.002, 0.7))
        affinity[alike] = np.maximum(affinity[alike], between(random, 0.03, 1))
        affinity[np.eye(blocks, dtype=bool)] = 1.0
    else:  # any class may like any other
        taste = np.exp(random.uniform(0.2, 2.5) * random.normal(0, 1, (classes + 1, classes + 1)))
        affinity = (taste + taste.T)[of][:, of]
        if random.random() < 0.5:
            affinity = affinity * np.exp(random.uniform(0, 1.5) * random.normal(0, 1, (blocks, blocks)))
            affinity = affinity + affinity.T
    if random.random() < 0.3:
        affinity = affinity * np.exp(random.normal(0, 0.7, blocks))[:, None]
        affinity = affinity + affinity.T
    propensity = np.exp(random.normal(0, random.uniform(0, 1.4), nodes))
    edges = networks.pairs_of_blocks(random, community, affinity, propensity, int(nodes * between(random, 0.7, 25)))
    return _dressed(random, [y, community], edges), edges, y


def _dressed(random: Random, kinds: list[np.ndarray], edges: np.ndarray) -> np.ndarray:
    """Features of what nodes are, perhaps taken over from neighbours; or none."""
    nodes = kinds[0].size
    if random.random() < 0.22:
        return looks.nothing(random, nodes)
    x = looks.some(random, [kinds[0]] if random.random() < 0.3 else kinds)
    if random.random() < 0.15:
        x = _mixed(random, x, edges)
    return x


def _mixed(random: Random, x: np.ndarray, edges: np.ndarray) -> np.ndarray:
    ends = both_ways(edges, x.shape[0])
    matrix = csr_matrix((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(x.shape[0],) * 2)
    mean = (matrix @ x) / np.maximum(np.asarray(matrix.sum(1)), 1)
    keep = random.uniform(0.2, 0.9)
    return (keep * x + (1 - keep) * mean).astype(np.float32)


def space(random: Random, nodes: int, classes: int) -> Drawn:
    """Points in space, joined to the nearest; classes are regions; features are places, seen clearly or not, or hints."""
    dimensions = int(random.integers(2, 4))
    places = random.random((nodes, dimensions))
    if random.random() < 0.4:
        clumps = random.random((int(random.integers(2, 12)), dimensions))
        places = clumps[random.integers(0, len(clumps), nodes)] + random.normal(0, 0.08, (nodes, dimensions))
    edges = networks.near_in_space(random, places, int(random.integers(2, 12)))
    centres = random.random((classes * int(random.integers(1, 5)), dimensions))
    distance = ((places[:, None, :] - centres[None]) ** 2).sum(-1)
    y = (distance + random.normal(0, between(random, 1e-4, 0.03), distance.shape)).argmin(1) % classes
    style = random.random()
    if style < 0.5:
        x = (places + random.normal(0, between(random, 1e-3, 0.3), places.shape)).astype(np.float32)
    elif style < 0.75:
        x = looks.some(random, [y])
    else:
        x = looks.nothing(random, nodes)
    return x, edges, y


def rules(random: Random, nodes: int, classes: int) -> Drawn:
    """Nodes have a state; a class follows from a node's own state and its neighbours' (as automata, votes, or scores do)."""
    edges = networks.any_network(random, nodes)
    ends = both_ways(edges, nodes)
    matrix = csr_matrix((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(nodes, nodes))
    degree = np.maximum(np.asarray(matrix.sum(1)), 1)
    states = int(random.integers(2, 6))
    state = random.choice(states, nodes, p=random.dirichlet(np.full(states, 3.0)))
    one_hot = np.eye(states)[state]
    around = matrix @ one_hot
    if random.random() < 0.7:
        around = around / degree
    own, others = random.normal(0, random.uniform(0, 1.5), (states, classes)), random.normal(0, 1, (states, classes))
    if random.random() < 0.5:  # a table of its own for every state, as automata have
        score = (
            np.einsum("ns,nt,stc->nc", one_hot, around, random.normal(0, 1, (states, states, classes))) + one_hot @ own
        )
    else:
        score = one_hot @ own + around @ others
    score = (score - score.mean(0)) / (score.std(0) + 1e-6)
    y = (score + random.normal(0, between(random, 0.01, 0.6), score.shape)).argmax(1)
    x = one_hot.astype(np.float32)
    if random.random() < 0.4:
        x = (
            x @ random.normal(0, 1, (states, int(random.integers(2, 12))))
            + random.normal(0, between(random, 0.01, 0.5), (nodes, 1))
        ).astype(np.float32)
    return x, edges, y


def clues(random: Random, nodes: int, classes: int) -> Drawn:
    """Classes lie hidden, each node shows how many neighbours are of which, or nothing: as in a game of mines."""
    edges = networks.any_network(random, nodes)
    ends = both_ways(edges, nodes)
    classes = min(classes, 4)
    y = random.choice(classes, nodes, p=random.dirichlet(np.full(classes, 2.0)))
    around = csr_matrix((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(nodes, nodes)) @ np.eye(classes)[y]
    counts = np.minimum(around[:, 1:], 8)
    counts = counts + random.integers(-1, 2, counts.shape) * (random.random(counts.shape) < random.uniform(0, 0.3))
    unseen = random.random(nodes) < random.uniform(0, 0.7)
    if random.random() < 0.6:
        x = np.concatenate(
            [np.eye(11)[np.clip(column, 0, 10).astype(int)] for column in counts.T] + [unseen[:, None]], 1
        )
    else:
        x = np.concatenate([counts, unseen[:, None]], 1)
    x = np.where(unseen[:, None], np.eye(x.shape[1])[-1], x)
    return x.astype(np.float32), edges, y


def roles(random: Random, nodes: int, classes: int) -> Drawn:
    """Classes are roles: how central a node is, how many neighbours it has, how tightly they are knit."""
    if random.random() < 0.5:
        edges = networks.any_network(random, nodes)
    else:  # a core and what lies around it
        propensity = np.exp(random.normal(0, random.uniform(0.5, 1.6), nodes))
        region = random.integers(0, int(random.integers(1, 8)), nodes)
        affinity = np.full((8, 8), between(random, 0.02, 1)) + np.eye(8)
        edges = networks.pairs_of_blocks(random, region, affinity, propensity, int(nodes * between(random, 1, 12)))
    ends = both_ways(edges, nodes)
    matrix = csr_matrix((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(nodes, nodes))
    degree = np.asarray(matrix.sum(1)).ravel()
    style = random.integers(4)
    if style == 0:
        score = np.log1p(degree)
    elif style == 1:
        rank = np.full(nodes, 1 / nodes)
        for _ in range(20):
            rank = 0.15 / nodes + 0.85 * (matrix @ (rank / np.maximum(degree, 1)))
        score = np.log(rank)
    elif style == 2:
        score = np.log1p(matrix @ (matrix @ degree))
    else:
        score = np.asarray((matrix @ matrix).multiply(matrix).sum(1)).ravel() / np.maximum(degree * (degree - 1), 1)
    score = (score - score.mean()) / (score.std() + 1e-6) + random.normal(0, between(random, 0.02, 0.8), nodes)
    classes = min(classes, 6)
    cuts = np.sort(random.random(classes - 1)) if random.random() < 0.5 else np.arange(1, classes) / classes
    y = np.searchsorted(np.quantile(score, cuts), score)
    x = looks.nothing(random, nodes) if random.random() < 0.7 else looks.some(random, [y])
    return x, edges, y


def appearances(random: Random, nodes: int, classes: int) -> Drawn:
    """Only what a node looks like tells its class; the edges lead anywhere, or to those who look alike."""
    style = random.random()
    if style < 0.5:
        y = random.choice(classes, nodes, p=random.dirichlet(np.full(classes, between(random, 1, 20))))
        x = looks.some(random, [y, y * 3 + random.integers(0, 3, nodes)])
    else:  # a bent function of some of the columns
        x = looks.measurements(random, [np.zeros(nodes, dtype=np.int64)])
        z = (x - x.mean(0)) / (x.std(0) + 1e-9)
        hidden = np.tanh(z @ random.normal(0, between(random, 0.2, 1.5), (x.shape[1], 16)))
        y = (
            hidden @ random.normal(0, 1, (16, classes)) + random.normal(0, between(random, 0.01, 1), (nodes, classes))
        ).argmax(1)
    return x, networks.any_network(random, nodes), y


Family = Callable[[Random, int, int], Drawn]
FAMILIES: dict[str, tuple[float, Family]] = {
    "communities": (0.58, communities),
    "space": (0.08, space),
    "rules": (0.1, rules),
    "clues": (0.05, clues),
    "roles": (0.06, roles),
    "appearances": (0.13, appearances),
}
