"""How good and how honest a predictor is: accuracy, likelihood and calibration over context rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from tqdm import tqdm

from ..defaults import DRAWS, SAMPLES
from ..prediction import Predictor
from ..tasks.base import Split, Task
from .answers import Answers, answer, draw_seeds
from .given import as_task, asked
from .held_out import Labelled, ask, interval, labelled
from .rates import parse_rate
from .scores import BinaryScore, score
from .tables import Scores, ScoreTable


def evaluate(
    predictor: Any,
    task: Any = None,
    rates: Sequence[float | str] | None = None,
    *,
    draws: int = DRAWS,
    samples: int = SAMPLES,
    seed: int = 0,
    split: Split = "test",
    graphs: int | None = None,
    progress: bool = False,
) -> ScoreTable:
    """Score a predictor on a task, or on graphs of your own in any container, at several context rates; mean and spread
    over draws: ``evaluate(graphs)`` or ``evaluate(predictor, task)``. A predictor is given as it is, by name or by folder;
    without one the model that comes with the package is scored.

    ``graphs``: only so many of the split's.

    Where your own graphs are fewer than five, their labelled nodes are cross-validated: ten folds, each predicted with the
    labels of the other nine (and all that a model was trained on) shown, as they are in use; a draw is one such round. The
    rate is then the share of labels shown, and ``low`` to ``high`` is a 95 % interval of the accuracy over ``nodes`` labels.
    With ``rates`` given, so large a share of these labels is shown instead.

    ``accuracy``, ``nll``, ``brier``, ``ece`` are taken on the unlabelled nodes; ``accuracy_paper`` on all targets, the context
    nodes among them, as the paper does. Where a predictor could read a node's own label, context nodes are cross-fitted
    (on graphs of over a thousand nodes a random fifth of them stands for all);
    on shapes, whose large graphs would make that slow, they count as given, as they do in ``miou_paper``.
    Tasks with metrics of their own (``f1``, ``mcc``, their threshold chosen on validation graphs; ``miou``, ``miou_paper``)
    add them.
    At 100 % nothing is unlabelled: everything is cross-fitted but ``accuracy_paper`` of predictors that see the context
    only through a summary.
    """
    predictor, task = asked(predictor, task)
    task = as_task(task, predictor)
    few = labelled(task, predictor) if split == "test" else None
    if few is not None:
        return _cross_validated(predictor, task, few, rates, draws, samples, seed, progress)
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


def _cross_validated(
    predictor: Predictor,
    task: Task,
    few: Labelled,
    rates: Sequence[float | str] | None,
    draws: int,
    samples: int,
    seed: int,
    progress: bool,
) -> ScoreTable:
    """A row per rate, or one for what the labels allow at most: all but a tenth of them shown."""
    chosen: dict[str, float | None] = {str(rate): parse_rate(str(rate)) for rate in rates or ()} or {
        f"{1 - 1 / few.folds:g}": None
    }
    rows: dict[str, Scores] = {}
    parts = draws * sum(few.folds if rate is None else 1 for rate in chosen.values())
    bar = tqdm(total=parts, desc=f"{predictor.name} on {task.name}", disable=None if progress else True, leave=False)

    def counted(answers: Iterator[Answers]) -> Iterator[Answers]:
        for fold in answers:
            bar.update()
            yield fold

    for written, rate in chosen.items():
        results = []
        for draw in draw_seeds(seed, draws):
            results.append(score(counted(ask(predictor, few, draw, rate, samples=samples)), task))
        row = _summary(results)
        nodes = few.count if rate is None else few.count - max(int(rate > 0), round(rate * few.count))
        low, high = interval(row.accuracy, nodes) if nodes > 0 else (float("nan"), float("nan"))
        rows[written] = replace(row, nodes=nodes, low=low, high=high)
    bar.close()
    return ScoreTable(task.name, task.source, predictor.name, "test", draws, seed, rows)


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
