"""What is counted of predictions: likelihood and calibration for every task, and what some fields measure besides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor
from torchmetrics.classification import BinaryF1Score, BinaryMatthewsCorrCoef, MulticlassCalibrationError

from .episode import Episode
from .prediction import Prediction
from .tasks.base import Task


class Score:
    """Accuracy, negative log-likelihood, Brier score and expected calibration error (15 bins), gathered batch by batch."""

    def __init__(self, classes: int) -> None:
        self.ece = MulticlassCalibrationError(max(classes, 2), n_bins=15)
        self.reset()

    def reset(self) -> None:
        self.nodes, self.correct, self.nll, self.brier = 0, 0.0, 0.0, 0.0
        self.ece.reset()

    def add(self, prediction: Prediction, y: Tensor) -> None:
        """Count the predictions for nodes with the true labels ``y`` [Q]."""
        if y.numel() == 0:
            return
        p = prediction.probabilities
        true = p.gather(1, y.unsqueeze(1)).squeeze(1)
        self.nodes += y.numel()
        self.correct += float((prediction.label == y).sum())
        self.nll -= float(true.clamp(min=1e-12).log().sum())
        self.brier += float((p.square().sum(1) - 2 * true + 1).sum())
        self.ece.update(p, y)

    def compute(self) -> dict[str, float]:
        if self.nodes == 0:
            return dict.fromkeys(("accuracy", "nll", "brier", "ece"), float("nan"))
        return {
            "accuracy": self.correct / self.nodes,
            "nll": self.nll / self.nodes,
            "brier": self.brier / self.nodes,
            "ece": float(self.ece.compute()),
        }


class SpecialScore(Protocol):
    """A metric of some tasks, from the labels predicted for the hidden nodes [Q] of one episode after the other."""

    def add(self, episode: Episode, hidden: Tensor, label: Tensor) -> None: ...

    def compute(self) -> dict[str, float]: ...


class BinaryScore:
    """F1 of class 1 and Matthews correlation, over all hidden nodes."""

    def __init__(self) -> None:
        self.f1, self.mcc = BinaryF1Score(), BinaryMatthewsCorrCoef()

    def add(self, episode: Episode, hidden: Tensor, label: Tensor) -> None:
        self.f1.update(label, episode.y[hidden])
        self.mcc.update(label, episode.y[hidden])

    def compute(self) -> dict[str, float]:
        return {"f1": float(self.f1.compute()), "mcc": float(self.mcc.compute())}


class ShapeScore:
    """Mean intersection over union per shape: ``miou`` over the hidden points, ``miou_paper`` over all points, the given
    labels counting as given."""

    def __init__(self) -> None:
        self.hidden: list[Tensor] = []
        self.all: list[Tensor] = []

    def add(self, episode: Episode, hidden: Tensor, label: Tensor) -> None:
        everything = episode.y.clone()
        everything[hidden] = label
        self.hidden.append(shape_miou(episode.y[hidden], label, episode.batch[hidden], episode.num_classes))
        self.all.append(shape_miou(episode.y, everything, episode.batch, episode.num_classes))

    def compute(self) -> dict[str, float]:
        return {"miou": _mean(self.hidden), "miou_paper": _mean(self.all)}


def shape_miou(true: Tensor, predicted: Tensor, batch: Tensor, parts: int) -> Tensor:
    """Mean intersection over union of every shape over the ``parts`` parts of its category, [B].

    A part that is neither in the shape nor predicted counts 1. ``true``, ``predicted`` in 0 … parts - 1 and ``batch``, which
    shape a point belongs to, are [N].
    """
    shapes = int(batch.max()) + 1 if batch.numel() else 0

    def count(labels: Tensor, where: Tensor) -> Tensor:
        return torch.bincount(where * parts + labels, minlength=shapes * parts).view(shapes, parts)

    right = true == predicted
    common = count(true[right], batch[right])
    union = count(true, batch) + count(predicted, batch) - common
    return torch.where(union > 0, common / union.clamp(min=1), 1.0).mean(1)


def special_scores(task: Task) -> list[SpecialScore]:
    """Fresh counters of the metrics a task has besides the common ones."""
    kinds: dict[str, Callable[[], SpecialScore]] = {"binary": BinaryScore, "shapes": ShapeScore}
    return [kinds[name]() for name in task.metrics]


def _mean(parts: list[Tensor]) -> float:
    return float(torch.cat(parts).mean()) if parts else float("nan")
