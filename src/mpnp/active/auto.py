"""``auto``: look ahead where that is affordable, else ask as a rehearsal on made-up labellings found best on this graph."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import torch
from torch import Tensor

from ..defaults import SAMPLES
from ..episode import Episode
from ..prediction import Prediction, Predictor
from .contract import Choice, Strategy, by_graph
from .expected import Expected, affordable
from .labellings import labelled_by, shown_labels
from .rivals import FeatProp
from .sampling import sample_episode

COVER = 3  # labels per class up to which nodes are covered before anything is believed of them
DRAWS = 2  # made-up labellings of a rehearsal
STEPS = 3  # questions in it
BLOCKS = 6  # in which a labelling is drawn
MOST_NODES = 20_000  # of a graph that is rehearsed


class _Rehearsed(NamedTuple):
    x: Tensor
    edges: Tensor
    start: int
    labels: int
    name: str


_RECENT: deque[_Rehearsed] = deque(maxlen=64)


@dataclass(frozen=True)
class Auto:
    """One strategy for everybody: ``expected``, or where a model cannot be asked again so often, the best of ``rehearsed``.

    ``universal`` and predictors that are not given look ahead through the stand-in of ``expected``, at any size of graph; with fewer
    than three labels per class what they believe is no guide yet, and only nodes that :class:`FeatProp` finds to stand for those
    unlike all labelled ones are looked at. Any other model is
    asked itself on graphs of a few thousand nodes; on larger ones it first rehearses, with labels drawn jointly from its own
    belief, and once more whenever the labels have doubled.
    """

    says: str = "expected mistakes that its label would prevent, in nodes; below 0, doubt would rise"
    expected: Expected = field(default_factory=Expected)
    rehearsed: Mapping[str, Strategy] = field(default_factory=dict)
    predictor: Predictor | None = None
    samples: int = SAMPLES
    seed: int = 0

    def asking(self, predictor: Predictor, samples: int = SAMPLES, seed: int = 0) -> Auto:
        ahead = self.expected.asking(predictor, samples, seed)
        return replace(self, expected=ahead, predictor=predictor, samples=samples, seed=seed)

    def choose(self, episode: Episode, prediction: Prediction, pool: Tensor, count: int, noise: Tensor) -> Choice:
        if self.expected.predictor is None:
            pool = _covering(episode, prediction, pool, count, noise)
            return self.expected.choose(episode, prediction, pool, count, noise)
        if all(affordable(nodes, episode.num_classes) for nodes in episode.graph.ptr.diff().tolist()):
            return self.expected.choose(episode, prediction, pool, count, noise)
        nodes, scores = [], []
        for number, (start, end) in enumerate(itertools.pairwise(episode.graph.ptr.tolist())):
            part = slice(start, end)
            alone = episode if episode.num_graphs == 1 else episode.only(number)
            said = prediction if episode.num_graphs == 1 else prediction.at(torch.arange(start, end))
            strategy = self._for(alone, pool[part], noise[part], episode.graph.x, episode.graph.edge_index, start)
            chosen = strategy.choose(alone, said, pool[part], count, noise[part])
            nodes.append(start + chosen.nodes)
            scores.append(chosen.scores)
        return by_graph(nodes, scores, episode.batch)

    def _for(self, episode: Episode, pool: Tensor, noise: Tensor, x: Tensor, edges: Tensor, start: int) -> Strategy:
        """The strategy for one graph; what was rehearsed on it before counts until its labels have doubled."""
        if affordable(episode.num_nodes, episode.num_classes) or episode.num_nodes > MOST_NODES:
            return self.expected
        assert self.predictor is not None
        labels = int(episode.context.sum())
        for seen in tuple(_RECENT):
            if seen.x is x and seen.edges is edges and seen.start == start and seen.labels <= labels < 2 * seen.labels:
                return self.rehearsed[seen.name]
        worth = rehearse(
            self.predictor, episode, self.rehearsed, pool=pool, noise=noise, samples=self.samples, seed=self.seed
        )
        name = max(worth, key=worth.__getitem__)
        _RECENT.append(_Rehearsed(x, edges, start, max(labels, 1), name))
        return self.rehearsed[name]


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
    strategies: Mapping[str, Strategy],
    *,
    pool: Tensor,
    noise: Tensor,
    draws: int = DRAWS,
    steps: int = STEPS,
    samples: int = SAMPLES,
    seed: int = 0,
) -> dict[str, float]:
    """What each strategy would be worth on one graph if labels were as ``predictor`` believes: mean accuracy over the steps.

    Labels are drawn jointly, see :mod:`mpnp.active.sampling`. A step asks for half as many labels as there are.
    """
    made_up = sample_episode(predictor, episode, draws, blocks=BLOCKS, samples=samples, seed=seed).labels
    count = max(1, int(episode.context.sum()) // 2)
    hidden = ~episode.context
    worth = dict.fromkeys(strategies, 0.0)
    for truth in made_up:
        for name, strategy in strategies.items():
            y = shown_labels(episode)
            for _ in range(steps):
                now = labelled_by(episode, y)
                said = predictor.predict(now, samples=samples, seed=seed)
                chosen = strategy.choose(now, said, pool & ~now.context, count, noise).nodes
                y = y.clone()
                y[chosen] = truth[chosen]
                after = predictor.predict(labelled_by(episode, y), samples=samples, seed=seed).label
                right = torch.where(y >= 0, y, after) == truth
                worth[name] += float(right[hidden].float().mean()) / (steps * draws) if bool(hidden.any()) else 0.0
    return worth
