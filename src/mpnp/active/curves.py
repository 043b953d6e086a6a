"""Learning curves of strategies, and what they are worth beside asking at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from torch import Tensor

from ..defaults import SAMPLES
from ..evaluation.tables import Shown, Stored
from ..tasks.base import Split

BASELINE = "random"


class Gain(NamedTuple):
    """A mean over graphs with its standard error and the 95 % interval of Student's t; NaN for a single graph."""

    mean: float
    error: float
    low: float
    high: float

    @classmethod
    def of(cls, differences: Tensor) -> Gain:
        """From one difference per graph, [G]."""
        graphs, mean = differences.numel(), float(differences.mean())
        error = float(differences.std() / graphs**0.5) if graphs > 1 else float("nan")
        from scipy import stats  # slow to import

        half = error * float(stats.t.ppf(0.975, graphs - 1)) if graphs > 1 else float("nan")
        return cls(mean, error, mean - half, mean + half)


@dataclass(frozen=True, repr=False)
class Replay:
    """Learning curves of several strategies on the same graphs from the same start.

    The headline metrics count all nodes, the given labels as given (``accuracy``, ``miou``): every strategy is then judged
    on the same nodes. ``accuracy_hidden`` and ``miou_hidden`` count the nodes still unlabelled, which differ by strategy:
    whoever asks for the hard nodes leaves the easy ones, whoever asks for the easy ones is left with the hard.

    Shapes: ``labels`` [S + 1] labels asked for or given per graph, before the first step and after each;
    ``curves[strategy][metric]`` [G, S + 1], means over draws; ``asked[strategy]`` [G, S · n] the nodes asked in the first
    draw, numbered within their graph, -1 where none was left; ``started`` [G, start] those labelled at its start;
    ``graphs`` [G] which of the split's.
    """

    task: str
    model: str
    metric: str
    labels: Tensor
    graphs: Tensor
    curves: dict[str, dict[str, Tensor]]
    asked: dict[str, Tensor]
    started: Tensor
    split: Split = "test"
    per_step: int = 1
    draws: int = 1
    seed: int = 0
    samples: int = SAMPLES
    data: str = ""

    def area(self, strategy: str, metric: str | None = None) -> Tensor:
        """The mean height of each graph's curve, [G]: the area under it by trapezoids, over its width."""
        curve = self.curves[strategy][metric or self.metric]
        return ((curve[:, 1:] + curve[:, :-1]) / 2).mean(1)

    def gain(self, strategy: str, metric: str | None = None) -> Gain:
        """What the area gains over asking at random, graph by graph."""
        return Gain.of(self.area(strategy, metric) - self.area(BASELINE, metric))

    def labels_to_match(self, strategy: str) -> int | None:
        """How many labels per graph the strategy needs for what random ends with; ``None`` if all are not enough."""
        reached = self.mean(strategy) >= self.mean(BASELINE)[-1]
        return int(self.labels[reached][0]) if reached.any() else None

    def mean(self, strategy: str, metric: str | None = None) -> Tensor:
        """The mean curve over graphs, [S + 1]; graphs without a hidden node do not count where these are counted."""
        return self.curves[strategy][metric or self.metric].nanmean(0)

    def table(self) -> ReplayTable:
        """What each strategy is worth, in plain numbers."""
        return ReplayTable(
            task=self.task,
            model=self.model,
            metric=self.metric,
            graphs=self.graphs.numel(),
            labels=tuple(self.labels.tolist()),
            strategies={name: self._worth(name) for name in self.curves},
            split=self.split,
            per_step=self.per_step,
            draws=self.draws,
            seed=self.seed,
            samples=self.samples,
            data=self.data,
        )

    def _worth(self, strategy: str) -> Worth:
        gain = self.gain(strategy)
        return Worth(
            area=float(self.area(strategy).mean()),
            gain=gain.mean,
            gain_error=gain.error,
            gain_low=gain.low,
            gain_high=gain.high,
            labels_to_match=self.labels_to_match(strategy),
            curves={metric: tuple(self.mean(strategy, metric).tolist()) for metric in self.curves[strategy]},
        )

    def to_dict(self) -> dict[str, Any]:
        return self.table().to_dict()

    def to_pandas(self) -> Any:
        return self.table().to_pandas()

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


@dataclass(frozen=True)
class Worth(Stored):
    """What a strategy is worth: the area under its mean curve, its gain over random with the 95 % interval over graphs, how
    many labels it needs for what random ends with (``None``: all are not enough), and its ``curves`` by metric."""

    area: float
    gain: float
    gain_error: float
    gain_low: float
    gain_high: float
    labels_to_match: int | None
    curves: dict[str, tuple[float, ...]]

    def cells(self) -> dict[str, Any]:
        return {name: value for name, value in self.to_dict().items() if name != "curves"}


@dataclass(frozen=True, repr=False)
class ReplayTable(Stored, Shown):
    """A replay in plain numbers, a row per strategy; ``labels``: per graph, before the first step and after each."""

    task: str
    model: str
    metric: str
    graphs: int
    labels: tuple[int, ...]
    strategies: dict[str, Worth]
    split: str | None = None
    per_step: int | None = None
    draws: int | None = None
    seed: int | None = None
    samples: int | None = None
    data: str | None = None
    made: dict[str, Any] | None = None

    @property
    def title(self) -> str:
        span = f"{self.labels[0]} to {self.labels[-1]} labels each"
        return f"{self.model} on {self.task}: {self.metric} on all nodes, {self.graphs} graphs, {span}"

    def rows(self) -> list[dict[str, Any]]:
        return [{"strategy": name, **worth.cells()} for name, worth in self.strategies.items()]
