"""Whether stated confidence is kept: reliability, a temperature that mends it, and sets of labels with a promised coverage.

All of it is fitted on validation graphs and lies in the model's folder as ``calibration.json``, beside the weights it was
fitted for and outside the configuration: a run's identity and its results stay what they were.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from scipy.optimize import minimize_scalar
from torch import Tensor
from tqdm import tqdm

from .episode import Episode
from .errors import UserError
from .evaluation import cross_fit, episodes
from .files import replacing, write_json
from .prediction import SMALLEST, Prediction, Predictor, tempered
from .scores import Score
from .tasks.base import Split, Task

FILE = "calibration.json"
BINS = 15  # of confidence, as the expected calibration error counts
LOWEST_SHARE = 1e-6  # of labels shown, where its logarithm would not end
ROUNDING = 0.2  # of the logarithm of that share: what a whole number of labels makes of a rate in a small graph


@dataclass
class Answers:
    """Predictions for unlabelled nodes beside the truth.

    Shapes: ``probabilities`` [Q, C], ``y`` [Q], ``graph`` [Q] the number of each node's graph in its split, ``shown`` [Q] the
    share of that graph's nodes that showed their label.
    """

    probabilities: Tensor
    y: Tensor
    graph: Tensor
    shown: Tensor

    @classmethod
    def of(
        cls,
        predictor: Predictor,
        task: Task,
        rate: float,
        split: Split,
        *,
        draws: int = 3,
        samples: int = 16,
        seed: int = 0,
    ) -> Answers:
        """All graphs of a split at one context rate; at 100 % every node is predicted from nine tenths of the others."""
        parts = []
        for draw in range(seed * 10_007, seed * 10_007 + draws):
            generator, first = torch.Generator().manual_seed(draw + 1), 0
            for episode in episodes(task, rate, draw, split):
                if rate == 1:
                    prediction, nodes = cross_fit(predictor, episode, generator, samples=samples, seed=draw)
                else:
                    nodes = episode.unlabelled_targets.nonzero().squeeze(1)
                    prediction = predictor.predict(episode, samples=samples, seed=draw, nodes=nodes)
                of = episode.batch[nodes]
                parts.append(cls(prediction.probabilities, episode.y[nodes], first + of, share_shown(episode)[of]))
                first += episode.num_graphs
        return cls(*(torch.cat([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__))

    def at(self, temperature: float) -> Answers:
        """The same answers, tempered."""
        return Answers(tempered(self.probabilities, temperature), self.y, self.graph, self.shown)

    @property
    def prediction(self) -> Prediction:
        return Prediction.certain(self.probabilities)

    @property
    def true(self) -> Tensor:
        """The probability given to the true label, [Q]."""
        return self.probabilities.gather(1, self.y.unsqueeze(1)).squeeze(1)


def share_shown(episode: Episode) -> Tensor:
    """The share of each graph's nodes that show their label, [B]."""
    nodes = episode.graph.ptr.diff()
    shown = torch.zeros_like(nodes).index_add(0, episode.batch, episode.context.long())
    return shown / nodes.clamp(min=1)


def answers_by_rate(
    predictor: Predictor,
    task: Task,
    split: Split,
    *,
    draws: int = 3,
    samples: int = 16,
    seed: int = 0,
    progress: bool = False,
) -> Iterator[tuple[float, Answers]]:
    """The answers at each of the task's context rates at which anything is left to predict, one rate after the other."""
    if split not in task.splits or len(task.graphs(split)) == 0:
        raise UserError(f"{task.name} has no {split} graphs, which calibration needs; give a task that holds some out.")
    found = False
    for rate in tqdm(task.rates, f"{predictor.name}, {split} graphs", disable=None if progress else True, leave=False):
        answers = Answers.of(predictor, task, rate, split, draws=draws, samples=samples, seed=seed)
        if answers.y.numel():
            found = True
            yield rate, answers
    if not found:
        raise UserError(f"The {split} graphs of {task.name} have no label left to predict; label more of their nodes.")


def fit_temperature(answers: Sequence[Answers]) -> float:
    r"""The T with the least :math:`-\log p_T(y)`, :math:`p_T \propto p^{1/T}`, on the mean of the given sets of answers.

    A normal prior on log T, worth a single node, keeps a handful of right answers from making the model cocksure. It is
    centred on T = 1, so the likelihood never gets worse.
    """
    logs = [(one.probabilities.double().clamp(min=SMALLEST).log(), one.y) for one in answers]

    def loss(log_t: float) -> float:
        nll = [float(F.cross_entropy(log * math.exp(-log_t), y)) + 0.5 * log_t**2 / y.numel() for log, y in logs]
        return sum(nll) / len(nll)

    # Convex in 1 / T, so there is one valley.
    best = float(minimize_scalar(loss, bounds=(-3, 3), method="bounded").x)
    return math.exp(best) if loss(best) < loss(0) else 1.0


@dataclass(frozen=True)
class Conformal:
    """Sets of labels that hold the true one for a ``coverage`` share of the unlabelled nodes, whatever the model.

    Split conformal prediction with the score 1 - p(true label): a set holds all labels of at least a threshold, below which
    the true labels of 1 - coverage of the validation nodes lie. Validation and test graphs have to be of a kind. A model more
    accurate than the coverage asked for is left with empty sets where it is least sure.

    One threshold per context rate: it holds near the share of labels shown at that rate and beyond the last, and is
    interpolated over the logarithm of the share in between. ``shown``, rising, and ``thresholds`` are of one length.
    """

    coverage: float
    shown: tuple[float, ...]
    thresholds: tuple[float, ...]

    @classmethod
    def fit(
        cls,
        predictor: Predictor,
        task: Task,
        coverage: float = 0.9,
        *,
        draws: int = 3,
        samples: int = 16,
        seed: int = 0,
    ) -> Conformal:
        check_coverage(coverage)
        found = answers_by_rate(predictor, task, "val", draws=draws, samples=samples, seed=seed)
        return cls.of([answers for _, answers in found], coverage)

    @classmethod
    def of(cls, answers: Sequence[Answers], coverage: float) -> Conformal:
        """From answers on validation graphs, one set per context rate."""
        check_coverage(coverage)
        # Of all nodes pooled, as coverage is counted. A bound for graphs (conformal risk control) would promise the least
        # for any number of them, but with twenty graphs covers 94 % where 90 % are asked for.
        pairs = sorted((float(one.shown.mean()), _lower_quantile(one.true, coverage)) for one in answers)
        return cls(coverage, tuple(share for share, _ in pairs), tuple(threshold for _, threshold in pairs))

    def sets(self, prediction: Prediction, rate: float | Tensor) -> Tensor:
        """Which labels are in each node's set, [N, C] bool; ``rate``: the share of its graph's nodes labelled, one or [N]."""
        where = np.log(np.maximum(np.asarray(rate, dtype=float), LOWEST_SHARE))
        knots = np.log(np.maximum(self.shown, LOWEST_SHARE))
        level = min([ROUNDING, *np.diff(knots) / 2])  # around each rate its own threshold holds
        ends = (knots[:, None] + [-level, level]).ravel()
        threshold = torch.as_tensor(np.interp(where, ends, np.repeat(self.thresholds, 2)))
        return prediction.probabilities >= threshold.to(prediction.probabilities.device).reshape(-1, 1)


def check_coverage(coverage: float) -> None:
    if not 0 < coverage < 1:
        raise UserError(f"A coverage of {coverage:g} was given, a share between 0 and 1 is expected, such as 0.9.")


def _lower_quantile(true: Tensor, coverage: float) -> float:
    """The largest threshold that a new node's true label reaches with the probability ``coverage``.

    Its place among the n given ones is equally likely to be any of n + 1; with too few of them only 0 is safe.
    """
    below = math.floor((true.numel() + 1) * (1 - coverage) + 1e-9)
    return float(true.kthvalue(below).values) if below else 0.0


@dataclass(frozen=True)
class Calibration:
    """What ``mpnp calibrate`` learned about a model: a temperature and thresholds for sets; ``task``: on what."""

    temperature: float = 1.0
    conformal: Conformal | None = None
    task: str = ""

    @classmethod
    def of(cls, answers: Sequence[Answers], coverage: float, task: str = "") -> Calibration:
        """From a predictor's answers on validation graphs, one set per context rate, all weighed alike."""
        temperature = fit_temperature(answers)
        return cls(temperature, Conformal.of([one.at(temperature) for one in answers], coverage), task)

    @classmethod
    def fit(
        cls,
        predictor: Predictor,
        task: Task,
        coverage: float = 0.9,
        *,
        draws: int = 3,
        samples: int = 16,
        seed: int = 0,
        progress: bool = False,
    ) -> Calibration:
        """Calibrate a predictor on the validation graphs of a task; a model takes it as ``model.calibration``."""
        check_coverage(coverage)
        raw = uncalibrated(predictor)
        found = answers_by_rate(raw, task, "val", draws=draws, samples=samples, seed=seed, progress=progress)
        return cls.of([answers for _, answers in found], coverage, task.name)

    def write(self, folder: Path) -> None:
        content: dict[str, Any] = {"task": self.task, "temperature": self.temperature}
        if self.conformal is not None:
            content |= {
                "coverage": self.conformal.coverage,
                "shown": self.conformal.shown,
                "thresholds": self.conformal.thresholds,
            }
        with replacing(folder / FILE) as temporary:
            write_json(temporary, content)

    @classmethod
    def read(cls, file: Path) -> Calibration | None:
        """What lies in a model's folder; ``None`` if it was never calibrated."""
        if not file.exists():
            return None
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            temperature, conformal = float(content["temperature"]), None
            if not 0 < temperature < math.inf:
                raise ValueError(f"a temperature of {temperature:g}")
            if "coverage" in content:
                shown, thresholds = ([float(value) for value in content[name]] for name in ("shown", "thresholds"))
                if not shown or len(shown) != len(thresholds) or shown != sorted(shown):
                    raise ValueError("thresholds that fit no rates")
                if not all(0 <= value <= 1 for value in (*shown, *thresholds)):
                    raise ValueError("shares outside 0 to 1")
                check_coverage(coverage := float(content["coverage"]))
                conformal = Conformal(coverage, tuple(shown), tuple(thresholds))
            return cls(temperature, conformal, str(content["task"]))
        except (OSError, ValueError, KeyError, TypeError, UserError) as error:
            reason = str(error).rstrip(".")
            raise UserError(
                f"{file} is damaged ({reason}); delete it, and calibrate again with 'mpnp calibrate'."
            ) from error


def uncalibrated(predictor: Predictor) -> Predictor:
    """The same predictor without what an earlier calibration left."""
    if getattr(predictor, "calibration", None) is None:
        return predictor
    raw: Any = copy.copy(predictor)
    raw.calibration = None
    return raw


# What calibration does, on graphs it has not seen


def reliability(answers: Answers, sets: Tensor) -> dict[str, Any]:
    """Common scores, how often the ``sets`` [Q, C] hold the true label and how large they are, and the bins of a reliability
    diagram: mean confidence, accuracy and number of the nodes whose likeliest label has a probability in each fifteenth."""
    score = Score(answers.probabilities.size(1))
    score.add(answers.prediction, answers.y)
    hit = sets.gather(1, answers.y.unsqueeze(1)).squeeze(1).double()
    return {
        **score.compute(),
        "coverage": float(hit.mean()),
        "coverage_error": _error(hit, answers.graph),
        "set_size": float(sets.sum(1).double().mean()),
        "bins": _bins(answers),
    }


def compare(calibration: Calibration, test: Answers) -> dict[str, dict[str, Any]]:
    """:func:`reliability` before and after; before, a set holds the likeliest labels up to the coverage by the model's word."""
    conformal, after = calibration.conformal, test.at(calibration.temperature)
    if conformal is None:
        raise UserError("The model was calibrated without a coverage; calibrate it again with 'mpnp calibrate'.")
    return {
        "before": reliability(test, credible_sets(test.probabilities, conformal.coverage)),
        "after": reliability(after, conformal.sets(after.prediction, after.shown)),
    }


def credible_sets(probabilities: Tensor, coverage: float) -> Tensor:
    """The likeliest labels that together reach ``coverage`` if the probabilities are to be believed, [N, C] bool."""
    ordered, label = probabilities.sort(-1, descending=True)
    before = ordered.cumsum(-1) - ordered
    return torch.zeros_like(before, dtype=torch.bool).scatter(-1, label, before < coverage)


def _bins(answers: Answers) -> list[dict[str, float]]:
    """The non-empty bins, in rising order."""
    confidence, label = answers.probabilities.double().max(-1)
    right = (label == answers.y).double()
    place = (confidence * BINS).ceil().long().clamp(1, BINS) - 1
    count = torch.bincount(place, minlength=BINS)
    mean = [torch.bincount(place, weight, minlength=BINS) / count for weight in (confidence, right)]
    return [
        {"confidence": float(mean[0][i]), "accuracy": float(mean[1][i]), "count": int(count[i])}
        for i in count.nonzero().flatten().tolist()
    ]


def _error(hit: Tensor, graph: Tensor) -> float:
    """The standard error of the mean of ``hit`` [Q] over nodes whose ``graph`` they share: graphs are independent, nodes not."""
    graphs = graph.unique().numel()
    if graphs < 2:
        return float("nan")
    off = torch.bincount(graph, hit - hit.mean())
    return float((off.square().sum() * graphs / (graphs - 1)).sqrt() / hit.numel())
