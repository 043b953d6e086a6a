"""Whether stated confidence is kept: reliability on test graphs, and what mends it, fitted on validation graphs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from scipy.optimize import minimize_scalar
from torch import Tensor
from tqdm import tqdm

from ..defaults import DRAWS, SAMPLES
from ..errors import UserError
from ..models.calibration import Calibration, Conformal, check_coverage, uncalibrated
from ..prediction import SMALLEST, Prediction, Predictor, tempered
from ..tasks.base import Split, Task
from .evaluate import cross_fit, episodes
from .scores import Score

BINS = 15  # of confidence, as the expected calibration error counts


def calibrate(
    predictor: Predictor,
    task: Task,
    coverage: float = 0.9,
    *,
    draws: int = DRAWS,
    samples: int = SAMPLES,
    seed: int = 0,
    progress: bool = False,
) -> Calibration:
    """Calibrate a predictor on the validation graphs of a task; a model takes it as ``model.calibration``."""
    check_coverage(coverage)
    raw = uncalibrated(predictor)
    found = answers_by_rate(raw, task, "val", draws=draws, samples=samples, seed=seed, progress=progress)
    return calibration_from([answers for _, answers in found], coverage, task.name)


def calibration_from(answers: Sequence[Answers], coverage: float, task: str = "") -> Calibration:
    """From a predictor's answers on validation graphs, one set per context rate, all weighed alike."""
    temperature = fit_temperature(answers)
    return Calibration(temperature, fit_sets([one.at(temperature) for one in answers], coverage), task)


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
        draws: int = DRAWS,
        samples: int = SAMPLES,
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
                parts.append(cls(prediction.probabilities, episode.y[nodes], first + of, episode.share_shown[of]))
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


def answers_by_rate(
    predictor: Predictor,
    task: Task,
    split: Split,
    *,
    draws: int = DRAWS,
    samples: int = SAMPLES,
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


def fit_sets(answers: Sequence[Answers], coverage: float) -> Conformal:
    """Sets of labels from answers on validation graphs, one threshold per set of answers: per context rate."""
    check_coverage(coverage)
    # Of all nodes pooled, as coverage is counted. A bound for graphs (conformal risk control) would promise the least
    # for any number of them, but with twenty graphs covers 94 % where 90 % are asked for.
    pairs = sorted((float(one.shown.mean()), _lower_quantile(one.true, coverage)) for one in answers)
    return Conformal(coverage, tuple(share for share, _ in pairs), tuple(threshold for _, threshold in pairs))


def _lower_quantile(true: Tensor, coverage: float) -> float:
    """The largest threshold that a new node's true label reaches with the probability ``coverage``.

    Its place among the n given ones is equally likely to be any of n + 1; with too few of them only 0 is safe.
    """
    below = math.floor((true.numel() + 1) * (1 - coverage) + 1e-9)
    return float(true.kthvalue(below).values) if below else 0.0


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
