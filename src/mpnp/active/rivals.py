"""Query strategies published for graph networks, as rivals: AGE, FeatProp and coverage as in GRAIN."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ..episode import Episode
from ..experts.views import Views
from ..prediction import Prediction
from .contract import Choice, best, by_graph
from .seen import distances, looks, views_of

WITNESSES = 1000  # nodes drawn by noise on which coverage is measured
MOST_APART = 2**27  # distances of all nodes to them at once: of a graph of a million nodes there are fewer
FEWEST = 64
AGAIN = 256  # nodes looked at again at a time
ROUNDS = 10  # of k-means
DAMPING = 0.85


@dataclass(frozen=True)
class Age:
    r"""AGE (Cai, Zheng and Chang, 2017): doubt, density and centrality, each as a percentile within the graph.

    .. math::
        s_i = \tfrac{1 - γ}{2} P_{entropy}(i) + \tfrac{1 - γ}{2} P_{density}(i) + γ P_{centrality}(i), \qquad
        γ = 1 / (2.005 - 0.995^{labels})

    Density is 1 / (1 + distance to the nearest of C centres, by k-means), centrality PageRank. γ is the mean of the distribution from
    which AGE draws it: first centrality counts, with more labels doubt and density do. AGE clusters what its network has
    learned; here it clusters features smoothed over two steps.
    """

    says: str = "percentiles of doubt, density and centrality, weighed"

    def choose(self, episode: Episode, prediction: Prediction, pool: Tensor, count: int, noise: Tensor) -> Choice:
        scores = torch.zeros(episode.num_nodes, dtype=torch.double)
        ptr = episode.graph.ptr.tolist()
        for views, (start, end) in zip(views_of(episode), itertools.pairwise(ptr), strict=True):
            part = slice(start, end)
            centrality = 1 / (2.005 - 0.995 ** int(episode.context[part].sum()))
            density = 1 / (1 + _to_centre(looks(views), episode.num_classes, noise[part]))
            other = _percentile(prediction.total[part]) + _percentile(density)
            scores[part] = (1 - centrality) / 2 * other + centrality * _percentile(_pagerank(views))
        nodes = best(scores, pool, episode.batch, count, noise)
        return Choice(nodes, scores[nodes].float())


def _percentile(values: Tensor) -> Tensor:
    """The share of nodes with a smaller value, [N]; differences by rounding do not count."""
    rounded = values.double().mul(1e6).round()
    return torch.searchsorted(rounded.sort().values, rounded) / max(values.numel(), 1)


def _pagerank(views: Views, steps: int = 30) -> Tensor:
    """Times the number of nodes, [N]."""
    walks = views.walks
    rank = torch.ones(views.nodes, 1)
    shared = walks.strength.clamp(min=1e-30).unsqueeze(1)
    for _ in range(steps):
        rank = 1 - DAMPING + DAMPING * walks.sum(rank / shared)
    return rank.squeeze(1)


def _to_centre(places: Tensor, clusters: int, noise: Tensor) -> Tensor:
    """The distance to the nearest centre of k-means, [N], begun with places far from one another."""
    centres = places[noise.argmin()].unsqueeze(0)
    for _ in range(min(clusters, places.size(0)) - 1):
        centres = torch.cat([centres, places[distances(places, centres).amin(1).argmax()].unsqueeze(0)])
    for _ in range(ROUNDS):
        nearest = distances(places, centres).argmin(1)
        sums = torch.zeros_like(centres).index_add_(0, nearest, places)
        sizes = torch.bincount(nearest, minlength=centres.size(0)).unsqueeze(1)
        centres = torch.where(sizes > 0, sums / sizes.clamp(min=1), centres)
    return distances(places, centres).amin(1)


def _witnesses(noise: Tensor) -> Tensor:
    """Node numbers, [W]."""
    return noise.argsort()[: max(FEWEST, min(WITNESSES, MOST_APART // max(noise.numel(), 1)))]


@dataclass(frozen=True)
class FeatProp:
    r"""FeatProp (Wu et al., 2019): medoids of the features smoothed over two steps.

    The next node is the one that brings all nodes closest to a labelled one, :math:`\min_i \sum_j \min(d_{ij}, d_j)`, which is
    k-medoids done greedily, given the labels there are. It reads no prediction. j runs over a thousand nodes drawn by ``noise``.
    """

    says: str = "how much closer all nodes come to a labelled one in smoothed features"

    def choose(self, episode: Episode, prediction: Prediction, pool: Tensor, count: int, noise: Tensor) -> Choice:
        nodes, scores = [], []
        ptr = episode.graph.ptr.tolist()
        for views, (start, end) in zip(views_of(episode), itertools.pairwise(ptr), strict=True):
            part = slice(start, end)
            if not bool(pool[part].any()):
                continue
            places = looks(views)
            apart = distances(places, places[_witnesses(noise[part])])  # [N, W]
            shown = apart[episode.context[part]]
            reached = shown.amin(0) if shown.size(0) else apart.amax().expand(apart.size(1)).clone()
            for chosen, gain in _medoids(apart, reached, pool[part], count, noise[part]):
                nodes.append(start + chosen)
                scores.append(gain)
        return by_graph(nodes, scores, episode.batch)


def _medoids(
    apart: Tensor, reached: Tensor, pool: Tensor, count: int, noise: Tensor
) -> Iterator[tuple[Tensor, Tensor]]:
    """Greedily the nodes of ``pool`` [N] that bring witnesses, ``apart`` [N, W], closest, and by how much, [1] each.

    What a node brings falls with every one chosen before it, so that only nodes that were worth the most need be looked at again.
    """
    gain = (reached - apart).clamp(min=0).mean(1).masked_fill(~pool, -1)
    one, most = torch.zeros(pool.numel(), dtype=torch.long), min(AGAIN, pool.numel())
    for _ in range(min(count, int(pool.sum()))):
        true = torch.zeros_like(pool)
        while (old := (top := gain.topk(most).indices)[~true[top]]).numel():
            gain[old] = torch.where(gain[old] < 0, gain[old], (reached - apart[old]).clamp(min=0).mean(1))
            true[old] = True
        chosen = best(gain, true & (gain >= 0), one, 1, noise)
        yield chosen, gain[chosen]
        reached = torch.minimum(reached, apart[chosen[0]])
        gain[chosen] = -1


@dataclass(frozen=True)
class Coverage:
    r"""Coverage as in GRAIN (Zhang et al., 2021): how many nodes the labelled ones influence, and how much of the space of
    smoothed features lies near one of them.

    .. math::
        F(S) = |\{j : \max_{i \in S} I_{ij} > θ\}| / N + |\{j : \min_{i \in S} d_{ij} < r\}| / N, \qquad I = \hat A^2

    greedily, given the labels there are. θ is the median of the largest influence on a node by another one, r the tenth percentile
    of distances. GRAIN counts balls around influenced nodes; here they are around labelled ones. It reads no prediction. j runs over a thousand
    nodes drawn by ``noise``.
    """

    says: str = "share of nodes newly influenced, plus share of features newly near"

    def choose(self, episode: Episode, prediction: Prediction, pool: Tensor, count: int, noise: Tensor) -> Choice:
        nodes, scores = [], []
        ptr = episode.graph.ptr.tolist()
        for views, (start, end) in zip(views_of(episode), itertools.pairwise(ptr), strict=True):
            part = slice(start, end)
            if not bool(pool[part].any()):
                continue
            witness = _witnesses(noise[part])
            covers = torch.cat([self._influences(views, witness), self._near(views, witness)], 1)  # [N, 2 W]
            open_to = ~covers[episode.context[part]].any(0)
            left, one = pool[part].clone(), torch.zeros(end - start, dtype=torch.long)
            for _ in range(min(count, int(left.sum()))):
                gain = covers.float() @ open_to.float() / max(witness.numel(), 1)
                chosen = best(gain, left, one, 1, noise[part])
                nodes.append(start + chosen)
                scores.append(gain[chosen])
                left[chosen] = False
                open_to = open_to & ~covers[chosen[0]]
        return by_graph(nodes, scores, episode.batch)

    def _influences(self, views: Views, witness: Tensor) -> Tensor:
        units = torch.zeros(views.nodes, witness.numel())
        units[witness, torch.arange(witness.numel())] = 1
        influence = views.walks.normalised(views.walks.normalised(units))
        others = influence.masked_fill(units.bool(), 0).amax(0)
        return (influence > 0.999 * others.median()) & (influence > 0)

    def _near(self, views: Views, witness: Tensor) -> Tensor:
        places = looks(views)
        apart = distances(places, places[witness])
        return apart <= apart[witness].quantile(0.1)
