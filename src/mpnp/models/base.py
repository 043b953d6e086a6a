"""What every model with a latent variable offers to objectives, training and evaluation."""

# No postponed annotations here and in the subclasses: the hub mixin looks at the type of ``config``.
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import torch
import torch.nn as nn
from huggingface_hub import PyTorchModelHubMixin
from torch import Tensor
from torch.distributions import Normal

from ..defaults import SAMPLES
from ..episode import Episode
from ..errors import UserError
from ..nn.likelihoods import LIKELIHOODS, Likelihood
from ..nn.neighbours import Neighbours
from ..prediction import Prediction

if TYPE_CHECKING:
    from .calibration import Calibration

PART = 2**21  # numbers in a tensor at once while predicting: they stay in the cache, and memory stays bounded


def in_parts(rows: int, width: int, work: Callable[[slice], Tensor], dim: int = 0) -> Tensor:
    """``work`` on all rows, ``width`` numbers each; without gradients part by part, in bounded memory."""
    size = rows if torch.is_grad_enabled() else max(1, PART // max(width, 1))
    first = work(slice(0, min(size, rows)))
    if rows <= size:
        return first
    shape = list(first.shape)
    shape[dim] = rows
    whole = first.new_empty(shape)
    whole.narrow(dim, 0, size).copy_(first)
    for start in range(size, rows, size):
        part = work(slice(start, min(start + size, rows)))
        whole.narrow(dim, start, part.size(dim)).copy_(part)
    return whole


@dataclass
class ModelConfig:
    """What every configuration holds: the sizes of the data, and where the model comes from.

    ``name``: the preset; ``task``: what it was trained on; ``class_names``: how the classes are called in output.
    """

    num_features: int
    num_classes: int
    name: str = "model"
    task: str = ""
    class_names: list[str] = field(default_factory=list)
    likelihood: Literal["categorical", "gaussian"] = "categorical"
    kind: str = ""


@dataclass
class Reading:
    """All of an episode that depends on no label: computed once, used for every latent and every decoding.

    Shapes: ``x`` [N, F] standardised features, ``nodes`` [N, …] whatever the model makes of them.
    """

    episode: Episode
    neighbours: Neighbours
    x: Tensor
    nodes: Tensor


class LatentModel(
    nn.Module,
    PyTorchModelHubMixin,
    ABC,
    library_name="mpnp",
    tags=["graph-ml", "neural-process"],
    license="mit",
):
    """q(z | labels shown) and p(y | x, edges, z).

    ``calibration``: a temperature for all predictions, and sets of labels; no part of the configuration nor of the weights.

    Dimensions: N nodes, B graphs, C classes, Q queried nodes, P label sets shown, K latent samples.
    """

    config: ModelConfig
    calibration: "Calibration | None" = None
    sees_own_label = False

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.likelihood: Likelihood = LIKELIHOODS[config.likelihood]()
        self.register_buffer("x_mean", torch.zeros(config.num_features))
        self.register_buffer("x_scale", torch.ones(config.num_features))
        self.x_mean: Tensor
        self.x_scale: Tensor

    @property
    def name(self) -> str:
        return self.config.name

    def standardise_by(self, x: Tensor) -> None:
        """Take the mean and spread of training features [N, F] as the model's own standardisation."""
        self.x_mean.copy_(x.mean(0))
        spread = x.std(0, unbiased=False)
        self.x_scale.copy_(torch.where(spread > 1e-6, spread, torch.ones_like(spread)))

    def read(self, episode: Episode) -> Reading:
        neighbours = Neighbours(episode.graph)
        x = (episode.graph.x - self.x_mean) / self.x_scale
        return Reading(episode, neighbours, x, self.represent(x, neighbours))

    @abstractmethod
    def represent(self, x: Tensor, neighbours: Neighbours) -> Tensor:
        """Label-free node representations, [N, F] → [N, …]."""

    @abstractmethod
    def latent(self, reading: Reading, shown: Tensor) -> Normal:
        """q(z | shown) for each of P sets of labels: [N, P, C] one-hot, zeros where hidden → Normal over [B, P, …]."""

    @abstractmethod
    def decode(self, reading: Reading, z: Tensor, query: Tensor) -> Tensor:
        """Likelihood outputs at the nodes ``query`` [Q], in rising order, for K latent samples: [B, K, …] → [Q, K, outputs]."""

    def scored(self, episode: Episode) -> Tensor:
        """The nodes whose label the training loss asks for, [Q]: all targets, or only those not in the context."""
        mask = episode.unlabelled_targets if self.sees_own_label else episode.target
        return mask.nonzero().squeeze(1)

    def check(self, episode: Episode) -> None:
        given, expected = episode.graph.x.size(1), self.config.num_features
        if given != expected:
            raise UserError(
                f"The graph has {given} features per node, but the model is made for {expected}; "
                "give the same features in the same order."
            )
        if not self.any_classes and episode.num_classes != self.config.num_classes:
            raise UserError(
                f"The episode has {episode.num_classes} classes, but '{self.name}' is made for "
                f"{self.config.num_classes}; the 'ampnp' model answers any number of classes."
            )

    any_classes = False

    @torch.no_grad()
    def predict(
        self, episode: Episode, *, samples: int = SAMPLES, seed: int = 0, nodes: Tensor | None = None
    ) -> Prediction:
        """Predict every node, or only ``nodes`` [Q].

        The same latent noise serves all graphs, so that a graph is predicted alike in any batch.
        """
        self.check(episode)
        self.eval()
        reading = self.read(episode)
        prior = self.latent(reading, episode.shown().unsqueeze(1))
        noise = torch.randn(samples, *prior.loc.shape[2:], generator=torch.Generator().manual_seed(seed))
        z = prior.loc + prior.scale * noise.to(prior.loc)
        everything = torch.arange(episode.num_nodes, device=z.device)
        query, order = (everything if nodes is None else nodes).sort()
        out = self.decode(reading, z, query).transpose(0, 1)
        temperature = 1.0 if self.calibration is None else self.calibration.temperature
        likelihood = self.likelihood
        prediction = Prediction.from_samples(likelihood.probabilities(out), likelihood.scale(out), temperature)
        return prediction.at(order.argsort())

    def _save_pretrained(self, save_directory: Path) -> None:
        """What the hub mixin calls to write a folder, also before it is pushed."""
        super()._save_pretrained(save_directory)
        if self.calibration is not None:
            self.calibration.write(save_directory)

    def extra_repr(self) -> str:
        return f"name={self.name!r}, parameters={sum(p.numel() for p in self.parameters()):,}"
