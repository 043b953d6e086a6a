"""Which nodes to ask for next: query strategies with one contract."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.utils import add_self_loops, scatter

from ..defaults import SAMPLES
from ..episode import Episode
from ..errors import UserError, unknown_name
from ..prediction import Prediction, Predictor
from .auto import Auto
from .contract import Choice, Strategy, best, both_ways, by_graph
from .expected import Expected
from .rivals import Age, Coverage, FeatProp
from .seen import distances

EXACT = 2**31  # steps up to which ``typical`` tells equal nodes from nodes that are nearly so: seconds


def ask(
    strategy: str | Strategy,
    episode: Episode,
    prediction: Prediction,
    pool: Tensor | None = None,
    count: int = 1,
    *,
    seed: int = 0,
    noise: Tensor | None = None,
    predictor: Predictor | None = None,
    samples: int = SAMPLES,
) -> Choice:
    """The nodes of each graph whose label ``strategy``, one of :data:`STRATEGIES` or another, would ask for next.

    ``pool`` [N] bool: the nodes that may be asked, by default all but the context. Chance is drawn by ``seed``, the same
    for every graph, so that a graph is asked alike alone and in a batch; or given as ``noise`` [N]. ``predictor``: who has
    predicted, with so many ``samples``; strategies that look ahead ask it what it would predict next.
    """
    if count < 1:
        raise UserError(f"{count} nodes to ask for were given, at least 1 is expected.")
    allowed = ~episode.context if pool is None else pool & ~episode.context
    if noise is None:
        start = episode.graph.ptr[:-1][episode.batch]
        longest = int(episode.graph.ptr.diff().max())
        shared = torch.rand(longest, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        noise = shared[torch.arange(episode.num_nodes) - start]
    chooser = find_strategy(strategy) if isinstance(strategy, str) else strategy
    if predictor is not None and isinstance(chooser, Expected | Auto):
        chooser = chooser.asking(predictor, samples, seed)
    return chooser.choose(episode, prediction, allowed, min(count, episode.num_nodes), noise)


def find_strategy(name: str) -> Strategy:
    if name not in STRATEGIES:
        raise unknown_name("strategy", name, STRATEGIES)
    return STRATEGIES[name]


@dataclass(frozen=True)
class ByScore:
    """The nodes with the largest score, each judged for itself."""

    says: str
    score: Callable[[Prediction], Tensor]

    def choose(self, episode: Episode, prediction: Prediction, pool: Tensor, count: int, noise: Tensor) -> Choice:
        scores = self.score(prediction)
        nodes = best(scores, pool, episode.batch, count, noise)
        return Choice(nodes, scores[nodes])


def margin(prediction: Prediction) -> Tensor:
    """1 - (p₁ - p₂) of the two largest probabilities, [N]: 1 where two classes are equally likely."""
    two = prediction.probabilities.topk(min(2, prediction.probabilities.size(1))).values
    return 1 - two[:, 0] + (two[:, 1] if two.size(1) > 1 else 0)


def deviation(prediction: Prediction) -> Tensor:
    r"""The predicted standard deviation, [N], root mean square over classes.

    The paper asks for "the target with the greatest uncertainty", and its decoder gives every label a σ. With its
    Gaussian likelihood that is the deviation of the mixture over latent samples, :math:`\overline{σ_k^2} + Var_k[μ_k]` being its square.
    A categorical likelihood has no σ of its own, so that what remains is how far the class probabilities move from one
    latent sample to the next. Predictors without samples are left with the deviation of the label itself, p (1 - p).
    """
    if prediction.deviation is not None:
        return prediction.deviation
    p = prediction.probabilities
    return (p * (1 - p)).mean(-1).sqrt()


@dataclass(frozen=True)
class Spread:
    r"""The node that stands for the most uncertainty around it which no label covers yet; then the next, and so on.

    .. math::
        gain_i = \sum_j K_{ij} u_j (1 - c_j), \qquad K = R^2, \quad R = (I + D^{-1/2} A D^{-1/2}) / 2

    with :math:`u` the total uncertainty and :math:`c_j = \min(1, \sum_i K_{ij} / K_{ii})` over the labelled nodes i. A
    chosen node covers its surroundings, too, so that the next one lies elsewhere. An outlier of which the model knows
    nothing teaches it nothing of others; where it knows nothing at all, this asks for the best connected nodes.

    A choice costs two sparse products, O(edges); the direction of edges does not matter. Where no node is uncertain (one
    class alone is known), all count alike.
    """

    says: str = "uncertainty within two steps that no label covers yet, in nats"

    def choose(self, episode: Episode, prediction: Prediction, pool: Tensor, count: int, noise: Tensor) -> Choice:
        step, batch = _lazy_step(episode), episode.batch
        # diag(R²) of a symmetric R: the square sum of each row.
        itself = torch.zeros(episode.num_nodes).index_add_(0, step.indices()[0], step.values().square())

        def reach(mass: Tensor) -> Tensor:
            """K · mass, [N] → [N]."""
            return (step @ (step @ mass.unsqueeze(1))).squeeze(1)

        highest = torch.zeros(episode.num_graphs).scatter_reduce_(0, batch, prediction.total, "amax")
        open_to = torch.where(highest[batch] > 1e-6, prediction.total, torch.ones_like(prediction.total))
        open_to = open_to * (1 - reach(episode.context / itself)).clamp(min=0)
        pool, nodes, scores = pool.clone(), [], []
        for _ in range(count):
            gain = reach(open_to)
            chosen = best(gain, pool, batch, 1, noise)
            if not chosen.numel():
                break
            nodes.append(chosen)
            scores.append(gain[chosen])
            pool[chosen] = False
            source = torch.zeros_like(itself)
            source[chosen] = 1 / itself[chosen]
            open_to = open_to * (1 - reach(source)).clamp(min=0)
        return by_graph(nodes, scores, batch)


@dataclass(frozen=True)
class Typical:
    r"""The node that stands for the most uncertainty of nodes like it which no label covers yet; then the next, and so on.

    .. math::
        gain_i = \sum_j K_{ij} u_j (1 - c_j), \qquad K_{ij} = \exp(-|φ_i - φ_j|^2 / 2σ^2)

    with :math:`φ` a node's features and the mean of its neighbours', standardised within the graph, :math:`u` the total
    uncertainty and :math:`c_j` the largest :math:`K_{ij}` over the nodes i that are labelled or chosen. σ² is a fiftieth of the median squared
    distance. Where the label follows from what a node and its surroundings look like, wherever they are, this finds
    the common cases that are still open, while the most uncertain node is often a rare one.

    j runs over at most a thousand nodes drawn by ``noise``, so that a choice costs O(nodes). Where no node is uncertain
    (one class alone is known), all count alike.
    """

    says: str = "uncertainty of nodes like it that no label covers yet, in nats"
    most: int = 1000
    width: float = 0.02

    def choose(self, episode: Episode, prediction: Prediction, pool: Tensor, count: int, noise: Tensor) -> Choice:
        looks, ptr = _looks(episode), episode.graph.ptr.tolist()
        nodes, scores = [], []
        for start, end in itertools.pairwise(ptr):
            part = slice(start, end)
            if not bool(pool[part].any()):
                continue
            witness = noise[part].argsort()[: self.most]
            apart = distances(looks[part], looks[part][witness], EXACT).square()
            alike = (-apart / (2 * self.width * apart.median()).clamp(min=1e-9)).exp()
            unsure = prediction.total[part][witness]
            if float(prediction.total[part].max()) <= 1e-6:
                unsure = torch.ones_like(unsure)
            covered = _largest(alike[episode.context[part]])
            left, one = pool[part].clone(), torch.zeros(end - start, dtype=torch.long)
            for _ in range(min(count, int(left.sum()))):
                gain = alike @ (unsure * (1 - covered))
                chosen = best(gain, left, one, 1, noise[part])
                nodes.append(start + chosen)
                scores.append(gain[chosen])
                left[chosen] = False
                covered = torch.maximum(covered, alike[chosen[0]])
        return by_graph(nodes, scores, episode.batch)


def _looks(episode: Episode) -> Tensor:
    """Features and the mean of the neighbours' features, standardised within each graph, [N, 2 F]."""
    x, batch, graphs = episode.graph.x, episode.batch, episode.num_graphs
    source, target = both_ways(episode)
    both = torch.cat([x, scatter(x[source], target, 0, x.size(0), reduce="mean")], 1)
    both = both - scatter(both, batch, 0, graphs, reduce="mean")[batch]
    return both / scatter(both.square(), batch, 0, graphs, reduce="mean").sqrt().clamp(min=1e-6)[batch]


def _largest(rows: Tensor) -> Tensor:
    """The largest of each column, 0 where there are no rows, [R, M] → [M]."""
    return rows.amax(0) if rows.size(0) else rows.new_zeros(rows.size(1))


def _lazy_step(episode: Episode) -> Tensor:
    """R = (I + D^-1/2 A D^-1/2) / 2 of the edges without their direction, sparse [N, N]."""
    size, edges = episode.num_nodes, both_ways(episode)
    scale = torch.bincount(edges[1], minlength=size).clamp(min=1).rsqrt()
    values = torch.cat([scale[edges[0]] * scale[edges[1]], torch.ones(size)]) / 2
    edges, _ = add_self_loops(edges, num_nodes=size)
    return torch.sparse_coo_tensor(edges, values, (size, size), is_coalesced=False).coalesce()


STRATEGIES: dict[str, Strategy] = {
    "random": ByScore("nothing, drawn at random", lambda prediction: torch.zeros_like(prediction.aleatoric)),
    "entropy": ByScore("total uncertainty in nats", lambda prediction: prediction.total),
    "epistemic": ByScore("uncertainty that labels would lift, in nats", lambda prediction: prediction.epistemic),
    "margin": ByScore("closeness of the two likeliest classes, 1 for a tie", margin),
    "deviation": ByScore("predicted standard deviation", deviation),
    "spread": Spread(),
    "typical": Typical(),
    "age": Age(),
    "featprop": FeatProp(),
    "grain": Coverage(),
    "expected": Expected(),
}
REHEARSED = ("spread", "margin", "typical", "featprop", "random")  # the first unless another is better for sure
STRATEGIES["auto"] = Auto(rehearsed={name: STRATEGIES[name] for name in REHEARSED})
