"""A training step of ``mpnp`` and ``ampnp`` beside the same step written the usual ways.

``one graph at a time``: plain PyG layers in a loop over the graphs, as most published code does it.
``PyG batch``: the same layers once, on a block-diagonal batch with ``edge_index``.
``matrix products``: the dense products of the step alone, forward and backward: the limit.
"""

from __future__ import annotations

import itertools

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Normal, kl_divergence
from torch_geometric.nn import GraphConv

from mpnp.episode import Episode, Sampling, sample_episode
from mpnp.graphs import GraphSet, plain_edges
from mpnp.models.ampnp import AmpnpConfig, AttentiveMPNP
from mpnp.models.neural_process import NeuralProcess, NeuralProcessConfig
from mpnp.objectives import elbo, multi_sample

from .timing import race


class PlainMPNP(nn.Module):
    """The paper's MPNP (h=64, r=128, z=256, T=2) as one would write it first: concatenations and PyG layers."""

    def __init__(self, features: int, classes: int, h: int = 64, r: int = 128, z: int = 256) -> None:
        super().__init__()
        self.enter, self.encode = nn.Linear(features + classes, h), nn.ModuleList(GraphConv(h, h) for _ in range(2))
        self.to_r, self.hidden = nn.Linear(h, r), nn.Linear(r, r)
        self.mean, self.scale = nn.Linear(r, z), nn.Linear(r, z)
        self.enter_z, self.decode = nn.Linear(features + z, h), nn.ModuleList(GraphConv(h, h) for _ in range(2))
        self.last, self.head = nn.Linear(h, h), nn.Linear(h, classes)

    def latent(self, x: Tensor, edges: Tensor, shown: Tensor, batch: Tensor, graphs: int) -> Normal:
        h = self.enter(torch.cat([x, shown], 1)).relu()
        for layer in self.encode:
            h = layer(h, edges).relu()
        mask = shown.sum(1) > 0
        r = self.to_r(h)[mask]
        count = torch.bincount(batch[mask], minlength=graphs).clamp(min=1).unsqueeze(1)
        r = torch.zeros(graphs, r.size(1)).index_add(0, batch[mask], r) / count
        r = self.hidden(r).relu()
        return Normal(self.mean(r), 0.1 + 0.9 * self.scale(r).sigmoid())

    def loss(self, x: Tensor, edges: Tensor, episode: Episode, nodes: slice, batch: Tensor, graphs: int) -> Tensor:
        q_context = self.latent(x, edges, episode.shown()[nodes], batch, graphs)
        q_target = self.latent(x, edges, episode.shown(episode.target)[nodes], batch, graphs)
        h = self.enter_z(torch.cat([x, q_target.rsample()[batch]], 1)).relu()
        for layer in self.decode:
            h = layer(h, edges).relu()
        out = self.head(self.last(h).relu())
        target = episode.target[nodes]
        return (
            F.cross_entropy(out[target], episode.y[nodes][target], reduction="sum")
            + kl_divergence(q_target, q_context).sum()
        )


def bench(graphs: GraphSet, classes: int, batch: int = 64) -> dict[str, float]:
    """Milliseconds per training step (forward and backward) on a batch of graphs."""
    torch.manual_seed(0)
    sampling = Sampling((0.3, 0.5), (0.3, 0.5))
    episode = sample_episode(graphs.select(torch.arange(batch)), classes, sampling, torch.Generator().manual_seed(0))
    features = graphs.num_features
    plain = PlainMPNP(features, classes)
    ours = NeuralProcess(NeuralProcessConfig(features, classes, norm=False))
    flagship = AttentiveMPNP(AmpnpConfig(features, classes, local=False, refine=0))
    edges, ptr = plain_edges(episode.graph.edge_index), episode.graph.ptr.tolist()
    pieces = []
    for start, end in itertools.pairwise(ptr):
        inside = (edges[0] >= start) & (edges[0] < end)
        pieces.append((slice(start, end), edges[:, inside] - start))

    def backward(module: nn.Module, loss: Tensor) -> None:
        module.zero_grad()
        loss.backward()

    def one_at_a_time() -> None:
        total = torch.zeros(())
        for nodes, own in pieces:
            x = episode.graph.x[nodes]
            total = total + plain.loss(x, own, episode, nodes, torch.zeros(x.size(0), dtype=torch.long), 1)
        backward(plain, total)

    everything = slice(0, episode.num_nodes)
    products = [(features + classes, 64), *[(64, 64)] * 4, (64, 128)] * 2 + [
        (features, 64),
        *[(64, 64)] * 5,
        (64, classes),
    ]
    operands = [
        (torch.randn(episode.num_nodes, a), torch.randn(a, b), torch.randn(episode.num_nodes, b)) for a, b in products
    ]

    def matrix_products() -> None:
        for h, w, g in operands:
            h @ w
            h.T @ g
            g @ w.T

    return race(
        {
            "one graph at a time": one_at_a_time,
            "PyG batch": lambda: backward(
                plain, plain.loss(episode.graph.x, edges, episode, everything, episode.batch, episode.num_graphs)
            ),
            "mpnp": lambda: backward(ours, elbo(ours, episode).loss),
            "matrix products of mpnp": matrix_products,
            "ampnp": lambda: backward(flagship, multi_sample(flagship, episode, 4).loss),
        }
    )
