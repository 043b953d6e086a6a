"""The paper's models: one latent vector per graph between an encoder and a decoder, with or without message passing."""

from dataclasses import dataclass
from typing import Literal

import torch.nn as nn
from torch import Tensor
from torch.distributions import Normal

from ..errors import UserError
from ..nn.aggregators import Aggregator
from ..nn.backbones import Nodes, Pairs, Stack
from ..nn.latent import LatentHead
from ..nn.likelihoods import GaussianLikelihood
from .base import LatentModel, ModelConfig, Reading, in_parts


@dataclass
class NeuralProcessConfig(ModelConfig):
    """``encoder`` and ``decoder`` in the words of :mod:`mpnp.nn.backbones`; 'join' marks where labels and z come in.

    ``by_class``, ``keep_share``, ``reduction``: how the context is summarised (:class:`mpnp.nn.aggregators.Aggregator`).
    ``spread``: what the heads of z and, under a Gaussian likelihood, of the label give: a standard deviation or a variance.
    """

    encoder: tuple[str, ...] = ("join", "linear:64", "mp:64", "mp:64", "out:128")
    decoder: tuple[str, ...] = ("join", "linear:64", "mp:64", "mp:64", "linear:64")
    r_width: int = 128
    z_width: int = 256
    by_class: bool = False
    keep_share: bool = False
    reduction: Literal["mean", "max"] = "mean"
    messages: Literal["sum", "mean"] = "sum"
    norm: bool = False
    relations: int = 1
    spread: Literal["deviation", "variance"] = "deviation"
    kind: str = "neural-process"


class NeuralProcess(LatentModel):
    r"""NP, NP-c, MPNP, MPNP-c and R-MPNP: what differs is in the configuration.

    .. math::
        r_i = h(x_i \,\|\, y_i), \quad r = a(\{r_i\}_{i \in C}), \quad z \sim \mathcal N(\mu(r), \sigma(r)), \quad
        \hat y_i = g(x_i \,\|\, z)

    with h and g stacks of linear and message passing layers over the whole graph, and zeros in place of hidden labels.
    """

    config: NeuralProcessConfig

    def __init__(self, config: NeuralProcessConfig) -> None:
        super().__init__(config)
        options = {"norm": config.norm, "mean": config.messages == "mean", "relations": config.relations}
        classes = config.num_classes
        for part, words, what in (("encoder", config.encoder, "the labels"), ("decoder", config.decoder, "z")):
            if "join" not in words:
                raise UserError(f"The {part} never reads {what}; put 'join' before one of {', '.join(words)}.")
        if config.z_width < 1:
            raise UserError("z_width = 0 was given, at least 1 is expected: without z there is no neural process.")
        *inner, last = config.encoder
        commutes = last.startswith("out:") and config.reduction == "mean"
        self.encoder = Stack(config.num_features, inner if commutes else config.encoder, classes, **options)  # type: ignore[arg-type]
        self.aggregator = Aggregator(
            self.encoder.out_width,
            classes,
            config.by_class,
            config.reduction,
            config.keep_share,
            project=int(last.removeprefix("out:")) if commutes else None,
        )
        variance = config.spread == "variance"
        self.latent_head = LatentHead(self.aggregator.out_width, config.r_width, config.z_width, variance)
        if variance and config.likelihood == "gaussian":
            self.likelihood = GaussianLikelihood(variance)
        self.decoder = Stack(config.num_features, config.decoder, config.z_width, **options)  # type: ignore[arg-type]
        self.head = nn.Linear(self.decoder.out_width, self.likelihood.outputs(classes))

    def latent(self, reading: Reading, shown: Tensor) -> Normal:
        episode, sets = reading.episode, shown.size(1)
        pairs = shown.sum(-1).flatten().nonzero().squeeze(1)  # (node, label set) where a label is shown
        r = self.encoder(reading.nodes, reading.neighbours, shown, chosen=Pairs(pairs, sets)).squeeze(1)
        group = episode.batch[pairs // sets] * sets + pairs % sets
        summary = self.aggregator(r, shown.flatten(0, 1)[pairs], group, episode.num_graphs * sets)
        return self.latent_head(summary.view(episode.num_graphs, sets, -1))

    def decode(self, reading: Reading, z: Tensor | None, query: Tensor) -> Tensor:
        assert z is not None  # this family always has one
        graph, width = reading.episode.batch, reading.episode.num_nodes * self.decoder.out_width

        def decode(samples: slice) -> Tensor:
            return self.head(self.decoder(reading.nodes, reading.neighbours, z[:, samples], graph, Nodes(query)))

        return in_parts(z.size(1), width, decode, dim=1)
