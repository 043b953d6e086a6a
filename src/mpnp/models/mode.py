"""Predictors without parameters: the modes every model has to beat, and the limits no model can pass."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..defaults import SAMPLES
from ..episode import Episode
from ..errors import UserError
from ..graphs import plain_edges
from ..prediction import Prediction, Predictor

# Added to every count, so that a label not seen yet is unlikely, not impossible (Krichevsky-Trofimov).
SMOOTHING = 0.5

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Mode:
    """The shares of the labels in the context of the node's graph; the label is the most common one."""

    name = "mode"
    sees_own_label = False

    def predict(
        self, episode: Episode, *, samples: int = SAMPLES, seed: int = 0, nodes: Tensor | None = None
    ) -> Prediction:
        return Prediction.certain(_mode(episode)).at(nodes)


class StateMode:
    """The shares among the context nodes with the same features; a state without context takes the graph's."""

    name = "state-mode"
    sees_own_label = False

    def predict(
        self, episode: Episode, *, samples: int = SAMPLES, seed: int = 0, nodes: Tensor | None = None
    ) -> Prediction:
        return Prediction.certain(_state_mode(episode)).at(nodes)


class RuleTable:
    """The shares among the context nodes with the same state and number of living neighbours.

    The best there is for Life-like automata, whose rules give these pairs independent outcomes. A pair without context
    takes the state's shares, a state without context the graph's.
    """

    name = "rule-table"
    sees_own_label = False

    def predict(
        self, episode: Episode, *, samples: int = SAMPLES, seed: int = 0, nodes: Tensor | None = None
    ) -> Prediction:
        _check_automaton(self.name, episode)
        return Prediction.certain(_rule_table(episode)).at(nodes)


class RulePosterior:
    r"""The exact Bayesian predictor for density rules: the share of the prior's rules, among those that explain the
    context, under which the cell lives.

    Birth and survival are independent a priori, so each state has a posterior of its own. Only the places of the
    thresholds :math:`k_1 \le k_2` among the densities that occur in the graph matter: with :math:`g_a` the width of
    the a-th gap between these, :math:`P(k_1 \in a, k_2 \in b) = 2 g_a g_b` for a < b and :math:`g_a^2` for a = b.

    The rules are deterministic, so all uncertainty is epistemic. A graph that no density rule explains takes the
    prediction of :class:`RuleTable`.
    """

    name = "rule-posterior"
    sees_own_label = False

    def predict(
        self, episode: Episode, *, samples: int = SAMPLES, seed: int = 0, nodes: Tensor | None = None
    ) -> Prediction:
        _check_automaton(self.name, episode)
        if episode.num_classes != 2:
            raise UserError(f"'{self.name}' needs two classes (dead, alive), {episode.num_classes} were given.")
        alive, degree = _neighbours(episode)
        density = (alive.double() / degree.clamp(min=1)).cpu().numpy()
        state, known = episode.graph.x[:, 1].cpu().numpy(), (episode.context & (episode.y >= 0)).cpu().numpy()
        living, ptr = (episode.y == 1).cpu().numpy(), episode.graph.ptr.tolist()
        lives = np.empty(episode.num_nodes)
        for start, end in itertools.pairwise(ptr):
            for kind in (0, 1):
                cells = start + np.flatnonzero(state[start:end] == kind)
                lives[cells] = _posterior(density[cells], known[cells], living[cells])
            if np.isnan(lives[start:end]).any():  # no rule for one state is no rule at all
                lives[start:end] = np.nan
        mean = torch.from_numpy(lives).to(episode.graph.x)
        exact = Prediction(torch.stack([1 - mean, mean], dim=1), torch.zeros_like(mean))
        return exact.where(~mean.isnan(), Prediction.certain(_rule_table(episode))).at(nodes)


PREDICTORS: dict[str, Callable[[], Predictor]] = {
    "mode": Mode,
    "state-mode": StateMode,
    "rule-table": RuleTable,
    "rule-posterior": RulePosterior,
}


def _mode(episode: Episode) -> Tensor:
    """[N, C]; uniform where the context is empty, as then only the smoothing is left."""
    return _shares(episode, episode.batch)[0]


def _state_mode(episode: Episode) -> Tensor:
    state = torch.unique(episode.graph.x, dim=0, return_inverse=True)[1]
    shares, seen = _shares(episode, _pair(episode.batch, state))
    return torch.where(seen, shares, _mode(episode))


def _rule_table(episode: Episode) -> Tensor:
    alive, _ = _neighbours(episode)
    state = _pair(episode.batch, episode.graph.x[:, 1].long())
    shares, seen = _shares(episode, _pair(state, alive))
    return torch.where(seen, shares, _state_mode(episode))


def _shares(episode: Episode, group: Tensor) -> tuple[Tensor, Tensor]:
    """Smoothed label shares in the context of each node's ``group`` [N] → [N, C], and whether it has any [N, 1]."""
    shown = episode.shown()
    count = shown.new_zeros(int(group.max()) + 1, episode.num_classes).index_add(0, group, shown)
    total = count.sum(1, keepdim=True)
    shares = (count + SMOOTHING) / (total + episode.num_classes * SMOOTHING)
    return shares[group], total[group] > 0


def _pair(first: Tensor, second: Tensor) -> Tensor:
    """A number for each pair of numbers, without holes: there may be as many states as nodes, but no more pairs."""
    number: Tensor = torch.unique(first * (second.max() + 1) + second, return_inverse=True)[1]
    return number


def _neighbours(episode: Episode) -> tuple[Tensor, Tensor]:
    """Living neighbours and neighbours of every node, [N] each."""
    source, target = plain_edges(episode.graph.edge_index)
    living = episode.graph.x[:, 1].long()
    none = torch.zeros_like(living)
    return none.index_add(0, target, living[source]), none.index_add(0, target, torch.ones_like(target))


def _check_automaton(name: str, episode: Episode) -> None:
    x = episode.graph.x
    if x.size(1) != 2 or not (((x == 0) | (x == 1)).all() and (x.sum(1) == 1).all()):
        raise UserError(
            f"'{name}' needs a cellular automaton's two state features (dead, alive as a one-hot row), other features "
            f"({x.size(1)} per node) were given; use 'mode' or 'state-mode'."
        )


def _posterior(density: Floats, known: NDArray[np.bool_], alive: NDArray[np.bool_]) -> Floats:
    """Probability that each cell of one state lives, given the ``known`` ones; NaN if no rule explains these."""
    level, of = np.unique(density, return_inverse=True)
    gap = np.diff(level, prepend=0, append=1)
    weight = np.triu(2 * np.outer(gap, gap), 1) + np.diag(gap**2)
    # Entry [a, b]: levels a, …, b - 1 lie inside. A rule fits if all of one label lie inside and none of the other.
    living = np.concatenate([[0], np.bincount(of[known & alive], minlength=len(level)).cumsum()])
    dead = np.concatenate([[0], np.bincount(of[known & ~alive], minlength=len(level)).cumsum()])
    living_inside, dead_inside = (count[None, :] - count[:, None] for count in (living, dead))
    plain = weight * ((living_inside == living[-1]) & (dead_inside == 0))
    turned = weight * ((dead_inside == dead[-1]) & (living_inside == 0))
    total = plain.sum() + turned.sum()
    if total == 0:
        return np.full(len(density), np.nan)
    lives: Floats = (_inside(plain) + turned.sum() - _inside(turned)) / total
    return lives.clip(0, 1)[of]


def _inside(mass: Floats) -> Floats:
    """Mass of the rules whose interval holds level j: the sum over a ≤ j < b, for every j."""
    both: Floats = mass.cumsum(0)[:, ::-1].cumsum(1)[:, ::-1]
    return both.diagonal(1)
