"""Who takes part: each turns a case into a prediction for every node, from the labels shown and nothing learned elsewhere but ``universal``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
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
from .attentive import LESSONS, attentive
from .per_graph import FIXED, STOPPED, train

FOLDS = 10  # in which label propagation predicts labelled nodes
STRENGTHS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5)  # of the ridge on logistic regression, strong to weak


@dataclass(frozen=True)
class Contestant:
    """``asks``: it reads the experts' evidence, whose seconds count as its own. ``leaves_out``: labelled nodes are predicted
    without their own label, so that conformal sets can be made. ``most_nodes``: of the graphs it is run on. ``options``: part
    of a result's identity."""

    name: str
    predict: Callable[[Case], Prediction]
    asks: bool = False
    leaves_out: bool = False
    settings: tuple[str, ...] = SETTINGS
    most_nodes: int = sys.maxsize
    options: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None


def contestants(model: Path | None) -> list[Contestant]:
    """All of them; ``universal`` with the weights in the folder ``model``, if there is one."""
    trained = {name: asdict(one) | {"rows": list(one.rows)} for name, one in (("stopped", STOPPED), ("fixed", FIXED))}
    found = [
        Contestant("label-propagation", label_propagation, leaves_out=True, options={"folds": FOLDS}),
        Contestant("best-expert", best_expert, asks=True, leaves_out=True, options={"experts": list(SINGLE)}),
        Contestant("stack", stack, asks=True, leaves_out=True, options={"experts": list(SINGLE)}),
        Contestant("logistic", logistic, settings=(PUBLIC,), options={"strengths": list(STRENGTHS)}),
        Contestant("gcn", lambda case: Prediction.certain(train(case, edges=True)), options=trained),
        Contestant("mlp", lambda case: Prediction.certain(train(case, edges=False)), settings=(PUBLIC,), options=trained),
        Contestant("ampnp", attentive, settings=(PUBLIC,), most_nodes=1500, options={"lessons": asdict(LESSONS)}),
    ]  # fmt: skip
    return found if model is None else [universal(model), *found]


def universal(folder: Path) -> Contestant:
    model = mpnp.from_pretrained(folder)
    if not isinstance(model, Universal):
        raise mpnp.UserError(f"{folder} holds no 'universal' model but '{model.name}'; give the folder of one.")

    def predict(case: Case) -> Prediction:
        views, _ = case.arena.opened
        return Session(model, views).answer(case.asked[0])

    options = {
        "weights": fingerprint(folder),
        "hedge": model.config.hedge,
        "temperature": temperature(model),
        "experts": list(SINGLE),
    }
    return Contestant("universal", predict, asks=True, leaves_out=True, options=options, folder=folder)


def outdated(name: str, identity: dict[str, Any]) -> bool:
    """Whether a result is by experts or a recipe that are no longer those here; label propagation is as it was."""
    if name == "label-propagation":
        return False
    if name == "universal":
        return identity.get("experts") != list(SINGLE)
    options = next(one.options for one in contestants(None) if one.name == name)
    return any(identity.get(key) != value for key, value in options.items())


def temperature(model: Universal) -> float:
    return 1.0 if model.calibration is None else model.calibration.temperature


def label_propagation(case: Case) -> Prediction:
    """Labelled nodes in folds, each from the labels of the others, so that sets can be made of it."""
    model, episode = LabelPropagation(), case.episode
    p = model.predict(episode).probabilities.clone()
    order = case.context[torch.randperm(case.context.numel(), generator=torch.Generator().manual_seed(case.seed))]
    for part in order.tensor_split(min(FOLDS, order.numel())):
        fewer = replace(episode, context=episode.context.index_fill(0, part, False))
        p[part] = model.predict(fewer).probabilities[part]
    return Prediction.certain(p)


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
