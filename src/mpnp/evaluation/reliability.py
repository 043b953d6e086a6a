"""Whether stated confidence is kept: reliability on test graphs, before a calibration and after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from ..defaults import DRAWS, SAMPLES
from ..errors import UserError
from ..models.calibration import Calibration, Conformal, uncalibrated
from ..prediction import Prediction, Predictor, tempered
from ..tasks.base import Split, Task
from .answers import Answers, answer, draw_seeds
from .given import as_predictor, as_task
from .held_out import labelled
from .scores import Score
from .tables import RateTable, Stored

LABELLED = "labelled nodes"  # of few graphs, each predicted without its own label, in place of test graphs
BINS = 15  # of confidence, as the expected calibration error counts


@dataclass(frozen=True)
class Bin(Stored):
    """Nodes whose likeliest label has about the same probability: their mean confidence, accuracy and number."""

    confidence: float
    accuracy: float
    count: int


@dataclass(frozen=True)
class Reliability(Stored):
    """Common scores, how often sets of labels hold the true one (± its error over graphs), and how large they are.

    ``bins``: the non-empty ones of a reliability diagram, in rising order, each a fifteenth of confidence wide.
    """

    accuracy: float
    nll: float
    brier: float
    ece: float
    coverage: float
    coverage_error: float
    set_size: float
    bins: tuple[Bin, ...]


@dataclass(frozen=True)
class Calibrated(Stored):
    """How reliable a predictor is ``before`` calibration and ``after`` it."""

    before: Reliability
    after: Reliability

    def cells(self) -> dict[str, Any]:
        each = {"before": self.before.to_dict(), "after": self.after.to_dict()}
        names = [name for name in each["before"] if name != "bins"]
        return {f"{name} {when}": row[name] for name in names for when, row in each.items()}


@dataclass(frozen=True, repr=False)
class CalibrationTable(RateTable[Calibrated]):
    """Reliability on test graphs before and after a calibration, by context rate."""

    task: str
    data: str
    model: str
    coverage: float
    temperature: float
    draws: int
    seed: int
    rates: dict[str, Calibrated]
    made: dict[str, Any] | None = None

    @property
    def title(self) -> str:
        mended = f"a temperature of {self.temperature:.3f} and sets for {100 * self.coverage:g} %"
        nodes = LABELLED if self.data == LABELLED else "unlabelled nodes of test graphs"
        return f"{self.model} on {self.task}: {nodes}, before → after {mended}"

    def _written(self) -> tuple[list[str], list[list[str]]]:
        names = [f.name for f in fields(Reliability) if f.name not in ("bins", "coverage_error")]
        pairs = [[(getattr(row.before, name), getattr(row.after, name)) for name in names] for _, row in self]
        cells = [[f"{before:.4f} → {after:.4f}" for before, after in line] for line in pairs]
        return ["rate", *names], [[f"{rate}", *line] for (rate, _), line in zip(self, cells, strict=True)]


def check_calibration(
    predictor: Any,
    task: Any,
    calibration: Calibration,
    *,
    draws: int = DRAWS,
    samples: int = SAMPLES,
    seed: int = 0,
    progress: bool = False,
) -> CalibrationTable:
    """What a calibration mends on the test graphs of a task, or on graphs of your own in any container.

    On few graphs, what calibrating by their labelled nodes mends on those of them that it is not fitted on.
    """
    from .calibrate import check_few, pool_of  # which fit by what is defined here

    predictor = as_predictor(predictor)
    task, raw = as_task(task, predictor), uncalibrated(predictor)
    few = labelled(task, predictor)
    if few is not None:
        sets = _conformal(calibration)
        rows = {
            f"{1 - 1 / few.folds:g}": check_few(
                pool_of(raw, few, seed, samples=samples), sets.coverage, sets.allow_empty
            )
        }
        return CalibrationTable(
            task.name, LABELLED, predictor.name, sets.coverage, calibration.temperature, draws, seed, rows
        )
    found = pools_by_rate(raw, task, "test", draws=draws, samples=samples, seed=seed, progress=progress)
    rates = {str(rate): compare(calibration, pool) for rate, pool in found}
    coverage = _conformal(calibration).coverage
    return CalibrationTable(
        task.name, task.source, predictor.name, coverage, calibration.temperature, draws, seed, rates
    )


def reliability(pool: Pool, sets: Tensor) -> Reliability:
    """How reliable the pooled answers are, and the ``sets`` of labels [Q, C] bool that go with them."""
    score = Score()
    score.add(pool)
    hit = sets.gather(1, pool.y.unsqueeze(1)).squeeze(1).double()
    return Reliability(
        **score.compute(),
        coverage=float(hit.mean()),
        coverage_error=_error(hit, pool.graph),
        set_size=float(sets.sum(1).double().mean()),
        bins=_bins(pool),
    )


def compare(calibration: Calibration, test: Pool) -> Calibrated:
    """:func:`reliability` before and after; before, a set holds the likeliest labels up to the coverage by the model's word."""
    conformal, after = _conformal(calibration), test.at(calibration.temperature)
    return Calibrated(
        before=reliability(test, credible_sets(test.probabilities, conformal.coverage)),
        after=reliability(after, conformal.sets(after.prediction, after.shown)),
    )


def _conformal(calibration: Calibration) -> Conformal:
    if calibration.conformal is None:
        raise UserError("The model was calibrated without a coverage; calibrate it again with 'mpnp calibrate'.")
    return calibration.conformal


@dataclass(frozen=True)
class Pool:
    """Answers for all graphs of a split, as far as calibration looks at them.

    Shapes: ``probabilities`` [Q, C], ``y`` [Q], ``graph`` [Q] the number of each node's graph in its split, ``shown`` [Q] the
    share of that graph's nodes that showed their label.
    """

    probabilities: Tensor
    y: Tensor
    graph: Tensor
    shown: Tensor

    @classmethod
    def of(cls, draws: Iterable[Iterable[Answers]]) -> Pool:
        """From answers about all graphs of a split, once for every draw of the context."""
        return cls.join(chain.from_iterable(cls._parts(answers) for answers in draws))

    @classmethod
    def _parts(cls, answers: Iterable[Answers]) -> Iterator[Pool]:
        first = 0
        for one in answers:
            yield cls(one.prediction.probabilities, one.y, first + one.graph, one.shown)
            first += one.episode.num_graphs

    @classmethod
    def join(cls, pools: Iterable[Pool]) -> Pool:
        listed = list(pools)
        if not listed:
            none = torch.zeros(0, dtype=torch.long)
            return cls(torch.zeros(0, 1), none, none, torch.zeros(0))
        return cls(*(torch.cat([getattr(pool, name) for pool in listed]) for name in cls.__dataclass_fields__))

    def at(self, temperature: float) -> Pool:
        """The same answers, tempered."""
        return replace(self, probabilities=tempered(self.probabilities, temperature))

    def only(self, mask: Tensor) -> Pool:
        """The answers of ``mask`` [Q] alone."""
        return Pool(*(getattr(self, name)[mask] for name in self.__dataclass_fields__))

    @property
    def prediction(self) -> Prediction:
        return Prediction.certain(self.probabilities)

    @property
    def true(self) -> Tensor:
        """The probability given to the true label, [Q]."""
        return self.probabilities.gather(1, self.y.unsqueeze(1)).squeeze(1)


def pools_by_rate(
    predictor: Predictor,
    task: Task,
    split: Split,
    *,
    draws: int = DRAWS,
    samples: int = SAMPLES,
    seed: int = 0,
    progress: bool = False,
) -> Iterator[tuple[float, Pool]]:
    """The answers at each of the task's context rates at which anything is left to predict, one rate after the other."""
    if split not in task.splits or len(task.graphs(split)) == 0:
        raise UserError(f"{task.name} has no {split} graphs, which calibration needs; give a task that holds some out.")
    found = False
    for rate in tqdm(task.rates, f"{predictor.name}, {split} graphs", disable=None if progress else True, leave=False):
        seeds = draw_seeds(seed, draws)
        pool = Pool.of(answer(predictor, task, rate, draw, split, asked="scored", samples=samples) for draw in seeds)
        if pool.y.numel():
            found = True
            yield rate, pool
    if not found:
        raise UserError(f"The {split} graphs of {task.name} have no label left to predict; label more of their nodes.")


def credible_sets(probabilities: Tensor, coverage: float) -> Tensor:
    """The likeliest labels that together reach ``coverage`` if the probabilities are to be believed, [N, C] bool."""
    ordered, label = probabilities.sort(-1, descending=True)
    before = ordered.cumsum(-1) - ordered
    return torch.zeros_like(before, dtype=torch.bool).scatter(-1, label, before < coverage)


def _bins(pool: Pool) -> tuple[Bin, ...]:
    """The non-empty bins, in rising order."""
    confidence, label = pool.probabilities.double().max(-1)
    right = (label == pool.y).double()
    place = (confidence * BINS).ceil().long().clamp(1, BINS) - 1
    count = torch.bincount(place, minlength=BINS)
    mean = [torch.bincount(place, weight, minlength=BINS) / count for weight in (confidence, right)]
    return tuple(Bin(float(mean[0][i]), float(mean[1][i]), int(count[i])) for i in count.nonzero().flatten().tolist())


def _error(hit: Tensor, graph: Tensor) -> float:
    """The standard error of the mean of ``hit`` [Q] over nodes whose ``graph`` they share: graphs are independent, nodes not."""
    graphs = graph.unique().numel()
    if graphs < 2:
        return float("nan")
    off = torch.bincount(graph, hit - hit.mean())
    return float((off.square().sum() * graphs / (graphs - 1)).sqrt() / hit.numel())
