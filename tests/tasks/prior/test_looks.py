"""Made-up features."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mpnp.tasks.prior import looks

KIND = np.arange(80) % 4
DRAWS = (looks.words, looks.measurements, looks.categories, looks.some)


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("seed", range(6))
def test_features_are_finite_and_the_same_for_the_same_seed(draw: Callable[..., np.ndarray], seed: int) -> None:
    one, two = (draw(np.random.default_rng(seed), [KIND]) for _ in range(2))
    assert one.shape[0] == 80 and one.dtype == np.float32 and np.isfinite(one).all()
    assert np.array_equal(one, two)


def test_words_are_counts_and_categories_are_answers() -> None:
    words = looks.words(np.random.default_rng(0), [KIND])
    assert (words >= 0).all() and np.array_equal(words, words.round())
    answers = looks.categories(np.random.default_rng(0), [KIND])
    assert set(np.unique(answers)) == {0, 1} and np.unique(answers.sum(1)).size == 1  # as many answers as questions


def told(draw: Callable[..., np.ndarray], seed: int) -> float:
    """How far the means of the kinds lie apart, in deviations of a mean of so many nodes: 1 where nothing is told."""
    x = draw(np.random.default_rng(seed), [KIND]).astype(np.float64)
    x = (x - x.mean(0)) / (x.std(0) + 1e-9)
    return float(np.mean([20 * x[k == KIND].mean(0) ** 2 for k in range(4)]))


@pytest.mark.parametrize("draw", [looks.words, looks.measurements, looks.categories])
def test_features_tell_what_a_node_is(draw: Callable[..., np.ndarray]) -> None:
    assert np.mean([told(draw, seed) for seed in range(15)]) > 1.15


def test_nothing_says_nothing() -> None:
    shapes = set()
    for seed in range(20):
        x = looks.nothing(np.random.default_rng(seed), 60)
        identity = x.shape == (60, 60) and np.array_equal(x, np.eye(60))
        shapes.add("identity" if identity else "none" if x.shape[1] == 0 else "constant" if x.std() == 0 else "noise")
    assert shapes == {"identity", "none", "constant", "noise"}
