"""A predictor that cheats where it can."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from mpnp.defaults import SAMPLES
from mpnp.episode import Episode
from mpnp.prediction import Prediction


@dataclass
class Parrot:
    """Repeats the label of every node that shows one and knows nothing of the others (so says class 0, at even odds)."""

    sees_own_label: bool
    name: str = "parrot"
    asked: list[tuple[Tensor, Tensor]] = field(default_factory=list)  # context and queried nodes of every call

    def predict(
        self, episode: Episode, *, samples: int = SAMPLES, seed: int = 0, nodes: Tensor | None = None
    ) -> Prediction:
        shown = episode.shown()
        even = torch.full_like(shown, 1 / episode.num_classes)
        assert nodes is not None
        self.asked.append((episode.context, nodes))
        return Prediction.certain(torch.where(shown.sum(1, keepdim=True) > 0, shown, even)).at(nodes)
