"""Context representations {r_i} to one summary r per graph."""

from __future__ import annotations

import torch
import torch.nn as nn
from torch import Tensor


def group_mean(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """Mean of the rows of each group, zeros for an empty one: [M, …], [M] → [groups, …]."""
    total = values.new_zeros(groups, *values.shape[1:]).index_add(0, group, values)
    count = torch.bincount(group, minlength=groups).clamp(min=1).to(values)
    return total / count.view(-1, *[1] * (values.dim() - 1))


def group_max(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """Maximum of the rows of each group, zeros for an empty one: [M, …], [M] → [groups, …]."""
    index = group.view(-1, *[1] * (values.dim() - 1)).expand_as(values)
    # Not from zeros with include_self=False: a maximum of exactly 0 would share its gradient with them.
    top = values.new_full((groups, *values.shape[1:]), -torch.inf).scatter_reduce(0, index, values, "amax")
    return top.masked_fill(top.isneginf(), 0.0)


REDUCTIONS = {"mean": group_mean, "max": group_max}


class Aggregator(nn.Module):
    r"""Summary of the context nodes of each graph, mean or max; with ``by_class`` one summary per class, concatenated:

    .. math:: r = a(\{r_i\}) \quad\text{or}\quad r = \big\Vert_{c} \, a(\{r_i : y_i = c\})

    ``keep_share``: a class's mean is taken over the whole context, nodes of other classes counting 0, which is the paper's
    formula to the letter and tells how common the class is; without it, over the class's own nodes.

    ``project``: the last linear map of the encoder, W r_i + b, taken after the mean, with which it changes places: once per
    group instead of once per node. A group without context nodes (an empty context, a class that does not occur) has a
    learned stand-in.

    Shapes: ``r`` [N, width], ``label`` [N, C] one-hot with zero rows outside the context, ``batch`` [N] → [B, out_width].
    """

    def __init__(
        self,
        width: int,
        classes: int,
        by_class: bool = False,
        reduction: str = "mean",
        keep_share: bool = False,
        project: int | None = None,
    ) -> None:
        super().__init__()
        self.project = None if project is None else nn.Linear(width, project)
        width = project or width
        self.by_class, self.classes, self.reduction, self.keep_share = by_class, classes, reduction, keep_share
        self.out_width = width * classes if by_class else width
        self.absent = nn.Parameter(torch.zeros(classes if by_class else 1, width))

    def forward(self, r: Tensor, label: Tensor, batch: Tensor, graphs: int) -> Tensor:
        rows = label.sum(-1).nonzero().squeeze(1)
        if rows.numel() < batch.numel():
            r, label, batch = r.index_select(0, rows), label[rows], batch[rows]
        group, per_graph = batch, 1
        if self.by_class:
            group, per_graph = group * self.classes + label.argmax(-1), self.classes
        summary = REDUCTIONS[self.reduction](r, group, graphs * per_graph)
        if self.project is not None:
            summary = self.project(summary)
        count = torch.bincount(group, minlength=graphs * per_graph)
        if self.keep_share and self.reduction == "mean":
            size = count.view(graphs, per_graph).to(summary)
            summary = summary * (size / size.sum(1, keepdim=True).clamp(min=1)).view(-1, 1)
        stand_in = self.absent.repeat(graphs, 1)
        return torch.where(count.unsqueeze(-1) > 0, summary, stand_in).view(graphs, -1)
