"""How good and how honest a predictor is: accuracy, likelihood and calibration over context rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from ..defaults import DRAWS, SAMPLES
from ..episode import Episode, Sampling, sample_episode
from ..errors import UserError
from ..prediction import Prediction, Predictor
from ..tasks.base import Split, Task
from .scores import BinaryScore, Score, TargetAccuracy, special_scores

FOLDS = 10
BATCH_NODES = 20_000
MANY_NODES = 1_000  # per graph: then two of the ten folds tell as much as is needed


def cross_fit(
    predictor: Predictor,
    episode: Episode,
    generator: torch.Generator,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    folds: int = FOLDS,
) -> tuple[Prediction, Tensor]:
    """Predict the context nodes, each from the other nine of ten folds of its graph's context.

    A node's own label cannot reach its prediction. Returns the prediction and the nodes [Q] it is for: with fewer ``folds``
    only those of so many, a random part.
    """
    nodes = episode.context.nonzero().squeeze(1)
    shuffled = nodes[
        (episode.batch[nodes] + torch.rand(nodes.numel(), generator=generator, dtype=torch.float64)).argsort()
    ]
    count = torch.bincount(episode.batch[shuffled], minlength=episode.num_graphs)
    start = count.cumsum(0) - count
    fold = torch.full_like(episode.y, -1)
    fold[shuffled] = (torch.arange(shuffled.numel()) - start[episode.batch[shuffled]]) % FOLDS
    parts, order = [], []
    for f in range(folds):
        held_out = (fold == f).nonzero().squeeze(1)
        if held_out.numel():
            others = episode.with_context(episode.context & (fold != f))
            parts.append(predictor.predict(others, samples=samples, seed=seed, nodes=held_out))
            order.append(held_out)
    return Prediction.join(parts, episode.num_classes), torch.cat(order) if order else nodes


def episodes(
    task: Task, rate: float, seed: int, split: Split = "test", at_most: int | None = None
) -> Iterator[Episode]:
    """All graphs of a split, or the first ``at_most``, with one context draw at ``rate``, in batches of bounded size."""
    graphs = task.graphs(split)
    generator = torch.Generator().manual_seed(seed)
    mean_nodes = max(1, graphs.num_nodes // len(graphs))
    for index in torch.arange(len(graphs))[:at_most].split(max(1, BATCH_NODES // mean_nodes)):
        yield sample_episode(graphs.select(index), task.num_classes, Sampling.fixed(rate, task.arbitrary), generator)


def single_graphs(
    task: Task, rate: float, seed: int, split: Split = "test", at_most: int | None = None
) -> Iterator[Episode]:
    """The episodes of ``episodes``, graph by graph, so that each can be predicted with latent noise of its own.

    The graphs of a batch share their noise, which is right for predictions but not for a mean over graphs: a rare z that
    makes a model change its mind is then drawn for all of them or for none.
    """
    for batch in episodes(task, rate, seed, split, at_most):
        for graph in range(batch.num_graphs):
            yield batch.only(graph)


def evaluate(
    predictor: Predictor,
    task: Task,
    rates: Sequence[float | str] | None = None,
    *,
    draws: int = DRAWS,
    samples: int = SAMPLES,
    seed: int = 0,
    split: Split = "test",
    graphs: int | None = None,
    progress: bool = False,
) -> dict[str, Any]:
    """Score a predictor on a task at several context rates; mean and spread over context draws.

    ``graphs``: only so many of the split's.

    ``accuracy``, ``nll``, ``brier``, ``ece`` are taken on the unlabelled nodes; ``accuracy_paper`` on all targets, the context
    nodes among them, as the paper does. Where a predictor could read a node's own label, context nodes are cross-fitted
    (on graphs of over a thousand nodes a random fifth of them stands for all);
    on shapes, whose large graphs would make that slow, they count as given, as they do in ``miou_paper``.
    Tasks with metrics of their own (``f1``, ``mcc``, their threshold chosen on validation graphs; ``miou``, ``miou_paper``)
    add them.
    At 100 % nothing is unlabelled: everything is cross-fitted but ``accuracy_paper`` of predictors that see the context
    only through a summary.
    """
    table: dict[str, dict[str, float]] = {}
    chosen = [str(rate) for rate in (rates if rates is not None else task.rates)]
    work = tqdm(
        total=len(chosen) * draws,
        desc=f"{predictor.name} on {task.name}",
        disable=None if progress else True,
        leave=False,
    )
    for written in chosen:
        rate = parse_rate(written)
        threshold = choose_threshold(predictor, task, rate, samples) if split == "test" else 0.5
        results = []
        for draw in range(draws):
            results.append(_one_draw(predictor, task, rate, seed * 10_007 + draw, samples, split, threshold, graphs))
            work.update()
        table[written] = _summary(results)
    work.close()
    return {
        "task": task.name,
        "data": task.source,
        "model": predictor.name,
        "split": split,
        "draws": draws,
        "seed": seed,
        "rates": table,
    }


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
    score = BinaryScore()
    for draw in range(3):
        for episode in episodes(task, rate, draw, "val"):
            hidden = episode.unlabelled_targets.nonzero().squeeze(1)
            if hidden.numel():
                score.add(episode, hidden, predictor.predict(episode, samples=samples, nodes=hidden))
    return score.best_threshold()


def _one_draw(
    predictor: Predictor,
    task: Task,
    rate: float,
    seed: int,
    samples: int,
    split: Split,
    threshold: float,
    graphs: int | None,
) -> dict[str, float]:
    headline, paper, special = Score(task.num_classes), TargetAccuracy(), special_scores(task, threshold)
    generator = torch.Generator().manual_seed(seed + 1)
    for episode in episodes(task, rate, seed, split, graphs):
        hidden = episode.unlabelled_targets.nonzero().squeeze(1)
        if hidden.numel():
            prediction = predictor.predict(episode, samples=samples, seed=seed, nodes=hidden)
            headline.add(prediction, episode.y[hidden])
            paper.add(prediction.label == episode.y[hidden])
            for score in special:
                score.add(episode, hidden, prediction)
        shown = episode.context.nonzero().squeeze(1)
        as_given = predictor.sees_own_label and "shapes" in task.metrics
        cross_fitted = predictor.sees_own_label and not as_given
        if shown.numel() and (rate == 1 or cross_fitted):
            folds = 2 if rate < 1 and episode.num_nodes > MANY_NODES * episode.num_graphs else FOLDS
            fitted, nodes = cross_fit(predictor, episode, generator, samples=samples, seed=seed, folds=folds)
            if rate == 1:
                headline.add(fitted, episode.y[nodes])
            if cross_fitted:
                paper.add(fitted.label == episode.y[nodes], standing_for=shown.numel())
        if as_given:
            paper.add(torch.ones_like(shown, dtype=torch.bool))
        elif shown.numel() and not cross_fitted:
            direct = predictor.predict(episode, samples=samples, seed=seed, nodes=shown)
            paper.add(direct.label == episode.y[shown])
    result = {**headline.compute(), "accuracy_paper": paper.compute()}
    for score in special:
        result |= score.compute()
    return result


def _summary(results: list[dict[str, float]]) -> dict[str, float]:
    values = {key: torch.tensor([r[key] for r in results], dtype=torch.float64) for key in results[0]}
    mean = {key: value.mean().item() for key, value in values.items()}
    spread = {f"{key}_std": value.std(unbiased=False).item() for key, value in values.items()}
    return {**mean, **spread}
