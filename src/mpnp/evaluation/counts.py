"""F1, Matthews correlation, area under the curve and calibration error, from labels and probabilities.

torchmetrics has all of them, and tests hold these equal to it; importing it takes longer than importing torch, which
everyone who evaluates would wait for.
"""

from __future__ import annotations

import torch
from torch import Tensor

BINS = 15


def confusion(true: Tensor, predicted: Tensor, classes: int) -> Tensor:
    """How many nodes of each class (row) were taken for each (column), [C, C], from labels [N]."""
    return torch.bincount(true * classes + predicted, minlength=classes**2).view(classes, classes).double()


def f1(table: Tensor) -> Tensor:
    """F1 of each class, [C]: 2 · right / (true + predicted); 0 for a class that is neither."""
    return 2 * table.diag() / (table.sum(0) + table.sum(1)).clamp(min=1)


def matthews(table: Tensor) -> float:
    """The correlation of true and predicted classes; 0 where all are of one class or are taken for one."""
    nodes, true, predicted = table.sum(), table.sum(1), table.sum(0)
    spread = (nodes**2 - true @ true) * (nodes**2 - predicted @ predicted)
    return float((table.trace() * nodes - true @ predicted) / spread.sqrt()) if spread > 0 else 0.0


def area(score: Tensor, positive: Tensor) -> float:
    """Area under the ROC curve: how often a positive node has the higher score [N] than another, ties counting half."""
    _, rank, ties = score.unique(return_inverse=True, return_counts=True)
    middle = ties.cumsum(0) - (ties - 1) / 2  # the mean place of equal scores, from 1
    count, others = positive.sum().double(), (~positive).sum().double()
    return float((middle.double()[rank[positive]].sum() - count * (count + 1) / 2) / (count * others))


class CalibrationError:
    """How far confidence is from accuracy, in the mean over nodes of 15 bins of equal width; full certainty is a bin of its own."""

    def __init__(self) -> None:
        self.edges = torch.linspace(0, 1, BINS + 1)
        self.excess = torch.zeros(BINS + 1, dtype=torch.double)
        self.nodes = 0

    def add(self, confidence: Tensor, right: Tensor) -> None:
        """Of [N] nodes each."""
        bins = torch.bucketize(confidence.clamp(0, 1).cpu(), self.edges.to(confidence.dtype), right=True) - 1
        self.excess.index_add_(0, bins, (confidence.double() - right.double()).cpu())
        self.nodes += right.numel()

    def compute(self) -> float:
        return float(self.excess.abs().sum()) / self.nodes
