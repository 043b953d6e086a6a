"""Nodes look at the context nodes of their own graph, and each of these votes for its class."""

from __future__ import annotations

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

NEARNESS = (-1.2, 2.3)  # logarithms: a head first sees about three spreads of the features far, or a tenth of one
JOINT_WIDTH = 64  # up to here one pass with a column per class and value is cheaper than two narrow passes


class ClassAttention(nn.Module):
    r"""Attention from query nodes to labelled nodes, read out once per class.

    .. math::
        a_{ti} = \operatorname{softmax}_{i \in C \cup \{\varnothing\}} (s\, q_t \cdot k_i / \sqrt d), \qquad
        o_{tc} = \sum_{i \in C,\; y_i = c} a_{ti}\, [1 \,\|\, v_i]

    for every head. Queries, keys and values are made from label-free node representations; labels only say to which
    class a context node's weight counts. The empty slot :math:`\varnothing` lets a head say 'nothing here resembles
    it', and makes an empty context the natural limit: no votes.

    With few classes this is one pass of attention with C (1 + values) value columns. With many, two: the votes
    :math:`\sum_{y_i = c} a_{ti}` with a column per class, then the mean value within each class, over its own keys alone;
    their product is the same :math:`o_{tc}`, at a cost that does not grow with C.

    ``places``: nodes lie in a space of so many dimensions, and x is where. A head then looks around itself, as far as it has
    learned to along each axis, and sees in which direction the labels lie,

    .. math::
        p = e^{\gamma} \odot x, \qquad a_{ti} \propto \exp(s\, q_t \cdot k_i / \sqrt d - |p_t - p_i|^2), \qquad
        o_{tc} = \sum_{i \in C,\; y_i = c} a_{ti}\, [1 \,\|\, v_i \,\|\, p_i - p_t].

    Shapes: ``query`` [Q, h] sorted by graph, ``key`` [M, h] sorted by graph, ``label`` [M, C] one-hot,
    ``query_count``, ``key_count`` [B], ``key_place`` [M, places], ``query_place`` [Q, places]
    → [Q, C, heads · (1 + values + places)].
    """

    def __init__(
        self, width: int, heads: int = 4, head_width: int = 16, values: int = 16, buckets: int = 4, places: int = 0
    ) -> None:
        super().__init__()
        self.heads, self.head_width, self.values, self.buckets = heads, head_width, values, buckets
        self.places = places
        self.to_query = nn.Linear(width, heads * head_width)
        self.to_key = nn.Linear(width, heads * head_width)
        self.to_value = nn.Linear(width, heads * values)
        self.log_scale = nn.Parameter(torch.zeros(heads))
        self.empty = nn.Parameter(torch.zeros(heads))
        if places:  # from heads that see the whole space to heads that see what is next to them
            self.log_nearness = nn.Parameter(torch.linspace(*NEARNESS, heads).unsqueeze(1).repeat(1, places))

    @property
    def out_width(self) -> int:
        return self.heads * self._columns

    @property
    def _columns(self) -> int:
        """What a head says of a class."""
        return 1 + self.values + self.places

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        label: Tensor,
        query_count: Tensor,
        key_count: Tensor,
        key_place: Tensor | None = None,
        query_place: Tensor | None = None,
    ) -> Tensor:
        scale = self.log_scale.exp() / math.sqrt(self.head_width)
        q = self.to_query(query).view(-1, self.heads, self.head_width) * scale.unsqueeze(-1)
        k = self.to_key(key).view(-1, self.heads, self.head_width)
        v = self.to_value(key).view(-1, self.heads, self.values)
        if not self.places:
            return self._by_class(q, k, v, label, query_count, key_count).flatten(2)
        assert query_place is not None and key_place is not None
        here, there = (place.unsqueeze(1) * self.log_nearness.exp() for place in (query_place, key_place))
        # -|p_t - p_i|² as a part of the product of query and key.
        q = torch.cat([q, 2 * here, -torch.ones_like(q[..., :1]), -here.square().sum(-1, keepdim=True)], -1)
        k = torch.cat([k, there, there.square().sum(-1, keepdim=True), torch.ones_like(k[..., :1])], -1)
        seen = self._by_class(q, k, torch.cat([v, there], -1), label, query_count, key_count)
        votes, values, place = seen.split([1, self.values, self.places], -1)
        return torch.cat([votes, values, place - votes * here.unsqueeze(1)], -1).flatten(2)

    def _by_class(
        self, q: Tensor, k: Tensor, v: Tensor, label: Tensor, query_count: Tensor, key_count: Tensor
    ) -> Tensor:
        r""":math:`\sum_{y_i = c} a_{ti} [1 \,\|\, v_i]` of every class, [Q, C, heads, 1 + w], for values [M, heads, w]."""
        classes = label.size(1)
        if classes * self._columns <= JOINT_WIDTH:
            v = torch.cat([torch.ones_like(v[..., :1]), v], -1)
            per_class = (v.unsqueeze(2) * label[:, None, :, None]).flatten(2)  # [M, heads, C (1 + w)]
            seen = attend(q, k, per_class, query_count, key_count, self.empty, self.buckets)
            return seen.view(-1, self.heads, classes, self._columns).transpose(1, 2)

        votes = attend(
            q, k, label.unsqueeze(1).expand(-1, self.heads, -1), query_count, key_count, self.empty, self.buckets
        )
        votes = votes.transpose(1, 2).unsqueeze(-1)  # [Q, C, heads, 1]
        # Now every (graph, class) is an attention of its own: all queries of the graph over the class's keys.
        graph = torch.repeat_interleave(key_count)
        group = graph * classes + label.argmax(1)
        order = group.argsort(stable=True)
        sizes = torch.bincount(group, minlength=key_count.numel() * classes)
        rows = _class_by_class(query_count, classes)
        means = attend(
            q.index_select(0, rows),
            k.index_select(0, order),
            v.index_select(0, order),
            query_count.repeat_interleave(classes),
            sizes,
            buckets=self.buckets,
        )
        # From (graph, class, query) back to (query, class).
        back = torch.empty_like(rows)
        turn = rows * classes + torch.repeat_interleave(query_count.repeat_interleave(classes)) % classes
        back[turn] = torch.arange(rows.numel(), device=rows.device)
        means = means.index_select(0, back).view(-1, classes, self.heads, v.size(-1))
        return torch.cat([votes, votes * means], -1)


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    query_count: Tensor,
    key_count: Tensor,
    empty: Tensor | None = None,
    buckets: int = 4,
) -> Tensor:
    """softmax(q k) v within each of B sets of queries and keys; zeros for queries that have no keys.

    ``empty`` [heads]: the score of one more key, whose value is zero. Sets are padded to common sizes in a few buckets of
    like size, and PyTorch's attention never holds a whole score matrix: time follows Σ queries × keys, memory Σ queries +
    keys.

    Shapes: ``q`` [Q, heads, d], ``k`` [M, heads, d], ``v`` [M, heads, w], ``query_count``, ``key_count`` [B] → [Q, heads, w].
    """
    width, (heads, d) = v.size(-1), k.shape[1:]
    if empty is not None:  # one more column, in which only the empty slot's key is not zero
        q = torch.cat([q, torch.ones_like(q[..., :1])], -1)
        d += 1
    common = max(width, d)  # PyTorch's fast kernel wants queries, keys and values of one width
    q, k, v = (F.pad(part, (0, common - part.size(-1))) for part in (q, k, v))
    rows, outputs = [], []
    for sets in _buckets(query_count, key_count, buckets):
        q_row, q_real = _padded_rows(query_count, sets)
        k_row, k_real = _padded_rows(key_count, sets)
        query, key, value = _take(q, q_row), _take(k, k_row), _take(v, k_row)
        if empty is not None:
            slot = F.pad(empty.view(-1, 1, 1), (d - 1, common - d)).expand(len(sets), heads, 1, common)
            key, value = torch.cat([key, slot], 2), F.pad(value, (0, 0, 0, 1))
            k_real = F.pad(k_real, (0, 1), value=True)
        mask = None
        if not k_real.all():
            mask = torch.zeros(k_real.shape, dtype=q.dtype, device=q.device).masked_fill(~k_real, -torch.inf)
            mask = mask[:, None, None, :].expand(-1, 1, query.size(2), -1)
        seen = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1.0)
        outputs.append(seen.transpose(1, 2).flatten(0, 1).index_select(0, q_real.flatten().nonzero().squeeze(1)))
        rows.append(q_row[q_real])
    if not rows:
        return q.new_zeros(q.size(0), heads, width)
    # Every query stands in one row of the outputs at most; those without keys read the row of zeros put last.
    row = torch.cat(rows)
    found = torch.full((q.size(0),), row.numel(), device=q.device)
    found[row] = torch.arange(row.numel(), device=q.device)
    return torch.cat([*outputs, q.new_zeros(1, heads, common)]).index_select(0, found)[..., :width]


def _class_by_class(query_count: Tensor, classes: int) -> Tensor:
    """Query rows in the order (graph, class, query)."""
    start = (query_count.cumsum(0) - query_count).repeat_interleave(classes)
    repeated = query_count.repeat_interleave(classes)
    first = repeated.cumsum(0) - repeated
    return torch.arange(int(repeated.sum()), device=query_count.device) + (start - first).repeat_interleave(repeated)


def _buckets(query_count: Tensor, key_count: Tensor, limit: int) -> list[Tensor]:
    """Sets that have both queries and keys, in at most ``limit`` groups of like key count."""
    live = ((query_count > 0) & (key_count > 0)).nonzero().squeeze(1)
    live = live[key_count[live].argsort()]
    return list(live.chunk(limit)) if live.numel() else []


def _padded_rows(count: Tensor, sets: Tensor) -> tuple[Tensor, Tensor]:
    """Row numbers [b, longest] of the members of ``sets`` in a list sorted by set, and which of them are real."""
    start = (count.cumsum(0) - count)[sets].unsqueeze(1)
    position = torch.arange(int(count[sets].max()), device=count.device)
    real = position < count[sets].unsqueeze(1)
    return torch.where(real, start + position, start), real


def _take(values: Tensor, rows: Tensor) -> Tensor:
    """The rows [b, n] of ``values`` [M, heads, w] as [b, heads, n, w]."""
    return values.index_select(0, rows.flatten()).view(*rows.shape, *values.shape[1:]).transpose(1, 2)
