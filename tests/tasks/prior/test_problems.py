"""Made-up problems."""

from __future__ import annotations

import numpy as np
import pytest

from mpnp.tasks.prior.problems import FAMILIES, Problem, draw


def drawn(kind: str | None, seed: int) -> Problem:
    return draw(np.random.default_rng(seed), kind, most_nodes=200)


@pytest.mark.parametrize("kind", FAMILIES)
@pytest.mark.parametrize("seed", range(8))
def test_every_family_draws_sound_problems(kind: str, seed: int) -> None:
    problem = drawn(kind, seed)
    nodes = problem.y.size
    assert problem.kind == kind and 60 <= nodes <= 200
    assert problem.x.shape[0] == problem.context.size == nodes
    assert problem.x.dtype == np.float32 and np.isfinite(problem.x).all()
    assert problem.classes >= 2 and problem.y.min() >= 0 and problem.y.max() < problem.classes
    assert 0 < problem.context.sum() < nodes
    source, target = problem.edges
    assert (source != target).all() and problem.edges.max(initial=0) < nodes
    there = {(a, b) for a, b in problem.edges.T.tolist()}
    assert len(there) == problem.edges.shape[1] and {(b, a) for a, b in there} == there


def test_the_weights_of_the_families_are_shares() -> None:
    assert sum(weight for weight, _ in FAMILIES.values()) == pytest.approx(1)


def test_a_seed_draws_the_same_and_another_seed_another() -> None:
    one, two, other = drawn(None, 5), drawn(None, 5), drawn(None, 6)
    assert all(np.array_equal(getattr(one, name), getattr(two, name)) for name in ("x", "edges", "y", "context"))
    assert one.y.size != other.y.size or not np.array_equal(one.y, other.y)


def test_contexts_run_from_a_label_per_class_to_most_nodes() -> None:
    problems = [drawn(None, seed) for seed in range(80)]
    shares = [problem.context.mean() for problem in problems]
    assert min(shares) < 0.05 and max(shares) > 0.5
    assert any(np.bincount(p.y[p.context], minlength=p.classes).max() == 1 for p in problems)
    assert {problem.kind for problem in problems} == set(FAMILIES)
