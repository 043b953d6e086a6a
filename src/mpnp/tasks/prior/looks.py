"""Made-up features: words, measurements, categories, or none, which tell more or less of what a node is."""

from __future__ import annotations

import numpy as np

from .networks import Random, between


def words(random: Random, kinds: list[np.ndarray]) -> np.ndarray:
    """Bags of words [N, V]: common words by Zipf's law, and topics of each kind of thing a node is (its class, its community)."""
    nodes = kinds[0].size
    vocabulary = int(between(random, 40, 900))
    common = 1.0 / (np.arange(vocabulary) + random.uniform(1, 20)) ** random.uniform(0.5, 1.2)
    common = random.permutation(common / common.sum())
    chance = np.tile(common, (nodes, 1))
    for kind in kinds:
        topics = int(kind.max()) + 1
        share = between(random, 0.02, 0.3)
        own = random.random((topics, vocabulary)) < share
        boosted = common * np.where(own, random.gamma(0.7, 1.0, (topics, vocabulary)), 0)
        boosted /= boosted.sum(1, keepdims=True) + 1e-12
        weight = random.uniform(0, 1) ** 1.5 * np.minimum(1, random.gamma(3, 1 / 3, (nodes, 1)))
        chance = (1 - weight) * chance + weight * boosted[kind]
    length = np.exp(random.normal(np.log(between(random, 3, 80)), random.uniform(0.1, 0.7), nodes))
    counts = random.poisson(chance * length[:, None])
    return (counts > 0).astype(np.float32) if random.random() < 0.6 else counts.astype(np.float32)


def measurements(random: Random, kinds: list[np.ndarray]) -> np.ndarray:
    """Columns of numbers [N, d]: a centre for each kind of thing a node is, noise around it, perhaps bent, on any scale."""
    nodes = kinds[0].size
    width = int(between(random, 2, 64))
    x = random.normal(0, 1, (nodes, width))
    for kind in kinds:
        telling = random.random(width) < random.uniform(0.1, 1)
        centres = random.normal(0, 1, (int(kind.max()) + 1, width)) * telling
        x += between(random, 0.1, 3) / np.sqrt(max(1, telling.sum()) ** 0.5) * centres[kind]
    bend = random.integers(4)
    if bend == 1:
        x = np.tanh(x @ random.normal(0, 1 / np.sqrt(width), (width, width)))
    elif bend == 2:
        x = np.exp(random.uniform(0.2, 1) * x)
    elif bend == 3:
        x = (x > random.normal(0, 1, width)).astype(np.float64)
    return (x * np.exp(random.normal(0, random.uniform(0, 3), width))).astype(np.float32)


def categories(random: Random, kinds: list[np.ndarray]) -> np.ndarray:
    """One-hot columns [N, d]: a few questions with a few answers each, more or less typical of what a node is."""
    nodes, columns = kinds[0].size, []
    for _ in range(int(random.integers(1, 6))):
        answers, kind = int(random.integers(2, 8)), kinds[int(random.integers(len(kinds)))]
        typical = random.integers(0, answers, int(kind.max()) + 1)[kind]
        given = np.where(random.random(nodes) < random.uniform(0, 0.9), typical, random.integers(0, answers, nodes))
        columns.append(np.eye(answers, dtype=np.float32)[given])
    return np.concatenate(columns, 1)


def nothing(random: Random, nodes: int) -> np.ndarray:
    """No column, a constant, noise, or an identity: features that say nothing."""
    kind = random.integers(4)
    if kind == 0 and nodes <= 600:
        return np.eye(nodes, dtype=np.float32)
    if kind == 1:
        return np.ones((nodes, 1), dtype=np.float32)
    if kind == 2:
        return random.normal(0, 1, (nodes, int(random.integers(1, 16)))).astype(np.float32)
    return np.zeros((nodes, 0), dtype=np.float32)


def some(random: Random, kinds: list[np.ndarray]) -> np.ndarray:
    """Features of any kind that tell something of each of ``kinds``, a list of whole numbers per node."""
    draws = (words, measurements, categories)
    x = draws[int(random.choice(len(draws), p=[0.55, 0.35, 0.1]))](random, kinds)
    if random.random() < 0.15:  # some nodes are blank
        x = x * (random.random((x.shape[0], 1)) > random.uniform(0.05, 0.6))
    return x.astype(np.float32)
