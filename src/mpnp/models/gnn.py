"""Graph networks without a latent variable: the paper's inductive baselines, and one that reads the context."""

from dataclasses import dataclass
from typing import Literal

import torch.nn as nn
from torch import Tensor
from torch.distributions import Normal

from ..nn.backbones import Stack
from ..nn.neighbours import Neighbours
from .base import LatentModel, ModelConfig, Reading


@dataclass
class GraphNetworkConfig(ModelConfig):
    """``layers`` in the words of :mod:`mpnp.nn.backbones`; with 'join' among them the context labels are an input."""

    layers: tuple[str, ...] = ("gcn:64", "gcn:64", "gcn:64")
    messages: Literal["sum", "mean"] = "mean"
    norm: bool = False
    relations: int = 1
    kind: str = "gnn"


class GraphNetwork(LatentModel):
    """``gnn``, ``r-gcn``: label-free layers and a linear head. ``unimp``: context labels are one more input of the first
    layer, and training asks for the labels that are hidden (masked label prediction).

    There is no latent variable: z has width 0, and all objectives reduce to the cross-entropy of the scored nodes.
    """

    config: GraphNetworkConfig

    def __init__(self, config: GraphNetworkConfig) -> None:
        super().__init__(config)
        self.layers = Stack(
            config.num_features,
            config.layers,
            config.num_classes,
            norm=config.norm,
            mean=config.messages == "mean",
            relations=config.relations,
        )
        self.head = nn.Linear(self.layers.out_width, self.likelihood.outputs(config.num_classes))

    @property
    def sees_own_label(self) -> bool:  # type: ignore[override]
        return "join" in self.config.layers

    def represent(self, x: Tensor, neighbours: Neighbours) -> Tensor:
        return x

    def latent(self, reading: Reading, shown: Tensor) -> Normal:
        nothing = reading.nodes.new_zeros(reading.episode.num_graphs, shown.size(1), 0)
        return Normal(nothing, nothing, validate_args=False)

    def decode(self, reading: Reading, z: Tensor, query: Tensor) -> Tensor:
        shown = reading.episode.shown().unsqueeze(1) if self.sees_own_label else None
        return self.head(self.layers(reading.nodes, reading.neighbours, shown, rows=query))
