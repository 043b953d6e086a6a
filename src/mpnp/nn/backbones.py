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

Representations have the shape [N, P, h]: N nodes in P versions, one for each set of labels or sample of z. Where only some
of them are asked for (:class:`Chosen`), a layer sums over neighbours on all nodes and multiplies on the chosen ones alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from ..errors import UserError, unknown_name
from .neighbours import Neighbours

TOGETHER = 2**24  # numbers that the means over several edge types may take at once: 64 MiB


class Chosen:
    """Which rows of a tensor [N, P, …] go on: all of them."""

    def of(self, values: Tensor) -> Tensor:
        return values


class Nodes(Chosen):
    """The nodes ``index`` [Q], in every version: [N, P, …] → [Q, P, …]."""

    def __init__(self, index: Tensor) -> None:
        self.index = index

    def of(self, values: Tensor) -> Tensor:
        return values.index_select(0, self.index)


class Pairs(Chosen):
    """Some (node, version) pairs, ``index`` [Q] numbering them node · P + version: [N, P, …] → [Q, 1, …].

    A tensor [N, 1, …] is alike in all ``versions`` so far.
    """

    def __init__(self, index: Tensor, versions: int) -> None:
        self.index, self.versions = index, versions

    def of(self, values: Tensor) -> Tensor:
        if values.size(1) == 1:
            return values.index_select(0, self.index // self.versions)
        return values.flatten(0, 1).index_select(0, self.index).unsqueeze(1)


ALL = Chosen()


class Dense(nn.Linear):
    """A linear layer that, like the others here, is handed the neighbourhoods and leaves them alone."""

    def forward(self, h: Tensor, neighbours: Neighbours | None = None, chosen: Chosen = ALL) -> Tensor:
        return super().forward(chosen.of(h))


class MessagePassing(nn.Module):
    r"""The paper's message passing before its ReLU: :math:`W_{skip} h_i + \square_j W_{MP} h_j`, □ sum or mean.

    With a sum it is PyG's ``GraphConv(aggr="add")``; here every trailing dimension goes through one sparse product.

    Shapes: [N, …, in] → [N, …, out], or the ``chosen`` rows of it.
    """

    def __init__(self, in_width: int, out_width: int, bias: bool = True, mean: bool = False) -> None:
        super().__init__()
        self.mean = mean
        self.skip = nn.Linear(in_width, out_width, bias=bias)
        self.message = nn.Linear(in_width, out_width, bias=False)

    def forward(self, h: Tensor, neighbours: Neighbours, chosen: Chosen = ALL) -> Tensor:
        around = neighbours.mean if self.mean else neighbours.sum
        own = self.skip(chosen.of(h))
        # The neighbour sum runs on whichever side of W_MP is narrower.
        if self.message.in_features <= self.message.out_features:
            return own + self.message(chosen.of(around(h)))
        return own + chosen.of(around(self.message(h)))


class Relational(nn.Module):
    r"""Relational message passing before its ReLU: :math:`W_{skip} h_i + \sum_r \frac{1}{|N_r(i)|} \sum_{j \in N_r(i)} W_r h_j`.

    Equals PyG's ``RGCNConv``. Shapes: [N, …, in] → [N, …, out], or the ``chosen`` rows of it.
    """

    def __init__(self, in_width: int, out_width: int, bias: bool = True, relations: int = 1) -> None:
        super().__init__()
        self.skip = nn.Linear(in_width, out_width, bias=bias)
        self.message = nn.ModuleList(nn.Linear(in_width, out_width, bias=False) for _ in range(relations))

    def forward(self, h: Tensor, neighbours: Neighbours, chosen: Chosen = ALL) -> Tensor:
        out: Tensor = self.skip(chosen.of(h))
        # Several types in one product: a single one of few nodes costs more to start than to compute.
        weights = list(self.message.parameters())  # one per type, without biases
        together = min(len(weights), max(1, TOGETHER // max(h.numel(), 1)))
        for relations in neighbours.relations(len(weights), together):
            weight = torch.cat([weights[kind] for kind in relations.kinds], 1)
            out = out + F.linear(chosen.of(relations.means(h)), weight)
        return out


class Convolution(nn.Module):
    r"""Graph convolution with a learnable skip before its ReLU: :math:`W_{skip} h + \hat D^{-1/2} (A + I) \hat D^{-1/2} h W`.

    The second term equals PyG's ``GCNConv``. Shapes: [N, …, in] → [N, …, out], or the ``chosen`` rows of it.
    """

    def __init__(self, in_width: int, out_width: int, bias: bool = True) -> None:
        super().__init__()
        self.skip = nn.Linear(in_width, out_width, bias=bias)
        self.message = nn.Linear(in_width, out_width, bias=False)

    def forward(self, h: Tensor, neighbours: Neighbours, chosen: Chosen = ALL) -> Tensor:
        return self.skip(chosen.of(h)) + self.message(chosen.of(neighbours.normalised_with_self(h)))


class Maxout(nn.Module):
    """max(W_1 h + b_1, W_2 h + b_2), element by element. Shapes: [N, …, in] → [N, …, out], or the ``chosen`` rows of it."""

    def __init__(self, in_width: int, out_width: int, bias: bool = True) -> None:
        super().__init__()
        self.pieces = nn.Linear(in_width, 2 * out_width, bias=bias)

    def forward(self, h: Tensor, neighbours: Neighbours | None = None, chosen: Chosen = ALL) -> Tensor:
        first, second = self.pieces(chosen.of(h)).chunk(2, -1)
        return torch.maximum(first, second)


WITH_RELU = ("linear", "mp", "r-mp", "gcn")
WITH_NEIGHBOURS = ("mp", "r-mp", "gcn")
WORDS = (*WITH_RELU, "maxout", "out")


class Word(NamedTuple):
    """One layer: what it is, how wide, and whether it also reads the joined input."""

    kind: str
    width: int
    joined: bool


def parse(words: Sequence[str]) -> list[Word]:
    """The layers that ``words`` stand for; words that stand for none are a :class:`UserError`."""
    layers: list[Word] = []
    joined = False
    for word in words:
        if word == "join":
            joined = True
            continue
        kind, _, size = word.partition(":")
        if kind not in WORDS:
            raise unknown_name("layer", kind, WORDS)
        if not (size.isascii() and size.isdigit() and int(size) > 0):
            raise UserError(
                f"The layer '{word}' was given; a width of at least 1 is expected after the colon, as {kind}:64."
            )
        if joined and kind == "maxout":
            raise UserError("'join' stands before a maxout, which is not linear in a joined input; put it elsewhere.")
        layers.append(Word(kind, int(size), joined))
        joined = False
    if not layers:
        raise UserError(f"The layers {list(words)} were given, at least one layer is expected, as linear:64.")
    if joined:
        raise UserError(
            f"In the layers {list(words)} 'join' stands last; put it before the layer that is to read more."
        )
    return layers


def layer_of(kind: str, in_width: int, width: int, bias: bool, mean: bool, relations: int) -> nn.Module:
    if kind == "mp":
        return MessagePassing(in_width, width, bias, mean)
    if kind == "r-mp":
        return Relational(in_width, width, bias, relations)
    if kind == "gcn":
        return Convolution(in_width, width, bias)
    if kind == "maxout":
        return Maxout(in_width, width, bias)
    return Dense(in_width, width, bias)


class Stack(nn.Module):
    """A list of words made into layers, with an optional second input j that one layer reads beside the first.

    A layer on a concatenation W [h ‖ j] is computed as W_h h + W_j j, so that what does not depend on j is computed once
    for all P versions of it, and a per-graph j is projected per graph instead of per node. After the last message passing no
    layer looks at neighbours, so that from there on only the ``chosen`` rows are computed.

    Shapes: ``h`` [N, in], ``joined`` [N, P, join] or, with ``graph_of`` [N], [B, P, join] → [N, P, out], or the ``chosen``
    rows of it.
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
        self.words = parse(words)
        self.layers, self.joiners, self.norms = nn.ModuleList(), nn.ModuleDict(), nn.ModuleDict()
        self.narrowing = 0  # the layer from which on only the chosen rows are computed
        for i, (kind, width, joined) in enumerate(self.words):
            self.layers.append(layer_of(kind, in_width, width, True, mean, relations))
            if joined:
                self.joiners[str(i)] = layer_of(kind, join_width, width, False, mean, relations)
            if norm and kind in WITH_RELU:
                self.norms[str(i)] = nn.LayerNorm(width)
            if kind in WITH_NEIGHBOURS:
                self.narrowing = i
            in_width = width
        self.out_width = in_width

    def forward(
        self,
        h: Tensor,
        neighbours: Neighbours,
        joined: Tensor | None = None,
        graph_of: Tensor | None = None,
        chosen: Chosen = ALL,
    ) -> Tensor:
        h = h.unsqueeze(1)
        for i, (layer, word) in enumerate(zip(self.layers, self.words, strict=True)):
            now = chosen if i == self.narrowing else ALL
            h = layer(h, neighbours, now)
            if word.joined and joined is not None:
                h = h + self._join(self.joiners[str(i)], joined, neighbours, graph_of, now)
            if str(i) in self.norms:
                h = self.norms[str(i)](h)
            if word.kind in WITH_RELU:
                h = h.relu()
            # What a later layer joins has to be of the same rows.
            if graph_of is not None:
                graph_of = now.of(graph_of)
            elif joined is not None:
                joined = now.of(joined)
        return h

    @staticmethod
    def _join(
        joiner: nn.Module, joined: Tensor, neighbours: Neighbours, graph_of: Tensor | None, chosen: Chosen
    ) -> Tensor:
        """W_j j at the chosen rows."""
        if graph_of is None:
            return joiner(joined, neighbours, chosen)
        if isinstance(joiner, Dense):
            return joiner(joined).index_select(0, chosen.of(graph_of))
        return joiner(joined[graph_of], neighbours, chosen)  # neighbours have to be given nodes
