"""What is counted of answers: likelihood and calibration for every task, and what some fields measure besides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import torch
from torch import Tensor

from ..prediction import Prediction
from ..tasks.base import Task
from .answers import Answers
from .counts import CalibrationError, area, confusion, f1, matthews


def score(answers: Iterable[Answers], task: Task, threshold: float = 0.5) -> dict[str, float]:
    """All that is counted on a task, from answers batch by batch, those for context nodes among them.

    ``threshold``: the probability from which F1 and MCC count a node to class 1.
    """
    counters: list[Counter] = [Score(), TargetAccuracy(), *special_scores(task, threshold)]
    for batch in answers:
        for counter in counters:
            counter.add(batch)
    return {name: value for counter in counters for name, value in counter.compute().items()}


class Counter(Protocol):
    """Counts the answers it is given, one batch after the other."""

    def add(self, answers: Answers) -> None: ...

    def compute(self) -> dict[str, float]: ...


class Judged(Protocol):
    """A prediction for Q nodes and their true labels ``y`` [Q]: all that the common scores look at."""

    @property
    def prediction(self) -> Prediction: ...

    @property
    def y(self) -> Tensor: ...


class Score:
    """Accuracy, negative log-likelihood, Brier score and expected calibration error (15 bins)."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.nodes, self.correct, self.nll, self.brier = 0, 0.0, 0.0, 0.0
        self.ece = CalibrationError()

    def add(self, answers: Judged) -> None:
        p, y = answers.prediction.probabilities, answers.y
        if y.numel() == 0:
            return
        true = p.gather(1, y.unsqueeze(1)).squeeze(1)
        right = answers.prediction.label == y
        self.nodes += y.numel()
        self.correct += float(right.sum())
        self.nll -= float(true.clamp(min=1e-12).log().sum())
        self.brier += float((p.square().sum(1) - 2 * true + 1).sum())
        self.ece.add(p.amax(1), right)

    def compute(self) -> dict[str, float]:
        if self.nodes == 0:
            return dict.fromkeys(("accuracy", "nll", "brier", "ece"), float("nan"))
        return {
            "accuracy": self.correct / self.nodes,
            "nll": self.nll / self.nodes,
            "brier": self.brier / self.nodes,
            "ece": self.ece.compute(),
        }


class TargetAccuracy:
    """Accuracy on all targets, context nodes among them, of which a part may have been asked for in place of all."""

    def __init__(self) -> None:
        self.nodes, self.correct = 0, 0.0

    def add(self, answers: Answers) -> None:
        hidden = answers.right[~answers.given]
        self._count(hidden, hidden.numel())
        if answers.context is not None:
            self._count(answers.context.right, int(answers.episode.context.sum()))

    def _count(self, right: Tensor, standing_for: int) -> None:
        if right.numel():
            self.nodes += standing_for
            self.correct += standing_for * float(right.double().mean())

    def compute(self) -> dict[str, float]:
        return {"accuracy_paper": self.correct / self.nodes if self.nodes else float("nan")}


class BinaryScore:
    """F1 of class 1 and Matthews correlation, over all hidden nodes.

    Where one class is rare, neither is at its best where accuracy is: ``f1`` and ``mcc`` count a node to class 1 from the
    ``threshold`` on, ``f1_argmax`` and ``mcc_argmax`` where it is the likelier class.
    """

    def __init__(self, threshold: float = 0.5) -> None:
        self.threshold = threshold
        self.probability: list[Tensor] = []
        self.true: list[Tensor] = []

    def add(self, answers: Answers) -> None:
        hidden = ~answers.given
        if hidden.any():
            self.probability.append(answers.prediction.probabilities[hidden, 1])
            self.true.append(answers.y[hidden])

    def best_threshold(self) -> float:
        """The threshold of 0.05, 0.1, … 0.95 with the largest Matthews correlation; the lowest of equal ones."""
        steps = [step / 20 for step in range(1, 20)]
        return max(steps, key=lambda threshold: self._at(threshold)[1]) if self.true else 0.5

    def compute(self) -> dict[str, float]:
        f1, mcc = self._at(self.threshold)
        f1_argmax, mcc_argmax = self._at(0.5)
        return {"f1": f1, "mcc": mcc, "f1_argmax": f1_argmax, "mcc_argmax": mcc_argmax, "threshold": self.threshold}

    def _at(self, threshold: float) -> tuple[float, float]:
        if not self.true:
            return float("nan"), float("nan")
        table = confusion(torch.cat(self.true), (torch.cat(self.probability) > threshold).long(), 2)
        return float(f1(table)[1]), matthews(table)


class ClassScore:
    """Over all hidden nodes of any number of classes: the mean over classes of F1 (``f1_macro``) and of the area under the
    curve of each against the others (``auc``), and Matthews correlation. Classes that no node is of are left out."""

    def __init__(self, classes: int) -> None:
        self.classes = max(classes, 2)
        self.probability: list[Tensor] = []
        self.true: list[Tensor] = []

    def add(self, answers: Answers) -> None:
        hidden = ~answers.given
        if hidden.any():
            self.probability.append(answers.prediction.probabilities[hidden])
            self.true.append(answers.y[hidden])

    def compute(self) -> dict[str, float]:
        if not self.true:
            return dict.fromkeys(("f1_macro", "mcc", "auc"), float("nan"))
        p, true = torch.cat(self.probability), torch.cat(self.true)
        table = confusion(true, p.argmax(1), self.classes)
        found, present = table.sum(0) + table.sum(1) > 0, (table.sum(1) > 0).nonzero().flatten().tolist()
        areas = [area(p[:, c], true == c) for c in present] if len(present) > 1 else []
        return {
            "f1_macro": float(f1(table)[found].mean()),
            "mcc": matthews(table),
            "auc": sum(areas) / len(areas) if areas else float("nan"),
        }


class ShapeScore:
    """Mean intersection over union per shape: ``miou`` over the hidden points, ``miou_paper`` over all points, the given
    labels counting as given."""

    def __init__(self) -> None:
        self.hidden: list[Tensor] = []
        self.all: list[Tensor] = []

    def add(self, answers: Answers) -> None:
        hidden, episode = ~answers.given, answers.episode
        if not hidden.any():
            return
        label, everything = answers.prediction.label[hidden], episode.y.clone()
        everything[answers.nodes[hidden]] = label
        self.hidden.append(shape_miou(answers.y[hidden], label, answers.graph[hidden], episode.num_classes))
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


def special_scores(task: Task, threshold: float = 0.5) -> list[Counter]:
    """Fresh counters of the metrics a task has besides the common ones."""
    kinds: dict[str, Callable[[], Counter]] = {
        "binary": lambda: BinaryScore(threshold),
        "classes": lambda: ClassScore(task.num_classes),
        "shapes": ShapeScore,
    }
    return [kinds[name]() for name in task.metrics]


def _mean(parts: list[Tensor]) -> float:
    return float(torch.cat(parts).mean()) if parts else float("nan")
