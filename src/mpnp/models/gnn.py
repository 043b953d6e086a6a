"""Graph networks without a latent variable: the paper's inductive baselines, and one that reads the context."""

from dataclasses import dataclass
from typing import Literal

import torch.nn as nn
from torch import Tensor

from ..nn.backbones import Nodes, Stack
from .base import ModelConfig, Network, Reading


@dataclass
class GraphNetworkConfig(ModelConfig):
    """``layers`` in the words of :mod:`mpnp.nn.backbones`; with 'join' among them the context labels are an input."""

    layers: tuple[str, ...] = ("gcn:64", "gcn:64", "gcn:64")
    messages: Literal["sum", "mean"] = "mean"
    norm: bool = False
    relations: int = 1
    kind: str = "gnn"


class GraphNetwork(Network):
    """``gnn``, ``r-gcn``: label-free layers and a linear head. ``unimp``: context labels are one more input of the first
    layer, and training asks for the labels that are hidden (masked label prediction).
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

    def logits(self, reading: Reading, query: Tensor) -> Tensor:
        shown = reading.episode.shown().unsqueeze(1) if self.sees_own_label else None
        return self.head(self.layers(reading.nodes, reading.neighbours, shown, chosen=Nodes(query))).squeeze(1)
