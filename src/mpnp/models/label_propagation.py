"""Label propagation: context labels spread along the edges until they settle."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.nn import LabelPropagation as Propagation

from ..defaults import SAMPLES
from ..episode import Episode
from ..prediction import Prediction
from .mode import SMOOTHING, Mode


@dataclass(frozen=True)
class LabelPropagation:
    r"""PyG's :math:`F \leftarrow \alpha D^{-1/2} A D^{-1/2} F + (1 - \alpha) Y`, with enough ``steps`` to converge.

    The shares of what arrives at a node are its class probabilities. A node that nothing reaches takes the shares of the
    labels in its graph's context.
    """

    steps: int = 100
    alpha: float = 0.9

    name = "label-propagation"
    sees_own_label = True

    def spread(self, episode: Episode) -> Tensor:
        """What has arrived at every node after the last step, [N, C]."""
        # A sparse matrix of what comes in lets PyG multiply instead of gathering a message per edge: much faster.
        incoming = episode.graph.edge_index.to_sparse_csc().t()
        mass: Tensor = Propagation(self.steps, self.alpha)(episode.shown(), incoming, post_step=lambda flow: flow)
        return mass.clamp(min=0)

    def predict(
        self, episode: Episode, *, samples: int = SAMPLES, seed: int = 0, nodes: Tensor | None = None
    ) -> Prediction:
        mass = self.spread(episode)
        total = mass.sum(-1, keepdim=True)
        fallback = Mode().predict(episode).probabilities
        # Faint traces say which class is near, not how sure to be: a pinch of the graph's shares keeps them honest.
        pinch = 1e-3 * SMOOTHING
        shares = (mass / total.clamp(min=1e-30) + pinch * fallback) / (1 + pinch)
        return Prediction.certain(torch.where(total > 1e-12, shares, fallback)).at(nodes)
