"""Who takes part: each turns a case into a prediction for every node, from the labels shown and nothing learned elsewhere but ``universal``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

import mpnp
from mpnp.evaluation.provenance import fingerprint
from mpnp.experts.evidence import EXPERTS, SINGLE, Evidence
from mpnp.models.label_propagation import LabelPropagation
from mpnp.models.universal import Session, Universal
from mpnp.prediction import Prediction

from .arenas import PUBLIC, SETTINGS, Case
from .per_graph import FIXED, STOPPED, train

STRENGTHS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5)  # of the ridge on logistic regression, strong to weak


@dataclass(frozen=True)
class Contestant:
    """``asks``: it reads the experts' evidence, whose seconds count as its own. ``options``: part of a result's identity."""

    name: str
    predict: Callable[[Case], Prediction]
    asks: bool = False
    settings: tuple[str, ...] = SETTINGS
    options: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None


def contestants(model: Path | None) -> list[Contestant]:
    """All of them; ``universal`` with the weights in the folder ``model``, if there is one."""
    trained = {"stopped": asdict(STOPPED), "fixed": asdict(FIXED)}
    found = [
        Contestant("label-propagation", label_propagation),
        Contestant("best-expert", best_expert, asks=True),
        Contestant("stack", stack, asks=True),
        Contestant("logistic", logistic, settings=(PUBLIC,), options={"strengths": list(STRENGTHS)}),
        Contestant("gcn", lambda case: Prediction.certain(train(case, edges=True)), options=trained),
        Contestant("mlp", lambda case: Prediction.certain(train(case, edges=False)), settings=(PUBLIC,), options=trained),
    ]  # fmt: skip
    return found if model is None else [universal(model), *found]


def universal(folder: Path) -> Contestant:
    model = mpnp.from_pretrained(folder)
    if not isinstance(model, Universal):
        raise mpnp.UserError(f"{folder} holds no 'universal' model but '{model.name}'; give the folder of one.")

    def predict(case: Case) -> Prediction:
        views, _ = case.arena.opened
        return Session(model, views).answer(case.asked[0])

    options = {"weights": fingerprint(folder), "hedge": model.config.hedge, "temperature": temperature(model)}
    return Contestant("universal", predict, asks=True, options=options, folder=folder)


def temperature(model: Universal) -> float:
    return 1.0 if model.calibration is None else model.calibration.temperature


def label_propagation(case: Case) -> Prediction:
    return LabelPropagation().predict(case.episode)


def best_expert(case: Case) -> Prediction:
    """The single expert that was right most often on the context, left one out; of equals the one with more skill."""
    found = case.asked[0].evidence
    return said(found, max(range(len(SINGLE)), key=lambda e: _rank(found, e)))


def stack(case: Case) -> Prediction:
    return said(case.asked[0].evidence, EXPERTS.index("stack"))


def said(evidence: Evidence, expert: int) -> Prediction:
    return Prediction.certain(evidence.log_p[..., expert].softmax(-1))


def _rank(evidence: Evidence, expert: int) -> tuple[bool, float, float]:
    return bool(evidence.present[expert]), float(evidence.accuracy[expert]), float(evidence.skill[expert])


def logistic(case: Case) -> Prediction:
    r"""Softmax regression on features smoothed by personalised PageRank, the ridge by likelihood on ``val``.

    .. math:: \min_W \tfrac1n \sum_i -\log \mathrm{softmax}(W^\top z_i)_{y_i} + \tfrac\lambda2 \|W\|^2
    """
    views, _ = case.arena.opened
    z = views.linear["pprx"] if views.linear else views.structure
    z = z - z.mean(0)
    z = z / z.square().sum(1).mean().sqrt().clamp(min=1e-12)
    z = torch.cat([z, torch.ones(z.size(0), 1)], 1)
    weights = torch.zeros(z.size(1), case.arena.classes)
    best, answer = float("inf"), torch.zeros(0)
    for strength in STRENGTHS:  # each starts where the stronger one ended
        weights = _fitted(z[case.context], case.shown, strength, weights)
        log_p = (z @ weights).log_softmax(-1)
        loss = float(F.nll_loss(log_p[case.val], case.arena.y[case.val]))
        if loss < best:
            best, answer = loss, log_p.exp()
    return Prediction.certain(answer)


def _fitted(z: Tensor, y: Tensor, strength: float, start: Tensor) -> Tensor:
    weights = start.clone().requires_grad_()
    solver = torch.optim.LBFGS([weights], max_iter=100, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        solver.zero_grad()
        loss = F.cross_entropy(z @ weights, y) + strength / 2 * weights[:-1].square().sum()
        loss.backward()
        return loss

    solver.step(closure)
    return weights.detach()
