"""How long to train on few labels, and how sure to be afterwards: found out on labels held out in turns.

With a handful of validation labels neither can be told. So the labels are divided into folds, a model is trained without
each, all of them epoch by epoch side by side, and all labels together say after which epoch to stop: predicted by the model
that never saw them, with all others shown, as they are in use.
"""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from scipy.optimize import brentq
from torch import Tensor
from tqdm import tqdm

from ..defaults import READY
from ..episode import Episode
from ..errors import UserError
from ..evaluation.calibrate import calibration_from
from ..evaluation.held_out import interval, stratified
from ..evaluation.reliability import Pool
from ..files import replacing, write_json
from ..models.base import Model
from ..models.calibration import Calibration, Conformal
from ..models.pretrained import from_pretrained
from ..models.universal import Universal
from ..prediction import tempered
from ..tasks.base import Task
from ..tasks.own import Lessons, OwnTask
from .folder import read_json
from .learner import optimiser_of
from .objectives import balanced, objective
from .recipe import Recipe
from .stream import lessons_of

FEW = 1_000  # labels below which a tenth of them is too little to stop by
FOLDS, FEWER_FOLDS = 5, 3
LARGE = 20_000  # nodes from which on three folds have to do
PATIENCE = 5  # epochs without a better one
COVERAGE = 0.9
OPINION_ERROR = (
    0.048  # of the second opinion: the calibration error of ``universal`` on real graphs (docs/universal.md)
)
MOST_LOG = 4.0  # of the logarithm of a temperature: a model that was trained for moments is nearly flat
FILE = "folds.json"


@dataclass(frozen=True)
class Found:
    """What the held-out labels say: stop after ``epochs``; ``accuracy`` and ``nll`` there, over ``nodes`` labels; the
    ``temperature`` that makes the confidence honest, and the ``threshold`` of sets that hold the true label 90 % of the
    time where a share ``shown`` of all nodes is labelled."""

    epochs: int
    folds: int
    nodes: int
    accuracy: float
    low: float
    high: float
    nll: float
    temperature: float
    threshold: float
    shown: float

    @property
    def sets(self) -> Conformal:
        return Conformal(COVERAGE, (self.shown,), (self.threshold,), allow_empty=False)

    def calibration(self, task: Task) -> Calibration:
        return Calibration(self.temperature, self.sets, task.name)


def temperature_for(network: Model, task: OwnTask, found: Found) -> float:
    """The temperature at which the model is, on the mean over unlabelled nodes, as sure as it is likely to be right.

    Forty labels tell an accuracy to some seven points. ``universal``'s opinion of the same answers is a second source, which
    errs in other ways (:func:`likely_accuracy`). results/few-labels/README.md has what is left of the gap, measured.
    """
    if isinstance(network, Universal):  # no second opinion
        return found.temperature
    episode = task.labelled()
    hidden = (~episode.context).nonzero().squeeze(1)
    if not hidden.numel():
        return found.temperature
    said = network.predict(episode, nodes=hidden).probabilities.double()
    return as_sure_as(said, likely_accuracy(found, second_opinion(episode, hidden, said)))


def second_opinion(episode: Episode, nodes: Tensor, said: Tensor) -> float:
    """How probable ``universal`` finds the likeliest labels of ``said`` [n, C] at ``nodes`` [n], on the mean."""
    model = from_pretrained(READY)
    assert isinstance(model, Universal)
    believed = model.sharing().predict(episode, nodes=nodes).probabilities.double()
    return float(believed.gather(1, said.argmax(1, keepdim=True)).mean())


def likely_accuracy(found: Found, opinion: float) -> float:
    r"""The accuracy to expect, from the n held-out labels of which k were right, and the second ``opinion``.

    The opinion o is the mean of a beta prior of the weight of m labels, whose deviation is the error e of ``universal``'s
    confidence; held-out labels are drawn from it:

    .. math:: \frac{k + m o}{n + m}, \qquad m = \max\left(1, \frac{o (1 - o)}{e^2} - 1\right)
    """
    weight = max(1.0, opinion * (1 - opinion) / OPINION_ERROR**2 - 1)
    return (found.accuracy * found.nodes + weight * opinion) / (found.nodes + weight)


def as_sure_as(probabilities: Tensor, confidence: float) -> float:
    """The temperature, within bounds, at which the likeliest labels have this probability on the mean."""
    low, high = math.exp(-MOST_LOG), math.exp(MOST_LOG)

    def excess(log_t: float) -> float:
        return float(tempered(probabilities, math.exp(log_t)).amax(1).mean()) - confidence

    if excess(-MOST_LOG) <= 0:
        return low
    return high if excess(MOST_LOG) >= 0 else math.exp(float(brentq(excess, -MOST_LOG, MOST_LOG, xtol=1e-3)))


def few_labels(task: Task) -> bool:
    """Whether a task is a user's, of few graphs with few labels."""
    if not (isinstance(task, OwnTask) and task.transductive):
        return False
    return int(task.part("train", "val", "test").sum()) < FEW


def to_learn_from(task: OwnTask) -> Lessons:
    """All labels but those that are kept for testing."""
    return Lessons(task, task.part("train", "val"))


def found_before(folder: Path) -> Found | None:
    """What an interrupted run left."""
    if not (folder / FILE).exists():
        return None
    try:
        return Found(**read_json(folder / FILE))
    except TypeError as error:
        raise UserError(f"{folder / FILE} is damaged; delete the folder and train again.") from error


def keep(found: Found, folder: Path) -> None:
    with replacing(folder / FILE) as temporary:
        write_json(temporary, asdict(found))


def try_folds(network: Model, task: OwnTask, plan: Recipe, seed: int, balance: bool, progress: bool = False) -> Found:
    """Train a copy of ``network`` without each fold, epoch by epoch, until all labels together say that it is enough."""
    episode, told = task.labelled(), task.part("train", "val")
    count = int(told.sum())
    folds = min(count, FEWER_FOLDS if episode.num_nodes > LARGE else FOLDS)
    fold = stratified(episode.y, told, folds, torch.Generator().manual_seed(seed))
    pupils = [Pupil(network, task, episode, told & (fold != f), fold == f, plan, seed, balance) for f in range(folds)]
    best, since, epochs = (math.inf, 0, Pool.join([])), 0, 0
    patience = PATIENCE if plan.patience is None else plan.patience
    bar = tqdm(
        total=plan.epochs, desc="how long to train", unit="epoch", leave=False, disable=None if progress else True
    )
    for epoch in range(plan.epochs):
        pool = Pool.join([pupil.learn(epoch) for pupil in pupils])
        nll = -float(pool.true.double().clamp(min=1e-12).log().mean())
        bar.update()
        if not math.isfinite(nll):
            break
        if nll < best[0]:
            best, since = (nll, epoch + 1, pool), 0
        elif (since := since + 1) >= patience:
            break
    bar.close()
    nll, epochs, pool = best
    if not epochs:
        raise UserError(
            "The loss is no finite number from the start; give a smaller learning_rate, or look for huge values."
        )
    calibration = calibration_from([pool], COVERAGE)
    assert calibration.conformal is not None
    accuracy = float((pool.probabilities.argmax(1) == pool.y).double().mean())
    low, high = interval(accuracy, count)
    shown = float(task.part("train", "val", "test").double().mean())
    threshold = calibration.conformal.thresholds[0]
    return Found(epochs, folds, count, accuracy, low, high, nll, calibration.temperature, threshold, shown)


class Pupil:
    """A copy of a model that learns without one fold of the labels, and is asked about it after every epoch."""

    def __init__(
        self,
        network: Model,
        task: OwnTask,
        episode: Episode,
        told: Tensor,
        held_out: Tensor,
        plan: Recipe,
        seed: int,
        balance: bool,
    ) -> None:
        self.model, self.plan, self.seed = deepcopy(network).train(), plan, seed
        self.lessons = Lessons(task, told)
        self.exam, self.asked = episode.with_context(told), held_out.nonzero().squeeze(1)
        self.weight = balanced(self.lessons.graphs("train").y, task.num_classes) if balance else None
        steps = plan.epochs * lessons_of(self.lessons, plan, seed, 0).updates
        self.optimiser, self.schedule = optimiser_of(self.model, plan, steps)

    def learn(self, epoch: int) -> Pool:
        """One epoch, by the episodes and the noise of a training; then what it says of the fold it never saw."""
        torch.manual_seed(self.seed * 1_000_003 + epoch + 500_000)
        for lesson in lessons_of(self.lessons, self.plan, self.seed, epoch):
            plan = self.plan
            found = objective(plan.objective, self.model, lesson, plan.samples, None, plan.target_labels, self.weight)
            loss = found.loss
            self.optimiser.zero_grad()
            loss.backward()
            if self.plan.clip:
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.plan.clip)
            self.optimiser.step()
            if self.schedule is not None:
                self.schedule.step()
        said: Any = self.model.predict(self.exam, nodes=self.asked)
        graph = self.exam.batch[self.asked]
        return Pool(said.probabilities, self.exam.y[self.asked], graph, self.exam.share_shown[graph])
