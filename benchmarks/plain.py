"""``mpnp`` and ``ampnp`` as one would write them first: PyG layers, concatenations, one node and class like the other.

They share the parameters of the model they are made from and compute the same loss, so that tests can compare every
number and gradient, and benchmarks compare nothing but the way.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Normal, kl_divergence
from torch_geometric.nn import APPNP, GraphConv, SAGEConv, SimpleConv, global_max_pool, global_mean_pool
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import degree, to_dense_batch

from mpnp.episode import Episode
from mpnp.graphs import plain_edges
from mpnp.models.ampnp import AttentiveMPNP, Block
from mpnp.models.neural_process import NeuralProcess
from mpnp.nn.backbones import WITH_RELU, MessagePassing, Stack
from mpnp.nn.regression import KEEP


@dataclass
class Piece:
    """What a plain model is given: tensors, of one graph or of many."""

    x: Tensor
    edge_index: Tensor
    shown: Tensor
    shown_targets: Tensor
    y: Tensor
    scored: Tensor
    batch: Tensor
    graphs: int


def whole(episode: Episode, scored: Tensor) -> Piece:
    """An episode as a PyG batch; ``scored`` [N] bool: where the loss is taken."""
    return Piece(
        episode.graph.x,
        plain_edges(episode.graph.edge_index).clone(),
        episode.shown(),
        episode.shown(episode.target),
        episode.y,
        scored,
        episode.batch,
        episode.num_graphs,
    )


def pieces(episode: Episode, scored: Tensor) -> list[Piece]:
    """The graphs of an episode one by one."""
    everything, ptr = whole(episode, scored), episode.graph.ptr.tolist()
    parts = []
    for start, end in itertools.pairwise(ptr):
        nodes = slice(start, end)
        edges = everything.edge_index
        own = edges[:, (edges[0] >= start) & (edges[0] < end)] - start
        parts.append(
            Piece(
                everything.x[nodes],
                own,
                everything.shown[nodes],
                everything.shown_targets[nodes],
                everything.y[nodes],
                scored[nodes],
                torch.zeros(end - start, dtype=torch.long),
                1,
            )
        )
    return parts


def joined(*layers: nn.Module) -> tuple[Tensor, Tensor | None]:
    """The weight and bias of one linear layer on the concatenated inputs of ``layers``."""
    weight = torch.cat([layer.weight for layer in layers], 1)  # type: ignore[misc]
    biases = [layer.bias for layer in layers if layer.bias is not None]
    return weight, biases[0] if biases else None  # type: ignore[return-value]


class PlainMPNP:
    """The paper's MPNP: labels and z concatenated to every node, the encoder run once for context and once for targets."""

    def __init__(self, model: NeuralProcess) -> None:
        self.model = model
        self.encoder, self.decoder = self._convolutions(model.encoder), self._convolutions(model.decoder)

    @staticmethod
    def _convolutions(stack: Stack) -> list[GraphConv]:
        made = []
        for layer in stack.layers:
            if isinstance(layer, MessagePassing):
                conv = GraphConv(layer.message.in_features, layer.message.out_features, aggr="add")
                conv.lin_root.weight, conv.lin_rel.weight = layer.skip.weight, layer.message.weight
                conv.lin_rel.bias = layer.skip.bias
                made.append(conv)
        return made

    def _run(self, stack: Stack, convolutions: Sequence[GraphConv], h: Tensor, edges: Tensor) -> Tensor:
        queue = list(convolutions)
        for i, layer in enumerate(stack.layers):
            if isinstance(layer, MessagePassing):
                h = queue.pop(0)(h, edges)
            elif str(i) in stack.joiners:
                h = F.linear(h, *joined(layer, stack.joiners[str(i)]))
            else:
                h = layer(h)
            if stack.words[i].kind in WITH_RELU:
                h = h.relu()
        return h

    def latent(self, piece: Piece, shown: Tensor) -> Normal:
        r = self._run(self.model.encoder, self.encoder, torch.cat([piece.x, shown], 1), piece.edge_index)
        r = self.model.aggregator.project(r)  # type: ignore[misc]
        rows = shown.sum(1) > 0
        return self.model.latent_head(global_mean_pool(r[rows], piece.batch[rows], piece.graphs))

    def loss(self, piece: Piece, noise: Tensor) -> Tensor:
        """The negative ELBO, summed over nodes and graphs; ``noise`` [B, z]."""
        context, target = self.latent(piece, piece.shown), self.latent(piece, piece.shown_targets)
        z = target.loc + target.scale * noise
        h = torch.cat([piece.x, z[piece.batch]], 1)
        out = self.model.head(self._run(self.model.decoder, self.decoder, h, piece.edge_index))[piece.scored]
        return -self.model.likelihood.log_prob(out, piece.y[piece.scored]).sum() + kl_divergence(target, context).sum()


class PlainAmpnp:
    """``ampnp`` with all evidence concatenated for every node and class, and again with every sample of z."""

    def __init__(self, model: AttentiveMPNP) -> None:
        self.model, self.config = model, model.config
        self.convolutions = [self._convolution(block) for block in model.blocks]  # type: ignore[arg-type]
        self.spread = SimpleConv(aggr="sum")

    @staticmethod
    def _convolution(block: Block) -> SAGEConv:
        assert block.around is not None
        conv = SAGEConv(block.around.in_features, block.around.out_features)
        conv.lin_l.weight, conv.lin_l.bias, conv.lin_r.weight = block.around.weight, block.own.bias, block.own.weight
        return conv

    def represent(self, piece: Piece) -> Tensor:
        model = self.model
        number = degree(piece.edge_index[1], piece.x.size(0)).log1p().unsqueeze(1)
        u = model.enter(torch.cat([model.seen(piece.x), number], 1)).relu()
        for block, conv in zip(model.blocks, self.convolutions, strict=True):
            v = block.norm(u)  # type: ignore[operator]
            h = conv(v, piece.edge_index)
            if self.config.whole:
                pools = [pool(v, piece.batch) for pool in (global_mean_pool, global_max_pool)]
                h = h + block.whole(torch.cat(pools, -1)[piece.batch])  # type: ignore[operator]
            u = u + block.out(h.relu())  # type: ignore[operator]
        return model.norm(u)

    def class_means(self, values: Tensor, piece: Piece) -> tuple[Tensor, Tensor]:
        """Mean of the context nodes of each class, [B, C, h], and how many there are, [B, C]."""
        means, counts = [], []
        for c in range(piece.shown.size(1)):
            rows = piece.shown[:, c] > 0
            means.append(global_mean_pool(values[rows], piece.batch[rows], piece.graphs))
            counts.append(degree(piece.batch[rows], piece.graphs))
        return torch.stack(means, 1), torch.stack(counts, 1)

    def votes(self, u: Tensor, piece: Piece) -> Tensor:
        """Attention over the context, padded to the largest graph: [N, C, heads (1 + values + places)]."""
        attend = self.model.attend
        rows = piece.shown.sum(1) > 0
        query, real = to_dense_batch(attend.to_query(u), piece.batch, batch_size=piece.graphs)
        key, held = to_dense_batch(attend.to_key(u[rows]), piece.batch[rows], batch_size=piece.graphs)
        value, _ = to_dense_batch(attend.to_value(u[rows]), piece.batch[rows], batch_size=piece.graphs)
        label, _ = to_dense_batch(piece.shown[rows], piece.batch[rows], batch_size=piece.graphs)
        b, t, s = query.size(0), query.size(1), key.size(1)
        query = query.view(b, t, attend.heads, -1).transpose(1, 2)
        key = key.view(b, s, attend.heads, -1).transpose(1, 2)
        value = value.view(b, s, attend.heads, -1).transpose(1, 2)
        value = torch.cat([torch.ones(b, attend.heads, s, 1), value], -1)
        scale = attend.log_scale.exp().view(1, -1, 1, 1) / math.sqrt(attend.head_width)
        score = (scale * (query @ key.mT)).masked_fill(~held.view(b, 1, 1, s), -torch.inf)
        here = None
        if self.config.nearby:
            reach = attend.log_nearness.exp().unsqueeze(1)
            here = to_dense_batch(piece.x, piece.batch, batch_size=piece.graphs)[0].unsqueeze(1) * reach
            there = to_dense_batch(piece.x[rows], piece.batch[rows], batch_size=piece.graphs)[0].unsqueeze(1) * reach
            far = here.square().sum(-1, keepdim=True) + there.square().sum(-1).unsqueeze(-2) - 2 * here @ there.mT
            score, value = score - far, torch.cat([value, there], -1)
        empty = attend.empty.view(1, -1, 1, 1).expand(b, -1, t, 1)
        weight = torch.cat([score, empty], -1).softmax(-1)[..., :-1]
        seen = []
        for c in range(label.size(2)):
            told = (weight * label[..., c].view(b, 1, 1, s)) @ value
            if here is not None:
                others, place = told.split([told.size(-1) - here.size(-1), here.size(-1)], -1)
                told = torch.cat([others, place - told[..., :1] * here], -1)
            seen.append(told)
        return torch.stack(seen, 3).permute(0, 2, 3, 1, 4).flatten(3)[real]

    def regressed(self, u: Tensor, piece: Piece) -> tuple[Tensor, Tensor]:
        """A ridge regression of every graph's labels on its representations, [N, C, R], and its doubt, [N, R]."""
        phi, known = self.model.regress.directions(u, None), piece.shown.sum(1) > 0
        phi = APPNP(self.config.smoothing, 1 - KEEP)(phi, piece.edge_index)
        evidence, doubt = [], []
        for ridge in self.model.regress.log_ridge.exp():
            said, left = [], []
            for graph in range(piece.graphs):
                here, context = piece.batch == graph, known & (piece.batch == graph)
                a = phi[context].T @ phi[context] + ridge * torch.eye(phi.size(1))
                told = piece.shown[context]
                if told.size(0):
                    told = told - told.mean(0)
                said.append(phi[here] @ torch.linalg.solve(a, phi[context].T @ told))
                left.append(ridge * (phi[here] * torch.linalg.solve(a, phi[here].T).T).sum(1))
            evidence.append(torch.cat(said))
            doubt.append(torch.cat(left))
        return torch.stack(evidence, -1), torch.stack(doubt, -1)

    def diffused(self, piece: Piece, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Context labels after some steps along the edges, [N, C, R], and how much has arrived, [N, R]."""
        shown, keep = piece.shown, 0.95
        context = shown.sum(1, keepdim=True) > 0
        flow, shares, masses = shown, [], []
        for step in range(1, max(self.config.reaches) + 1):
            arrived = self.spread(flow, piece.edge_index, weight)
            flow = torch.where(context, shown, keep * arrived + (1 - keep) * shown)
            if step in self.config.reaches:
                mass = flow.sum(1, keepdim=True)
                shares.append(torch.where(mass > 1e-12, flow / mass.clamp(min=1e-12), torch.zeros_like(flow)))
                masses.append(mass.clamp(min=1e-6, max=1.0).log10().squeeze(1) / 6)
        return torch.stack(shares, -1), torch.stack(masses, -1)

    def logits(self, piece: Piece, noise: Tensor) -> Tensor:
        """[N, K, C] from ``noise`` [B, K, C, z]."""
        model, config, batch = self.model, self.config, piece.batch
        n, classes = piece.shown.shape
        u = self.represent(piece)
        layers: list[nn.Module] = [model.from_node, model.from_counts]
        each = u.unsqueeze(1).expand(-1, classes, -1)
        _, size = self.class_means(u, piece)
        counts = torch.stack([size / size.sum(1, keepdim=True).clamp(min=1), size.log1p()], -1)
        evidence = [each, counts[batch]]
        z = None
        if config.latent:
            p, _ = self.class_means(model.prototype(u), piece)
            p = torch.where(size.unsqueeze(-1) > 0, p, model.absent)
            match = F.normalize(each, dim=-1) * F.normalize(p, dim=-1)[batch] * config.width**0.5
            evidence += [p[batch], match]
            layers += [model.from_prototype, model.from_match]
        if config.latent and config.z_width:
            r, _ = self.class_means(model.summarise(u), piece)
            q = model.latent_head(torch.cat([r, r.mean(1, keepdim=True).expand_as(r), counts], -1))
            z = q.loc.unsqueeze(1) + q.scale.unsqueeze(1) * noise
        if config.attention:
            evidence.append(self.votes(u, piece))
            layers.append(model.from_votes)
        if config.regression:
            said, left = self.regressed(u, piece)
            evidence += [said, left.unsqueeze(1).expand(-1, classes, -1)]
            layers += [model.from_evidence, model.from_doubt]
        weight = gcn_norm(piece.edge_index, None, n, add_self_loops=False)[1]
        if config.local:
            shares, masses = self.diffused(piece, weight)
            evidence += [shares, masses.unsqueeze(1).expand(-1, classes, -1)]
            layers += [model.from_local, model.from_mass]
        g = F.linear(torch.cat(evidence, -1), *joined(*layers))
        if config.class_embedding:
            g = g + model.class_bias + each * model.class_gate
        g = g.relu()
        both = torch.cat([g, g.mean(1, keepdim=True).expand_as(g)], -1)
        g = model.weigh_norm(F.linear(both, *joined(model.weigh, model.compare))).relu()
        for step in model.refine:
            around = torch.stack([self.spread(g[:, c], piece.edge_index, weight) for c in range(classes)], 1)
            g = g + F.linear(torch.cat([g, around], -1), *joined(step.own, step.around)).relu()  # type: ignore[arg-type]
        g = g.unsqueeze(1)
        if z is None:
            return model.logit(model.conclude(g).relu()).squeeze(-1)
        last = torch.cat([g.expand(-1, z.size(1), -1, -1), z[batch]], -1)
        return model.logit(F.linear(last, *joined(model.conclude, model.from_z)).relu()).squeeze(-1)

    def loss(self, piece: Piece, noise: Tensor) -> Tensor:
        """The negative multi-sample likelihood, summed over nodes and graphs."""
        out = self.logits(piece, noise)[piece.scored]
        log_p = self.model.likelihood.log_prob(out, piece.y[piece.scored])
        total = torch.zeros(piece.graphs, log_p.size(1)).index_add(0, piece.batch[piece.scored], log_p)
        return -(total.logsumexp(1) - math.log(total.size(1))).sum()
