"""Stacks of layers from node features (and edges) to node representations, written as words.

The paper describes its networks as lists of layers, and so does this module: ``("linear:64", "mp:64", "out:128")`` is
Linear(64), ReLU, MP(64), ReLU, Linear(128). The words:

======================  ==============================================================================
``linear:h``            Linear, ReLU
``mp:h``                message passing ReLU(W_skip h_i + Σ_j W_MP h_j), sum or mean
``r-mp:h``              relational message passing, one W_MP per edge type, mean over each type
``gcn:h``               graph convolution with a learnable skip, ReLU(W_skip h_i + GCN(h)_i)
``maxout:h``            the larger of two linear maps, element by element (pool size 2)
``out:h``               Linear, nothing after it
``join``                the next layer also reads the joined input (labels in an encoder, z in a decoder)
======================  ==============================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn as nn
from torch import Tensor

from .neighbours import Neighbours

Take = Callable[[Tensor], Tensor]


def everything(h: Tensor) -> Tensor:
    return h


class Dense(nn.Linear):
    """A linear layer that, like the others here, is handed the neighbourhoods and leaves them alone."""

    def forward(self, h: Tensor, neighbours: Neighbours | None = None, take: Take = everything) -> Tensor:
        return super().forward(take(h))


class MessagePassing(nn.Module):
    r"""The paper's message passing before its ReLU: :math:`W_{skip} h_i + \square_j W_{MP} h_j`, □ sum or mean.

    With a sum it is PyG's ``GraphConv(aggr="add")``; here every trailing dimension goes through one sparse product, and
    the dense products run only on the rows that ``take`` picks, after their neighbours have been summed.

    Shapes: [N, …, in] → [N, …, out], or what ``take`` makes of N.
    """

    def __init__(self, in_width: int, out_width: int, bias: bool = True, mean: bool = False) -> None:
        super().__init__()
        self.mean = mean
        self.skip = nn.Linear(in_width, out_width, bias=bias)
        self.message = nn.Linear(in_width, out_width, bias=False)

    def forward(self, h: Tensor, neighbours: Neighbours, take: Take = everything) -> Tensor:
        # The neighbour sum runs on whichever side of W_MP is narrower.
        if self.message.in_features <= self.message.out_features:
            return self.skip(take(h)) + self.message(take(self._gather(h, neighbours)))
        return self.skip(take(h)) + take(self._gather(self.message(h), neighbours))

    def _gather(self, h: Tensor, neighbours: Neighbours) -> Tensor:
        return neighbours.mean(h) if self.mean else neighbours.sum(h)


class Relational(nn.Module):
    r"""Relational message passing before its ReLU: :math:`W_{skip} h_i + \sum_r \frac{1}{|N_r(i)|} \sum_{j \in N_r(i)} W_r h_j`.

    Equals PyG's ``RGCNConv``. Shapes: [N, …, in] → [N, …, out].
    """

    def __init__(self, in_width: int, out_width: int, bias: bool = True, relations: int = 1) -> None:
        super().__init__()
        self.skip = nn.Linear(in_width, out_width, bias=bias)
        self.message = nn.ModuleList(nn.Linear(in_width, out_width, bias=False) for _ in range(relations))

    def forward(self, h: Tensor, neighbours: Neighbours, take: Take = everything) -> Tensor:
        out: Tensor = self.skip(take(h))
        for weight, relation in zip(self.message, neighbours.relations, strict=False):
            out = out + weight(take(relation.mean(h)))
        return out


class Convolution(nn.Module):
    r"""Graph convolution with a learnable skip before its ReLU: :math:`W_{skip} h + \hat D^{-1/2} (A + I) \hat D^{-1/2} h W`.

    The second term equals PyG's ``GCNConv``. Shapes: [N, …, in] → [N, …, out].
    """

    def __init__(self, in_width: int, out_width: int, bias: bool = True) -> None:
        super().__init__()
        self.skip = nn.Linear(in_width, out_width, bias=bias)
        self.message = nn.Linear(in_width, out_width, bias=False)

    def forward(self, h: Tensor, neighbours: Neighbours, take: Take = everything) -> Tensor:
        return self.skip(take(h)) + self.message(take(neighbours.normalised_with_self(h)))


class Maxout(nn.Module):
    """max(W_1 h + b_1, W_2 h + b_2), element by element. Shapes: [N, …, in] → [N, …, out]."""

    def __init__(self, in_width: int, out_width: int, bias: bool = True) -> None:
        super().__init__()
        self.pieces = nn.Linear(in_width, 2 * out_width, bias=bias)

    def forward(self, h: Tensor, neighbours: Neighbours | None = None, take: Take = everything) -> Tensor:
        first, second = self.pieces(take(h)).chunk(2, -1)
        return torch.maximum(first, second)


class Stack(nn.Module):
    """A list of words made into layers, with an optional second input that one layer reads beside the first.

    A layer on a concatenation W [h ‖ j] is computed as W_h h + W_j j, so that what does not depend on j is computed once
    for all P versions of it, and a per-graph j is projected per graph instead of per node. ``rows`` [Q] limits the result
    to some nodes, ``pairs`` [Q] (with a j per node) to some of the N · P (node, version) pairs, numbered node · P +
    version; the last message passing and all after it then run on these alone.

    Shapes: ``h`` [N, in], ``joined`` [N, P, join] or, with ``graph_of`` [N], [B, P, join] → [N, P, out], or [Q, P, out]
    for ``rows``, or [Q, 1, out] for ``pairs``.
    """

    def __init__(
        self,
        in_width: int,
        words: Sequence[str],
        join_width: int = 0,
        *,
        norm: bool = False,
        mean: bool = False,
        relations: int = 1,
    ) -> None:
        super().__init__()
        self.layers, self.joiners, self.norms = nn.ModuleList(), nn.ModuleDict(), nn.ModuleDict()
        self.active: list[bool] = []
        join_next = False
        for word in words:
            if word == "join":
                join_next = True
                continue
            kind, _, size = word.partition(":")
            width, position = int(size), str(len(self.layers))

            def layer(width_in: int, bias: bool, kind: str = kind, width: int = width) -> nn.Module:
                if kind == "mp":
                    return MessagePassing(width_in, width, bias, mean)
                if kind == "r-mp":
                    return Relational(width_in, width, bias, relations)
                if kind == "gcn":
                    return Convolution(width_in, width, bias)
                if kind == "maxout":
                    return Maxout(width_in, width, bias)
                if kind in ("linear", "out"):
                    return Dense(width_in, width, bias)
                raise ValueError(f"unknown layer '{kind}:{width}'")

            self.layers.append(layer(in_width, True))
            if join_next:
                if kind == "maxout":
                    raise ValueError("a maxout layer is not linear in a joined input")
                self.joiners[position] = layer(join_width, False)
                join_next = False
            self.active.append(kind in ("linear", "mp", "r-mp", "gcn"))
            if norm and self.active[-1]:
                self.norms[position] = nn.LayerNorm(width)
            in_width = width
        self.out_width = in_width
        # After it no layer looks at neighbours, so that only the rows asked for need to go on.
        messages = [
            i for i, layer in enumerate(self.layers) if isinstance(layer, MessagePassing | Relational | Convolution)
        ]
        self.last_message = max(messages, default=0)

    def forward(
        self,
        h: Tensor,
        neighbours: Neighbours,
        joined: Tensor | None = None,
        graph_of: Tensor | None = None,
        *,
        rows: Tensor | None = None,
        pairs: Tensor | None = None,
    ) -> Tensor:
        h = h.unsqueeze(1)
        versions = 1 if joined is None else joined.size(1)

        def taken(values: Tensor) -> Tensor:
            if pairs is None:
                return values if rows is None else values.index_select(0, rows)
            if values.size(1) == 1:  # alike in all versions so far
                return values.index_select(0, pairs // versions)
            return values.flatten(0, 1).index_select(0, pairs).unsqueeze(1)

        for i, layer in enumerate(self.layers):
            take = taken if i == self.last_message else everything
            h = layer(h, neighbours, take)
            if str(i) in self.joiners and joined is not None:
                joiner = self.joiners[str(i)]
                if graph_of is None:
                    h = h + joiner(joined, neighbours, take)
                elif isinstance(joiner, Dense):
                    h = h + joiner(joined).index_select(0, take(graph_of))
                else:  # neighbours have to be given nodes
                    h = h + joiner(joined[graph_of], neighbours, take)
            if i == self.last_message:
                graph_of = None if graph_of is None else taken(graph_of)
                joined = joined if joined is None or graph_of is not None else taken(joined)
            if str(i) in self.norms:
                h = self.norms[str(i)](h)
            if self.active[i]:
                h = h.relu()
        return h
