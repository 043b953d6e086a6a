"""Does a model know what it does not know? Its uncertainty on graphs of its own kind and of another, as context grows.

Epistemic uncertainty is what more labels, or training on such graphs, would take away. So it should fall as context grows,
and be higher on graphs of a family that the model was not trained on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch_geometric.data import Data

from ..defaults import MANY_SAMPLES
from ..prediction import Predictor
from ..tasks.base import Split, Task
from .answers import Answers, answer
from .given import as_task
from .tables import RateTable, Stored


@dataclass(frozen=True)
class Uncertainty(Stored):
    """Means over hidden nodes, uncertainty in nats; NaN where nothing is hidden."""

    accuracy: float
    total: float
    aleatoric: float
    epistemic: float


@dataclass(frozen=True, repr=False)
class ShiftTable(RateTable[Uncertainty]):
    """Mean uncertainty by context rate; ``trained_on``: the task that the model is at home on, where that was noted."""

    task: str
    model: str
    split: str
    samples: int
    seed: int
    rates: dict[str, Uncertainty]
    trained_on: str | None = None
    made: dict[str, Any] | None = None

    @property
    def title(self) -> str:
        home = f", trained on {self.trained_on}," if self.trained_on else ""
        return f"{self.model}{home} on {self.task}: mean uncertainty of the hidden nodes of {self.split} graphs, nats"


def mean_uncertainty(
    predictor: Predictor,
    task: Task | Data | Sequence[Data],
    rates: Sequence[float],
    *,
    graphs: int | None = None,
    samples: int = MANY_SAMPLES,
    seed: int = 0,
    split: Split = "test",
) -> ShiftTable:
    """Mean uncertainty of the hidden nodes in nats, split, and accuracy, per context rate.

    ``graphs``: only so many of the split's.
    """
    task = as_task(task, predictor)
    table = {
        str(rate): uncertainty_of(answer(predictor, task, rate, seed, split, graphs, samples=samples, alone=True))
        for rate in rates
    }
    return ShiftTable(task.name, predictor.name, split, samples, seed, table)


def uncertainty_of(answers: Iterable[Answers]) -> Uncertainty:
    """The means over all nodes that were asked for."""
    sums = torch.zeros(5, dtype=torch.float64)
    for one in answers:
        said = one.prediction
        columns = [torch.ones_like(one.right), one.right, said.total, said.aleatoric, said.epistemic]
        sums += torch.stack([column.double().sum() for column in columns])
    return Uncertainty(*(sums[1:] / sums[0]).tolist())
