"""``auto``: ask as a rehearsal on made-up answers found best on this graph; ``universal`` looks ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import torch
from torch import Tensor

from ..defaults import SAMPLES
from ..episode import Episode
from ..prediction import Prediction, Predictor
from .contract import Choice, Strategy, by_graph
from .curves import Gain
from .expected import Expected, risk_of
from .labellings import answers, shown_labels
from .rivals import FeatProp

COVER = 3  # labels per class up to which nodes are covered before anything is believed of them
DRAWS = (3, 8)  # made-up answers to the same questions, at least and at most:
NODES = 30_000  # as many as the predictor can be asked about so many nodes for
LEAST = 4  # questions of a rehearsal
MOST_NODES = 3_000  # of a graph that is rehearsed on, which takes seconds; larger ones are asked by the first strategy


class _Taken(NamedTuple):
    """What to ask by from so many labels on, and from how many on no longer."""

    name: str
    labels: int
    until: int


class _Known(NamedTuple):
    """By number of graph, what was rehearsed on the graphs of an episode."""

    x: Tensor
    edges: Tensor
    predictor: Predictor
    taken: dict[int, _Taken]


_RECENT: deque[_Known] = deque(maxlen=2)


@dataclass(frozen=True)
class Auto:
    """One strategy for everybody: of those ``rehearsed``, on every graph the one that would leave its model the fewest mistakes.

    See :func:`rehearse`. A rehearsal asks for as many labels as there are, and its winner is followed until they are there; then
    another is held. So what a graph is like, whether labels follow from where nodes are or from what they look like, and what the model makes
    of them is found out by the model itself. Graphs too large to rehearse on are asked by the first of those ``rehearsed``.

    ``universal`` and predictors that are not given look ahead through the stand-in of ``expected``, at any size of graph; with fewer
    than three labels per class what they believe is no guide yet, and only nodes that :class:`FeatProp` finds to stand for those
    unlike all labelled ones are looked at.
    """

    says: str = "by what was rehearsed; where it looks ahead, expected mistakes that its label would prevent, in nodes"
    expected: Expected = field(default_factory=Expected)
    rehearsed: Mapping[str, Strategy] = field(default_factory=dict)
    predictor: Predictor | None = None
    samples: int = SAMPLES
    seed: int = 0

    def asking(self, predictor: Predictor, samples: int = SAMPLES, seed: int = 0) -> Auto:
        if hasattr(predictor, "open"):  # it reads a graph slowly and answers it fast; a copy would be read anew
            return self
        return replace(self, predictor=predictor, samples=samples, seed=seed)

    def choose(self, episode: Episode, prediction: Prediction, pool: Tensor, count: int, noise: Tensor) -> Choice:
        if self.predictor is None:
            pool = _covering(episode, prediction, pool, count, noise)
            return self.expected.choose(episode, prediction, pool, count, noise)
        names = self._names(episode, prediction, pool, count, noise)
        nodes, scores = [], []
        for name in dict.fromkeys(names):
            here = torch.tensor([one == name for one in names])[episode.batch]
            chosen = self.rehearsed[name].choose(episode, prediction, pool & here, count, noise)
            nodes.append(chosen.nodes)
            scores.append(chosen.scores.float())
        return by_graph(nodes, scores, episode.batch)

    def _names(self, episode: Episode, prediction: Prediction, pool: Tensor, count: int, noise: Tensor) -> list[str]:
        """By what to ask on every graph: what was rehearsed there before, as long as that holds, or is now."""
        assert self.predictor is not None
        labels = torch.bincount(episode.batch[episode.context], minlength=episode.num_graphs).tolist()
        sizes = episode.graph.ptr.diff().tolist()
        taken = self._taken(episode)
        old = [number in taken and taken[number].labels <= n < taken[number].until for number, n in enumerate(labels)]
        due = torch.tensor([size <= MOST_NODES and not one for size, one in zip(sizes, old, strict=True)])
        if bool((due[episode.batch] & pool).any()):
            more = [max(count, LEAST, n) for n in labels]
            worth = rehearse(
                self.predictor,
                episode,
                prediction,
                self.rehearsed,
                more,
                pool=pool & due[episode.batch],
                noise=noise,
                loss=self.expected.loss,
                samples=self.samples,
                seed=self.seed,
            )
            for number in due.nonzero().flatten().tolist():
                name = better({name: draws[number] for name, draws in worth.items()})
                taken[number] = _Taken(name, labels[number], labels[number] + more[number])
        first = next(iter(self.rehearsed))  # where nothing is left to ask, or too much to rehearse
        return [taken[number].name if number in taken else first for number in range(len(sizes))]

    def _taken(self, episode: Episode) -> dict[int, _Taken]:
        x, edges = episode.graph.x, episode.graph.edge_index
        for known in tuple(_RECENT):
            if known.x is x and known.edges is edges and known.predictor is self.predictor:
                return known.taken
        assert self.predictor is not None
        _RECENT.append(_Known(x, edges, self.predictor, {}))
        return _RECENT[-1].taken


def _covering(episode: Episode, prediction: Prediction, pool: Tensor, count: int, noise: Tensor) -> Tensor:
    """The ``pool`` [N] of nodes to look at: in a graph of few labels those alone that stand for what no label covers."""
    labels = torch.zeros(episode.num_graphs).index_add_(0, episode.batch, episode.context.float())
    few = (labels < COVER * episode.num_classes)[episode.batch]
    if not bool((few & pool).any()):
        return pool
    standing = torch.zeros_like(pool)
    standing[FeatProp().choose(episode, prediction, pool & few, count, noise).nodes] = True
    return pool & (standing | ~few)


def rehearse(
    predictor: Predictor,
    episode: Episode,
    prediction: Prediction,
    strategies: Mapping[str, Strategy],
    counts: Sequence[int],
    *,
    pool: Tensor,
    noise: Tensor,
    loss: str | Tensor = "error",
    draws: int | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
) -> dict[str, list[Tensor]]:
    """What each strategy would be worth on every graph if labels were as ``predictor`` believes: minus what is then left to lose, by draw.

    Every strategy asks for ``counts`` nodes of the graphs, all at once, and is answered ``draws`` times with labels drawn from the
    ``prediction``, the same for all strategies. The predictor is then asked again, and what it expects to lose is averaged
    over all nodes: with the loss 'error' minus the share of mistakes. A graph without a node in the ``pool`` is worth 0 to all.
    """
    risk, ptr = risk_of(loss), episode.graph.ptr.tolist()
    longest = max(counts)
    asked = {name: one.choose(episode, prediction, pool, longest, noise).nodes for name, one in strategies.items()}
    worth = {name: [torch.zeros(1)] * episode.num_graphs for name in strategies}
    for number, count in enumerate(counts):
        start, end = ptr[number], ptr[number + 1]
        if not bool(pool[start:end].any()):
            continue
        alone = episode if episode.num_graphs == 1 else episode.only(number)
        enough = min(max(NODES // (len(strategies) * (end - start)), DRAWS[0]), DRAWS[1])
        times = enough if draws is None else draws
        # Chance begins anew with every graph, so that it is asked alike alone and in a batch.
        chance, said = torch.Generator().manual_seed(seed), prediction.probabilities[start:end]
        made_up = torch.multinomial(said, times, replacement=True, generator=chance).t()  # [D, nodes]
        y = shown_labels(alone).repeat(len(strategies), times, 1)
        for row, nodes in zip(y, asked.values(), strict=True):
            here = nodes[(nodes >= start) & (nodes < end)][:count] - start
            row[:, here] = made_up[:, here]
        then = answers(predictor, alone, y.flatten(0, 1), samples=samples, seed=seed)
        left = risk(then).view(y.shape).masked_fill(y >= 0, 0).mean(2)
        for name, values in zip(strategies, left, strict=True):
            worth[name][number] = -values
    return worth


def better(worth: Mapping[str, Tensor]) -> str:
    """The first strategy, unless draws [D] tell another better with 95 % confidence: then the best of these."""
    first = next(iter(worth))
    gains = {name: Gain.of(values - worth[first]) for name, values in worth.items()}
    sure = [name for name, gain in gains.items() if gain.low > 0]
    return max(sure, key=lambda name: gains[name].mean, default=first)
