"""What mends a predictor's confidence: a temperature and sets of labels, fitted on validation graphs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from scipy.optimize import minimize_scalar
from torch import Tensor

from ..defaults import DRAWS, SAMPLES
from ..errors import UserError
from ..models.calibration import Calibration, Conformal, check_coverage, uncalibrated
from ..prediction import SMALLEST, Predictor
from .given import as_predictor, as_task
from .held_out import Labelled, ask, labelled
from .reliability import Calibrated, Pool, credible_sets, pools_by_rate, reliability

FEWEST = 30  # labelled nodes of few graphs from which on a temperature and sets can be told from chance
PARTS = 5  # of them, each judged by what the others say


def calibrate(
    predictor: Any,
    task: Any,
    coverage: float = 0.9,
    *,
    allow_empty: bool = False,
    draws: int = DRAWS,
    samples: int = SAMPLES,
    seed: int = 0,
    progress: bool = False,
) -> Calibration:
    """Calibrate a predictor on the validation graphs of a task, or on graphs of your own in any container; a model takes it
    as ``model.calibration``.

    On few graphs, their labelled nodes are cross-validated; fewer than thirty are refused. A temperature that makes
    predictions no better, on nodes that it was not fitted on, leaves the one that the model has. ``allow_empty``: sets may
    hold no label at all, where the model is more accurate than the ``coverage`` asks for.
    """
    check_coverage(coverage)
    predictor = as_predictor(predictor)
    task, raw = as_task(task, predictor), uncalibrated(predictor)
    earlier = getattr(predictor, "calibration", None)
    before = 1.0 if earlier is None else earlier.temperature
    few = labelled(task, predictor)
    if few is not None:
        pool = pool_of(raw, few, seed, samples=samples)
        temperature = fit_temperature([pool])
        if likelihood_gain(pool, before) <= 0:
            temperature = before
        return Calibration(temperature, fit_sets([pool.at(temperature)], coverage, allow_empty), task.name)
    found = pools_by_rate(raw, task, "val", draws=draws, samples=samples, seed=seed, progress=progress)
    return calibration_from([pool for _, pool in found], coverage, task.name, before, allow_empty)


def calibration_from(
    pools: Sequence[Pool], coverage: float, task: str = "", before: float = 1.0, allow_empty: bool = True
) -> Calibration:
    """From a predictor's answers on validation graphs, a pool per context rate, all weighed alike; ``before``: the
    temperature it has, which stays if no better one is found."""
    temperature = fit_temperature(pools)
    if _nll(pools, before) < _nll(pools, temperature):
        temperature = before
    return Calibration(temperature, fit_sets([pool.at(temperature) for pool in pools], coverage, allow_empty), task)


def pool_of(raw: Predictor, few: Labelled, seed: int = 0, *, samples: int = SAMPLES) -> Pool:
    """What a predictor says of each labelled node of few graphs, the others shown."""
    if few.count < FEWEST:
        raise UserError(
            f"{few.count} labelled nodes are there to calibrate by, at least {FEWEST} are expected; label more nodes. "
            "Until then the confidence stays as it is."
        )
    return Pool.of([ask(raw, few, seed, samples=samples)])


def likelihood_gain(pool: Pool, before: float) -> float:
    """How much log-likelihood per node a temperature gains over ``before``, on nodes that it was not fitted on."""
    part = torch.arange(pool.y.numel()) % PARTS
    gains = []
    for p in range(PARTS):
        rest, held_out = pool.only(part != p), pool.only(part == p)
        gains.append((_nll([held_out], before) - _nll([held_out], fit_temperature([rest]))) * held_out.y.numel())
    return sum(gains) / pool.y.numel()


def check_few(pool: Pool, coverage: float, allow_empty: bool = False) -> Calibrated:
    """What calibrating by such labels mends: each part of them calibrated by the others."""
    part = torch.arange(pool.y.numel()) % PARTS
    after, sets = [], []
    for p in range(PARTS):
        held_out, found = pool.only(part == p), calibration_from([pool.only(part != p)], coverage, "", 1.0, allow_empty)
        assert found.conformal is not None
        after.append(held_out.at(found.temperature))
        sets.append(found.conformal.sets(after[-1].prediction, after[-1].shown))
    return Calibrated(
        before=reliability(pool, credible_sets(pool.probabilities, coverage)),
        after=reliability(Pool.join(after), torch.cat(sets)),
    )


def _nll(pools: Sequence[Pool], temperature: float) -> float:
    """At a temperature, the mean over pools."""
    each = [F.cross_entropy(one.probabilities.double().clamp(min=SMALLEST).log() / temperature, one.y) for one in pools]
    return float(sum(each)) / len(each)


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


def fit_sets(pools: Sequence[Pool], coverage: float, allow_empty: bool = True) -> Conformal:
    """Sets of labels from answers on validation graphs, one threshold per pool: per context rate."""
    check_coverage(coverage)
    # Of all nodes pooled, as coverage is counted. A bound for graphs (conformal risk control) would promise the least
    # for any number of them, but with twenty graphs covers 94 % where 90 % are asked for.
    pairs = sorted((float(one.shown.mean()), _lower_quantile(one.true, coverage)) for one in pools)
    shares, thresholds = (tuple(pair[i] for pair in pairs) for i in (0, 1))
    return Conformal(coverage, shares, thresholds, allow_empty)


def _lower_quantile(true: Tensor, coverage: float) -> float:
    """The largest threshold that a new node's true label reaches with the probability ``coverage``.

    Its place among the n given ones is equally likely to be any of n + 1; with too few of them only 0 is safe.
    """
    below = math.floor((true.numel() + 1) * (1 - coverage) + 1e-9)
    return float(true.kthvalue(below).values) if below else 0.0
