"""``expected``: the node whose answer is expected to leave the fewest mistakes, by looking one answer ahead."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..defaults import SAMPLES
from ..episode import Episode
from ..errors import UserError, unknown_name
from ..experts.views import Views
from ..prediction import Prediction, Predictor, entropy
from ..progress import counted
from .contract import Choice, best, by_graph
from .labellings import answers, shown_labels
from .seen import views_of
from .surrogate import Surrogate

CANDIDATES = 96  # nodes of which the answers are looked at
FINALISTS = 32  # of them, where the model itself is asked again
JUDGED = 400  # nodes on which the risk is counted
ANSWERS = 3  # of a node, the likeliest
AFFORDABLE = 300_000  # nodes that a model may be asked about again for one question

Risk = Callable[[Tensor], Tensor]
RISKS: dict[str, Risk] = {
    "error": lambda p: 1 - p.amax(-1),
    "entropy": entropy,
    "brier": lambda p: 1 - p.square().sum(-1),
}


def risk_of(loss: str | Tensor) -> Risk:
    r"""What is lost on average with the best decision under probabilities [..., C] → [...]: a name, or a table of costs.

    ``loss`` [C, D]: what decision d costs where class c is true; the risk is :math:`\min_d \sum_c p_c L_{cd}`. A table of 0 on the
    diagonal and 1 elsewhere is 'error'.
    """
    if isinstance(loss, str):
        if loss not in RISKS:
            raise unknown_name("loss", loss, RISKS)
        return RISKS[loss]
    table = torch.as_tensor(loss, dtype=torch.float)
    if table.dim() != 2 or not bool(table.isfinite().all()):
        raise UserError(
            f"A loss of shape {list(table.shape)} was given, a table [classes, decisions] of finite costs is expected."
        )
    return lambda p: (p @ table).amin(-1)


@dataclass(frozen=True)
class Expected:
    r"""Looks ahead: what would be left to lose if node i were answered c, on average over what the answer may be.

    .. math::
        gain_i = \sum_j R(p_j) - \sum_c p(y_i = c) \sum_j R(p_j \mid y_i = c)

    ``loss``: the risk R, see :func:`risk_of`. Candidates are the nodes in the most doubt and others drawn by ``noise``, as many;
    j runs over a few hundred nodes drawn by ``noise``; of a node's answers the three likeliest count. Without a
    ``predictor`` the answers are looked at through a :class:`~mpnp.active.surrogate.Surrogate`, and the next node is chosen as
    if the last had been answered. With one, the model itself is asked again for the best of these candidates, all answers as one batch of graphs; the
    next node is then the one that lifts most risk which those before do not.
    """

    says: str = "expected mistakes that its label would prevent, in nodes; below 0, doubt would rise"
    loss: str | Tensor = "error"
    predictor: Predictor | None = None
    samples: int = SAMPLES
    seed: int = 0

    def asking(self, predictor: Predictor, samples: int = SAMPLES, seed: int = 0) -> Expected:
        """The same by asking ``predictor`` itself, where that is not the slower way by far."""
        if hasattr(predictor, "open"):  # it reads a graph slowly and answers it fast; a copy would be read anew
            return self
        return replace(self, predictor=predictor, samples=samples, seed=seed)

    def choose(self, episode: Episode, prediction: Prediction, pool: Tensor, count: int, noise: Tensor) -> Choice:
        risk, ptr = risk_of(self.loss), episode.graph.ptr.tolist()
        if isinstance(self.loss, Tensor) and self.loss.size(0) != episode.num_classes:
            raise UserError(
                f"A loss for {self.loss.size(0)} classes was given, but there are {episode.num_classes} classes."
            )
        nodes, scores = [], []
        for number, (views, (start, end)) in enumerate(zip(views_of(episode), itertools.pairwise(ptr), strict=True)):
            part = slice(start, end)
            if not bool(pool[part].any()):
                continue
            alone = episode if episode.num_graphs == 1 else episode.only(number)
            said = prediction.probabilities[part]
            chosen, gains = self._of_one(alone, views, said, risk, pool[part], count, noise[part])
            nodes.append(start + chosen)
            scores.append(gains)
        return by_graph(nodes, scores, episode.batch)

    def _of_one(
        self, episode: Episode, views: Views, said: Tensor, risk: Risk, pool: Tensor, count: int, noise: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Of one graph: the nodes chosen and what each is expected to gain."""
        chance = noise.argsort()
        most = max(CANDIDATES, 2 * count)
        asked = screened(said, pool, most, noise)
        judged = chance[~episode.context[chance]][:JUDGED]
        shown = chance[episode.context[chance]]
        scale = (said.size(0) - shown.numel()) / max(judged.numel(), 1)
        surrogate = Surrogate(views, shown, episode.y[shown], said, asked, judged)
        likely = said[asked].topk(min(ANSWERS, said.size(1))).indices
        if self.predictor is not None and affordable(said.size(0), said.size(1)):
            # Not the best 32 by themselves, which may all be alike, but each as if those before were answered.
            order, _ = _one_by_one(surrogate, likely, risk, max(FINALISTS, count), noise[asked])
            finalists, likely = asked[order], likely[order]
            gains = self._truly(episode, said, finalists, likely, judged, risk)
            chosen, worth = _covering(gains, count, noise[finalists])
            asked = finalists
        else:
            chosen, worth = _one_by_one(surrogate, likely, risk, count, noise[asked])
        if chosen.numel() < min(count, int(pool.sum())):  # more than were looked at: the rest as chance has it
            rest = pool.clone()
            rest[asked[chosen]] = False
            more = chance[rest[chance]][: count - chosen.numel()]
            last = worth[-1:].clamp(max=0).expand(more.numel())
            return torch.cat([asked[chosen], more]), scale * torch.cat([worth, last])
        return asked[chosen], scale * worth

    def _truly(
        self, episode: Episode, said: Tensor, asked: Tensor, likely: Tensor, judged: Tensor, risk: Risk
    ) -> Tensor:
        """What the model itself would gain at ``judged`` [J] by the answer at ``asked`` [c], [J, c]; ``likely`` [c, k]."""
        assert self.predictor is not None
        nodes, given = asked.repeat_interleave(likely.size(1)), likely.flatten()
        labellings = shown_labels(episode).repeat(nodes.numel(), 1)
        labellings[torch.arange(nodes.numel()), nodes] = given
        then = answers(self.predictor, episode, labellings, judged, samples=self.samples, seed=self.seed)
        after = risk(then).view(asked.numel(), likely.size(1), -1)  # [c, k, J]
        weight = said[asked].gather(1, likely)
        mean = torch.einsum("ck,ckj->jc", weight / weight.sum(1, keepdim=True).clamp(min=1e-9), after)
        return risk(said[judged]).unsqueeze(1) - mean


def affordable(nodes: int, classes: int) -> bool:
    """Whether a model can be asked again about a graph of so many nodes for every answer of every finalist."""
    return FINALISTS * min(ANSWERS, classes) * nodes <= AFFORDABLE


def screened(said: Tensor, pool: Tensor, most: int, noise: Tensor) -> Tensor:
    """At most so many nodes of a ``pool`` [N] worth looking at: half by doubt, half by chance; node numbers."""
    open_to = pool.nonzero().squeeze(1)
    if open_to.numel() <= most:
        return open_to
    one = torch.zeros(pool.numel(), dtype=torch.long)
    doubt = best(1 - said.amax(1), pool, one, most // 2, noise)
    rest = pool.clone()
    rest[doubt] = False
    return torch.cat([doubt, best(torch.zeros(pool.numel()), rest, one, most - doubt.numel(), noise)])


def _gains(surrogate: Surrogate, likely: Tensor, risk: Risk) -> Tensor:
    """What the risk at every judged node is expected to fall by, [J, c]."""
    total, weight = torch.zeros(surrogate.across.shape), torch.zeros(likely.size(0))
    for share, after in surrogate.after(likely):
        total += share * risk(after)
        weight += share
    return risk(surrogate.belief).unsqueeze(1) - total / weight.clamp(min=1e-9)


def _one_by_one(surrogate: Surrogate, likely: Tensor, risk: Risk, count: int, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Greedily, each candidate as if those before it were answered: places among the candidates, and their gains."""
    left, one = torch.ones(likely.size(0), dtype=torch.bool), torch.zeros(likely.size(0), dtype=torch.long)
    chosen: list[Tensor] = []
    worth: list[Tensor] = []
    steps = range(min(count, likely.size(0)))
    for _ in counted(steps, len(steps)):
        gain = _gains(surrogate, likely, risk).sum(0)
        place = best(gain, left, one, 1, noise)
        # An answer that the one before makes more telling is told to gain no more than that.
        worth.append(torch.minimum(gain[place], worth[-1]) if worth else gain[place])
        chosen.append(place)
        left[place] = False
        surrogate.settle(int(place))
    return torch.cat(chosen), torch.cat(worth)


def _covering(gains: Tensor, count: int, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Greedily, each candidate by the gains [J, c] that no other has brought; places among the candidates, and their gains."""
    first = best(
        gains.sum(0), torch.ones_like(noise, dtype=torch.bool), torch.zeros_like(noise, dtype=torch.long), 1, noise
    )
    chosen, worth = [first], [gains.sum(0)[first]]
    left = torch.ones_like(noise, dtype=torch.bool)
    left[first] = False
    brought = gains[:, first]
    for _ in range(min(count, noise.numel()) - 1):
        more = torch.maximum(gains, brought).sum(0) - brought.sum()
        place = best(more, left, torch.zeros_like(noise, dtype=torch.long), 1, noise)
        chosen.append(place)
        worth.append(torch.minimum(more[place], worth[-1]))
        left[place] = False
        brought = torch.maximum(brought, gains[:, place])
    return torch.cat(chosen), torch.cat(worth)
