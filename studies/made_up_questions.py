"""What asking is worth on made-up graphs, paired over graphs: ``python -m studies.made_up_questions [--first 0] [--graphs 40]``.

Problems of ``prior/graphs`` that ``universal`` was not trained on, of 60 to 400 nodes; from one label per class, six steps of as many labels as there
are classes. Any node may be asked, and all nodes are scored, given labels as given. What is measured is not measured again.
Writes results/asking/made-up.json and prints the gains over chance.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from mpnp.active import STRATEGIES, Gain, ask
from mpnp.files import replacing, write_json
from mpnp.graphs import UNLABELLED
from mpnp.models import find_predictor
from mpnp.models.universal import Universal
from mpnp.tasks.prior.problems import draw
from mpnp.tasks.prior.task import as_episode

OUT = Path(__file__).parents[1] / "results" / "asking" / "made-up.json"
SEED = 30_000_000  # of problem 0: far from those of training
SIZES = (60, 400)
STEPS = 6


def area(model: Universal, number: int, strategies: Sequence[str]) -> dict[str, float]:
    """The mean height of every strategy's curve on one problem; empty if it is too large or too small."""
    problem = draw(np.random.default_rng(SEED + number))
    if not SIZES[0] <= problem.y.size <= SIZES[1]:
        return {}
    episode = as_episode(problem)
    truth, classes = episode.y, problem.classes
    session = model.open(episode.graph)
    noise = torch.rand(truth.numel(), generator=torch.Generator().manual_seed(number), dtype=torch.double)
    order = noise.argsort()
    start = torch.full_like(truth, UNLABELLED)
    for label in range(classes):
        start[order[truth[order] == label][:1]] = label
    areas = {}
    for name in strategies:
        y, curve = start, []
        for step in range(STEPS + 1):
            prediction = session.predict(y, classes)
            shown = y != UNLABELLED
            curve.append(float((torch.where(shown, y, prediction.label) == truth).float().mean()))
            if step < STEPS and not bool(shown.all()):
                asked = ask(name, replace(episode, y=y, context=shown), prediction, count=classes, noise=noise).nodes
                y = y.clone()
                y[asked] = truth[asked]
        areas[name] = round(sum((a + b) / 2 for a, b in pairwise(curve)) / STEPS, 5)
    return areas


def gains(kept: dict[str, dict[str, float]]) -> dict[str, Gain]:
    """Gains over chance of every strategy that was measured on all graphs that count."""
    rows = [row for row in kept.values() if row]
    names = [name for name in STRATEGIES if name != "random" and rows and all(name in row for row in rows)]
    return {name: Gain.of(torch.tensor([row[name] - row["random"] for row in rows])) for name in names}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m studies.made_up_questions", description="Asking on made-up graphs.")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--graphs", type=int, default=40, help="problems, of which those of the right size count")
    parser.add_argument(
        "--strategies",
        nargs="+",
        default=["random", "entropy", "margin", "spread", "typical", "age", "featprop", "grain", "auto"],
    )
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)
    model = find_predictor("universal")[0]
    assert isinstance(model, Universal)
    for number in range(asked.first, asked.first + asked.graphs):
        kept = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else {}
        row = kept.get(str(number))
        missing = [name for name in asked.strategies if name not in (row or {})]
        if row == {} or not missing:  # too large or too small, or all there
            continue
        found = area(model, number, missing)
        with replacing(OUT) as temporary:
            write_json(temporary, {**kept, str(number): {**(row or {}), **found}})
    for name, gain in gains(json.loads(OUT.read_text(encoding="utf-8"))).items():
        print(f"{name:<10}{100 * gain.mean:+.2f} ({100 * gain.low:+.2f} to {100 * gain.high:+.2f})")


if __name__ == "__main__":
    main()
