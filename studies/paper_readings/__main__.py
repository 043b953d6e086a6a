"""Which reading of the paper gives its figures on automata?

    python -m studies.paper_readings --together class-wise-1 mean-1     trains these side by side; goes on where it was stopped
                                     [--family voronoi] [--seed 1]
    python -m studies.paper_readings --page                             writes the table of all that was measured, and results/ca

The paper prints layers, widths, learning rate and epochs, but not how many graphs a step has, whether the automata use class-wise
summaries, or whether a spread is a deviation or a variance. Everything is validated on validation rules every five epochs; test
rules are looked at once, after the last epoch, and nothing is chosen by them.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from mpnp.episode import Episode, Sampling, sample_episode
from mpnp.evaluation.evaluate import evaluate
from mpnp.evaluation.provenance import provenance
from mpnp.files import replacing, write_json
from mpnp.models.neural_process import NeuralProcess
from mpnp.tasks import get_task
from mpnp.tasks.base import Task
from mpnp.tasks.cellular_automata import FAMILIES

from . import page
from .together import Lessons, Reading, Together

EPOCHS = 200
EVERY = 5  # epochs between validations
VALIDATION = 60  # graphs
READINGS = {
    "class-wise-1": Reading(),
    "mean-1": Reading(by_class=False),
    "variance-1": Reading(spread="variance"),
    "own-mean-1": Reading(keep_share=False),
    "standardised-1": Reading(standardise=True),
    "mean-messages-1": Reading(messages="mean"),
    "class-wise-2": Reading(graphs=2),
    "class-wise-4": Reading(graphs=4),
    "class-wise-8": Reading(graphs=8),
    "class-wise-32": Reading(graphs=32),
    "mean-8": Reading(graphs=8, by_class=False),
    "mean-32": Reading(graphs=32, by_class=False),
    # Not the paper's rate, but ten steps in one: where a reading is likely to go.
    "class-wise-1-tenfold": Reading(learning_rate=1e-3),
    "mean-1-tenfold": Reading(by_class=False, learning_rate=1e-3),
    "class-wise-8-tenfold": Reading(graphs=8, learning_rate=1e-3),
    "mean-8-tenfold": Reading(graphs=8, by_class=False, learning_rate=1e-3),
}


def train(names: list[str], folder: Path, epochs: int = EPOCHS, family: str = FAMILIES[0], seed: int = 0) -> None:
    """Train the readings ``names`` side by side up to ``epochs``, from the last epoch on that was kept."""
    task = get_task(f"ca/{family}")
    readings = [replace(READINGS[name], seed=seed) for name in names]
    place = folder / family / (f"seed{seed}" if seed else "")
    versions = list(dict.fromkeys((r.standardise, r.messages == "mean") for r in readings))
    together = Together(readings, [reading.model(task) for reading in readings], versions)
    lessons = Lessons(task, versions, Sampling(task.context, task.extra))
    validation = validation_episodes(task)
    kept = (
        folder.parent / "runs" / place.relative_to(folder.parent) / ("+".join(names) + ".pt")
    )  # not in the repository
    done, seconds, curves = 0, 0.0, [[] for _ in names]  # type: tuple[int, float, list[list[dict[str, float]]]]
    if kept.exists():
        state = torch.load(kept, weights_only=True)
        for part in ("flat", "first", "second"):
            getattr(together, part).copy_(state[part])
        together.steps, done, seconds, curves = state["steps"], state["done"], state["seconds"], state["curves"]
    for epoch in range(done, epochs):
        start = time.process_time()
        number = epoch + 100_000 * seed
        generator = torch.Generator().manual_seed(1_000_003 + number)
        for lesson in lessons.epoch(number):
            together.learn(lesson, generator)
        for m in range(len(names)):
            together.step(m)  # what is left of the last batch
        if (epoch + 1) % EVERY == 0:
            for m, curve in enumerate(curves):
                curve.append({"epoch": epoch + 1, **validate(together.model(m), validation)})
        seconds += time.process_time() - start
        state = {"flat": together.flat, "first": together.first, "second": together.second, "steps": together.steps,
                 "done": epoch + 1, "seconds": seconds, "curves": curves}  # fmt: skip
        with replacing(kept) as temporary:
            torch.save(state, temporary)
        if (epoch + 1) % EVERY == 0:
            print(epoch + 1, round(seconds), {n: c[-1] for n, c in zip(names, curves, strict=True)}, flush=True)
            for m, name in enumerate(names):
                last = epoch + 1 == EPOCHS
                write(
                    place / f"{name}.json",
                    name,
                    together,
                    m,
                    curves[m],
                    seconds / len(names),
                    test(together.model(m), task) if last else None,
                )


def validation_episodes(task: Task) -> list[tuple[float, Episode]]:
    graph = task.graphs("val").select(torch.arange(VALIDATION))
    generator = torch.Generator().manual_seed(17)
    return [(rate, sample_episode(graph, 2, Sampling.fixed(rate), generator)) for rate in (0.1, 0.3, 0.9)]


def validate(model: NeuralProcess, episodes: list[tuple[float, Episode]]) -> dict[str, float]:
    """Accuracy in % on nodes without a shown label."""
    result = {}
    for rate, episode in episodes:
        nodes = episode.unlabelled_targets.nonzero().squeeze(1)
        found = model.predict(episode, nodes=nodes).label
        result[f"{100 * rate:g}"] = round(100 * (found == episode.y[nodes]).float().mean().item(), 2)
    return result


def test(model: NeuralProcess, task: Task) -> dict[str, Any]:
    return evaluate(model, task, draws=3).to_dict()


def write(
    file: Path,
    name: str,
    together: Together,
    m: int,
    curve: list[dict[str, float]],
    seconds: float,
    table: dict[str, Any] | None,
) -> None:
    content = {
        "reading": name,
        "options": vars(together.readings[m]),
        "steps": together.steps[m],
        "epochs": curve[-1]["epoch"],
        "of": EPOCHS,
        "cpu_seconds": round(seconds),
        "validation": curve,
        "test": table,
        "made": provenance(),
    }
    with replacing(file) as temporary:
        write_json(temporary, content)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--together", nargs="+", choices=READINGS, default=[])
    parser.add_argument("--family", choices=FAMILIES, default=FAMILIES[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message=".*gradient layout.*|.*Sparse.*")
    if options.together:
        train(options.together, page.HERE, family=options.family, seed=options.seed)
    if options.page:
        page.write()


if __name__ == "__main__":
    main()
