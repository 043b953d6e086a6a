"""What another label would change, in closed form: a Gaussian process that stands in for a model while it looks ahead."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from ..experts.views import Views

NOISE = 0.3  # λ, of a label; nodes vary by 1
MOST_SHOWN = 512  # labelled nodes that the stand-in has heard of
STEPS, RESTART = 8, 0.15  # of the walk that makes nodes near
TEMPERATURES = (2.0, 4.0, 8.0, 16.0, 32.0)
SMALLEST = 1e-6  # a probability


class Surrogate:
    r"""The posterior of a Gaussian process, given the labelled nodes, between nodes that may be asked and nodes to judge by.

    Its kernel is a weighted sum of what makes nodes alike: features, as they are and smoothed along the edges, place and role in the
    graph, surroundings, nearness. The weights say how well each alone predicts every given label from the others. With the
    posterior covariance S and the noise λ of a label, the answer c at node i moves the value of node j by

    .. math::
        g_{ij} (e_c - p_i), \qquad g_{ij} = S_{ij} / (S_{ii} + λ), \qquad p_j' \propto p_j \exp(T g_{ij} (e_c - p_i)),

    p being what the *model* believes, of which the answer is a draw: on average over answers no value moves. T is the sharpness with which
    the stand-in repeats the model's belief best. So what is believed is the model's, and only what would change is not.

    Shapes: ``candidates`` [c] and ``judged`` [J] node numbers, ``belief`` [J, C], ``asked`` [c, C] the model's probabilities,
    ``across`` [J, c] and ``among`` [c, c] covariances.
    """

    def __init__(
        self, views: Views, shown: Tensor, y: Tensor, probabilities: Tensor, candidates: Tensor, judged: Tensor
    ) -> None:
        shown, y = shown[:MOST_SHOWN], y[:MOST_SHOWN]
        self.belief, self.asked = probabilities[judged], probabilities[candidates]
        count, classes = shown.numel(), probabilities.size(1)
        columns, rows = torch.cat([shown, candidates]), torch.cat([shown, candidates, judged])
        kernels = [kernel.double() for kernel in _kernels(views, rows, columns)]
        one_hot = F.one_hot(y, classes).double()
        shares = (one_hot.sum(0) + 1) / (count + classes)
        noise = NOISE * torch.eye(count, dtype=torch.double)
        errors = torch.stack([_left_out(kernel[:count, :count] + noise, one_hot - shares) for kernel in kernels])
        self.weights = (errors.amin() - errors).softmax(0)
        kernel = torch.einsum("v,vrs->rs", self.weights, torch.stack(kernels))
        self.temperature = TEMPERATURES[2]
        if count:
            factor = torch.linalg.cholesky(kernel[:count, :count] + noise)
            half = torch.linalg.solve_triangular(factor, kernel[:, :count].t(), upper=False)
            values = kernel[columns.numel() :, :count] @ torch.cholesky_solve(one_hot - shares, factor) + shares
            self.temperature = _sharpness(values, self.belief.double())
            kernel = kernel - half.t() @ half[:, : columns.numel()]
        self.among, self.across = kernel[count : columns.numel(), count:], kernel[columns.numel() :, count:]

    @property
    def reach(self) -> Tensor:
        """g, [J, c]."""
        return (self.across / (self.among.diagonal() + NOISE).clamp(min=NOISE)).float()

    def after(self, likely: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """For the likeliest answers ``likely`` [c, k] of every candidate, one by one: their probability [c], and what would be
        believed of all judged nodes, [J, c, C]."""
        before, reach = self.belief.clamp(min=SMALLEST).log().unsqueeze(1), self.reach.unsqueeze(-1)
        for answer in likely.unbind(1):
            moved = F.one_hot(answer, self.asked.size(1)) - self.asked
            yield (
                self.asked.gather(1, answer.unsqueeze(1)).squeeze(1),
                (before + self.temperature * reach * moved).softmax(-1),
            )

    def settle(self, place: int) -> None:
        """Take candidate number ``place`` as answered, by whatever: what is known of nodes like it no longer varies."""
        row, own = self.among[place].clone(), float(self.among[place, place]) + NOISE
        self.across = self.across - torch.outer(self.across[:, place], row) / own
        self.among = self.among - torch.outer(row, row) / own


def _kernels(views: Views, rows: Tensor, columns: Tensor) -> Iterator[Tensor]:
    """Every likeness of ``rows`` [R] and ``columns`` [S], with 1 on the diagonal: [R, S] each."""
    flat = [_unit(table) for table in (views.linear[name] for name in ("x", "ax", "pprx") if views.linear)]
    for table in flat:
        yield table[rows] @ table[columns].t()
    for name in ("struct", "ax_rbf"):
        if name in views.radial:
            table = _unit(views.radial[name])
            yield torch.exp(-torch.cdist(table[rows], table[columns]).square() / 2)
    if views.walks.matrix.values().numel():
        yield _nearness(views, rows, columns)


def _unit(table: Tensor) -> Tensor:
    """Centred rows of length one: a node with many words is no more typical than one with few."""
    return F.normalize(table - table.mean(0), dim=1, eps=1e-9)


def _nearness(views: Views, rows: Tensor, columns: Tensor) -> Tensor:
    """Where walks from a node that start anew now and then are found, [R, S], symmetric, scaled to a mean of 1 at themselves."""
    flow = torch.zeros(views.nodes, columns.numel())
    flow[columns, torch.arange(columns.numel())] = 1
    found = RESTART * flow
    for _ in range(STEPS):
        flow = (1 - RESTART) * views.walks.normalised(flow)
        found = found + RESTART * flow
    own = found[columns, torch.arange(columns.numel())].mean().clamp(min=1e-9)
    return found[rows] / own


def _left_out(kernel: Tensor, values: Tensor) -> Tensor:
    """The sum of squared errors when every value [n, C] is predicted from the others, ``kernel`` [n, n] with its noise."""
    inverse = torch.linalg.inv(kernel)
    return ((inverse @ values) / inverse.diagonal().unsqueeze(1)).square().sum()


def _sharpness(values: Tensor, belief: Tensor) -> float:
    """The temperature by which ``values`` [J, C] repeat a ``belief`` [J, C] best."""
    losses = [-(belief * (t * values).log_softmax(-1)).sum(-1).mean() for t in TEMPERATURES]
    return TEMPERATURES[int(torch.stack(losses).argmin())]
