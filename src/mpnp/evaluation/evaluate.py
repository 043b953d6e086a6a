"""How good and how honest a predictor is: accuracy, likelihood and calibration over context rates."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch_geometric.data import Data
from tqdm import tqdm

from ..defaults import DRAWS, SAMPLES
from ..errors import UserError
from ..prediction import Predictor
from ..tasks.base import Split, Task
from .answers import answer, draw_seeds
from .given import as_task
from .scores import BinaryScore, score
from .tables import Scores, ScoreTable


def evaluate(
    predictor: Predictor,
    task: Task | Data | Sequence[Data],
    rates: Sequence[float | str] | None = None,
    *,
    draws: int = DRAWS,
    samples: int = SAMPLES,
    seed: int = 0,
    split: Split = "test",
    graphs: int | None = None,
    progress: bool = False,
) -> ScoreTable:
    """Score a predictor on a task, or on PyG graphs of your own, at several context rates; mean and spread over draws.

    ``graphs``: only so many of the split's. Graphs of your own are all scored, on their labelled nodes.

    ``accuracy``, ``nll``, ``brier``, ``ece`` are taken on the unlabelled nodes; ``accuracy_paper`` on all targets, the context
    nodes among them, as the paper does. Where a predictor could read a node's own label, context nodes are cross-fitted
    (on graphs of over a thousand nodes a random fifth of them stands for all);
    on shapes, whose large graphs would make that slow, they count as given, as they do in ``miou_paper``.
    Tasks with metrics of their own (``f1``, ``mcc``, their threshold chosen on validation graphs; ``miou``, ``miou_paper``)
    add them.
    At 100 % nothing is unlabelled: everything is cross-fitted but ``accuracy_paper`` of predictors that see the context
    only through a summary.
    """
    task = as_task(task, predictor)
    table: dict[str, Scores] = {}
    chosen = [str(rate) for rate in (rates if rates is not None else task.rates)]
    bar = tqdm(
        total=len(chosen) * draws,
        desc=f"{predictor.name} on {task.name}",
        disable=None if progress else True,
        leave=False,
    )
    for written in chosen:
        rate = parse_rate(written)
        threshold = choose_threshold(predictor, task, rate, samples) if split == "test" else 0.5
        results = []
        for draw in draw_seeds(seed, draws):
            answers = answer(predictor, task, rate, draw, split, graphs, asked="targets", samples=samples)
            results.append(score(answers, task, threshold))
            bar.update()
        table[written] = _summary(results)
    bar.close()
    return ScoreTable(task.name, task.source, predictor.name, split, draws, seed, table)


def parse_rate(written: str) -> float:
    try:
        rate = float(written)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise UserError(f"'{written}' is not a context rate; a number between 0 and 1 is expected, such as 0.1.")
    return rate


def choose_threshold(predictor: Predictor, task: Task, rate: float, samples: int = SAMPLES) -> float:
    """The probability from which F1 and MCC count a node to class 1, chosen on the validation graphs at the same rate."""
    if "binary" not in task.metrics:
        return 0.5
    counted = BinaryScore()
    for draw in range(3):
        for answers in answer(predictor, task, rate, draw, "val", samples=samples, noise=0):
            counted.add(answers)
    return counted.best_threshold()


def _summary(results: list[dict[str, float]]) -> Scores:
    """Mean and spread over draws."""
    values = {key: torch.tensor([r[key] for r in results], dtype=torch.float64) for key in results[0]}
    mean = {key: value.mean().item() for key, value in values.items()}
    return Scores.from_dict(mean | {f"{key}_std": value.std(unbiased=False).item() for key, value in values.items()})
