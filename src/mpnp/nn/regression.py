"""Labels regressed on representations, anew for every graph: the representations are learned to be what few labels explain."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn as nn
from torch import Tensor
from torch_geometric.utils import to_dense_batch

from .neighbours import Neighbours

RIDGES = (0.1, 1.0, 10.0)  # where they begin
KEEP = 0.95  # in a step of smoothing


@dataclass
class Solution:
    r"""What the labels of B graphs say of each of r directions.

    Shapes: ``inverse`` [B, r, R r] of :math:`\Phi^\top\Phi + \lambda I` for R ridges, ``weights`` [B, r, C R].
    """

    inverse: Tensor
    weights: Tensor


class Regression(nn.Module):
    r"""Ridge regression of a graph's labels on its nodes' representations,

    .. math::
        \phi = S\, U W^\top / \sqrt r, \qquad A = \sum_{i \in C} \phi_i \phi_i^\top + \lambda I, \qquad
        s_{tc} = \phi_t^\top A^{-1} \sum_{i \in C} \phi_i (y_{ic} - \bar y_c), \qquad
        d_t = \lambda\, \phi_t^\top A^{-1} \phi_t,

    for several learned ridges :math:`\lambda`. s is the evidence for each class, d the doubt: how much of :math:`|\phi_t|^2` lies
    where no label has been. Gradients go through the solution (Bertinetto et al., 2019). S are ``smoothing`` steps along the
    edges, for graphs whose neighbours are mostly alike. An empty context is the natural limit: no evidence, all doubt.

    Shapes: ``directions``: ``u`` [N, h] → :math:`\phi` [N, r]; ``solve``: ``key`` [M, r] sorted by graph, ``label`` [M, C] one-hot,
    ``key_graph`` [M] below ``graphs`` B → :class:`Solution`; ``forward``: ``query`` [Q, r], ``graph`` [Q] rising → s [Q, C, R],
    d [Q, R].
    """

    def __init__(self, width: int, rank: int, smoothing: int) -> None:
        super().__init__()
        self.smoothing = smoothing
        self.to_directions = nn.Linear(width, rank, bias=False)
        self.log_ridge = nn.Parameter(torch.tensor(RIDGES).log())

    def directions(self, u: Tensor, neighbours: Neighbours | None) -> Tensor:
        """``neighbours``: none where there are no edges to smooth along."""
        phi = self.to_directions(u) / self.to_directions.out_features**0.5
        return phi if neighbours is None else neighbours.smoothed(phi, self.smoothing, KEEP)

    def solve(self, key: Tensor, label: Tensor, key_graph: Tensor, graphs: int) -> Solution:
        # The sum over very many labels would drown the ridge in single precision, which is all that Apple's GPUs have.
        exact = torch.float32 if key.device.type == "mps" else torch.float64
        phi, real = to_dense_batch(key.to(exact), key_graph, batch_size=graphs)
        told, _ = to_dense_batch(label.to(exact), key_graph, batch_size=graphs)
        mean = told.sum(1, keepdim=True) / real.sum(1).clamp(min=1).view(-1, 1, 1)
        square, moment = phi.mT @ phi, phi.mT @ (told - mean)  # rows of padding are zero in phi
        eye = torch.eye(phi.size(-1), dtype=phi.dtype, device=phi.device)
        a = square.unsqueeze(1) + self.log_ridge.to(exact).exp().view(-1, 1, 1) * eye
        inverse = torch.cholesky_inverse(torch.linalg.cholesky(a))  # [B, R, r, r]
        weights = inverse @ moment.unsqueeze(1)
        return Solution(
            inverse.transpose(1, 2).flatten(2).to(key),
            weights.permute(0, 2, 3, 1).flatten(2).to(key),
        )

    def forward(self, query: Tensor, graph: Tensor, solution: Solution) -> tuple[Tensor, Tensor]:
        some = slice(int(graph.min()), int(graph.max()) + 1) if graph.numel() else slice(0, 1)
        dense, real = to_dense_batch(query, graph - some.start, batch_size=some.stop - some.start)
        ridges = self.log_ridge.numel()
        evidence = (dense @ solution.weights[some])[real].unflatten(-1, (-1, ridges))
        seen = (dense @ solution.inverse[some])[real].unflatten(-1, (ridges, -1))
        return evidence, (seen @ query.unsqueeze(-1)).squeeze(-1) * self.log_ridge.exp()
