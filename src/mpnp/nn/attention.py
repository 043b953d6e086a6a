"""Nodes look at the context nodes of their own graph, and each of these votes for its class."""

from __future__ import annotations

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class ClassAttention(nn.Module):
    r"""Attention from query nodes to labelled nodes, read out once per class.

    .. math::
        a_{ti} = \operatorname{softmax}_{i \in C \cup \{\varnothing\}} (s\, q_t \cdot k_i / \sqrt d), \qquad
        o_{tc} = \sum_{i \in C,\; y_i = c} a_{ti}\, [1 \,\|\, v_i]

    for every head. Queries, keys and values are made from label-free node representations; labels only say to which
    class a context node's weight counts. The empty slot :math:`\varnothing` lets a head say 'nothing here resembles
    it', and makes an empty context the natural limit: no votes.

    Context nodes are gathered, graphs padded to common sizes in a few buckets of like size: cost and memory follow
    Σ_graphs queries × context.

    Shapes: ``query`` [Q, h] sorted by graph, ``key`` [M, h] sorted by graph, ``label`` [M, C] one-hot,
    ``query_count``, ``key_count`` [B] → [Q, C, heads · (1 + values)].
    """

    def __init__(self, width: int, heads: int = 8, head_width: int = 8, values: int = 8, buckets: int = 4) -> None:
        super().__init__()
        self.heads, self.head_width, self.values, self.buckets = heads, head_width, values, buckets
        self.to_query = nn.Linear(width, heads * head_width)
        self.to_key = nn.Linear(width, heads * head_width)
        self.to_value = nn.Linear(width, heads * values)
        self.log_scale = nn.Parameter(torch.zeros(heads))
        self.empty = nn.Parameter(torch.zeros(heads))

    @property
    def out_width(self) -> int:
        return self.heads * (1 + self.values)

    def forward(self, query: Tensor, key: Tensor, label: Tensor, query_count: Tensor, key_count: Tensor) -> Tensor:
        classes = label.size(1)
        scale = self.log_scale.exp() / math.sqrt(self.head_width)
        q = self.to_query(query).view(-1, self.heads, self.head_width) * scale.unsqueeze(-1)
        k = self.to_key(key).view(-1, self.heads, self.head_width)
        v = self.to_value(key).view(-1, self.heads, self.values)
        v = torch.cat([torch.ones_like(v[..., :1]), v], -1)
        per_class = (v.unsqueeze(2) * label[:, None, :, None]).flatten(2)  # [M, heads, C (1 + values)]

        rows, outputs = [], []
        for graphs in _buckets(query_count, key_count, self.buckets):
            q_row, q_real = _padded_rows(query_count, graphs)
            k_row, k_real = _padded_rows(key_count, graphs)
            # The empty slot is one more key of zeros; it and the padding get their score from the bias alone.
            padding = torch.zeros_like(k_real, dtype=q.dtype).masked_fill(~k_real, -torch.inf)
            bias = torch.cat(
                [padding.unsqueeze(1).expand(-1, self.heads, -1), self.empty.expand(len(graphs), 1, -1).mT], -1
            )
            scores = torch.baddbmm(
                bias.flatten(0, 1).unsqueeze(1),
                _take(q, q_row).transpose(1, 2).flatten(0, 1),
                F.pad(_take(k, k_row).permute(0, 2, 3, 1).flatten(0, 1), (0, 1)),
            )  # [b heads, T, S + 1]
            values = F.pad(_take(per_class, k_row).transpose(1, 2).flatten(0, 1), (0, 0, 0, 1))
            seen = (scores.softmax(-1) @ values).view(len(graphs), self.heads, q_row.size(1), -1)
            outputs.append(seen.transpose(1, 2)[q_real])
            rows.append(q_row[q_real])
        if not rows:
            return query.new_zeros(query.size(0), classes, self.out_width)
        row, output = torch.cat(rows), torch.cat(outputs)
        out = output.new_zeros(query.size(0), *output.shape[1:]).index_copy(0, row, output)
        return out.view(-1, self.heads, classes, 1 + self.values).transpose(1, 2).flatten(2)


def _buckets(query_count: Tensor, key_count: Tensor, limit: int) -> list[Tensor]:
    """Graphs that have both queries and keys, in at most ``limit`` groups of like key count."""
    live = ((query_count > 0) & (key_count > 0)).nonzero().squeeze(1)
    live = live[key_count[live].argsort()]
    return list(live.chunk(limit)) if live.numel() else []


def _padded_rows(count: Tensor, graphs: Tensor) -> tuple[Tensor, Tensor]:
    """Row numbers [b, longest] of the nodes of ``graphs`` in a list sorted by graph, and which of them are real."""
    start = (count.cumsum(0) - count)[graphs].unsqueeze(1)
    position = torch.arange(int(count[graphs].max()), device=count.device)
    real = position < count[graphs].unsqueeze(1)
    return torch.where(real, start + position, start), real


def _take(values: Tensor, rows: Tensor) -> Tensor:
    return values.index_select(0, rows.flatten()).view(*rows.shape, *values.shape[1:])
