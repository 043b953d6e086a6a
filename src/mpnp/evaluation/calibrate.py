"""What mends a predictor's confidence: a temperature and sets of labels, fitted on validation graphs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch.nn.functional as F
from scipy.optimize import minimize_scalar
from torch import Tensor
from torch_geometric.data import Data

from ..defaults import DRAWS, SAMPLES
from ..models.calibration import Calibration, Conformal, check_coverage, uncalibrated
from ..prediction import SMALLEST, Predictor
from ..tasks.base import Task
from .given import as_task
from .reliability import Pool, pools_by_rate


def calibrate(
    predictor: Predictor,
    task: Task | Data | Sequence[Data],
    coverage: float = 0.9,
    *,
    draws: int = DRAWS,
    samples: int = SAMPLES,
    seed: int = 0,
    progress: bool = False,
) -> Calibration:
    """Calibrate a predictor on the validation graphs of a task, or on PyG graphs of your own; a model takes it as
    ``model.calibration``."""
    check_coverage(coverage)
    task, raw = as_task(task, predictor), uncalibrated(predictor)
    found = pools_by_rate(raw, task, "val", draws=draws, samples=samples, seed=seed, progress=progress)
    return calibration_from([pool for _, pool in found], coverage, task.name)


def calibration_from(pools: Sequence[Pool], coverage: float, task: str = "") -> Calibration:
    """From a predictor's answers on validation graphs, a pool per context rate, all weighed alike."""
    temperature = fit_temperature(pools)
    return Calibration(temperature, fit_sets([pool.at(temperature) for pool in pools], coverage), task)


def fit_temperature(pools: Sequence[Pool]) -> float:
    r"""The T with the least :math:`-\log p_T(y)`, :math:`p_T \propto p^{1/T}`, on the mean of the given pools.

    A normal prior on log T, worth a single node, keeps a handful of right answers from making the model cocksure. It is
    centred on T = 1, so the likelihood never gets worse.
    """
    logs = [(one.probabilities.double().clamp(min=SMALLEST).log(), one.y) for one in pools]

    def loss(log_t: float) -> float:
        nll = [float(F.cross_entropy(log * math.exp(-log_t), y)) + 0.5 * log_t**2 / y.numel() for log, y in logs]
        return sum(nll) / len(nll)

    # Convex in 1 / T, so there is one valley.
    best = float(minimize_scalar(loss, bounds=(-3, 3), method="bounded").x)
    return math.exp(best) if loss(best) < loss(0) else 1.0


def fit_sets(pools: Sequence[Pool], coverage: float) -> Conformal:
    """Sets of labels from answers on validation graphs, one threshold per pool: per context rate."""
    check_coverage(coverage)
    # Of all nodes pooled, as coverage is counted. A bound for graphs (conformal risk control) would promise the least
    # for any number of them, but with twenty graphs covers 94 % where 90 % are asked for.
    pairs = sorted((float(one.shown.mean()), _lower_quantile(one.true, coverage)) for one in pools)
    return Conformal(coverage, tuple(share for share, _ in pairs), tuple(threshold for _, threshold in pairs))


def _lower_quantile(true: Tensor, coverage: float) -> float:
    """The largest threshold that a new node's true label reaches with the probability ``coverage``.

    Its place among the n given ones is equally likely to be any of n + 1; with too few of them only 0 is safe.
    """
    below = math.floor((true.numel() + 1) * (1 - coverage) + 1e-9)
    return float(true.kthvalue(below).values) if below else 0.0
