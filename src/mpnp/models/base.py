"""What every model that learns offers to objectives, training and evaluation, with or without a latent variable."""

import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, get_type_hints

import torch
import torch.nn as nn
from safetensors.torch import load_model, save_model
from torch import Tensor
from torch.distributions import Normal

from ..defaults import SAMPLES
from ..episode import Episode
from ..errors import UserError
from ..files import write_json
from ..nn.features import spread
from ..nn.likelihoods import LIKELIHOODS, Likelihood
from ..nn.neighbours import Neighbours
from ..prediction import Prediction
from ..progress import counted

if TYPE_CHECKING:
    from .calibration import Calibration

FEATURES = "features.json"  # in a model's folder: the names of its features
PART = 2**21  # numbers in a tensor at once while predicting: they stay in the cache, and memory stays bounded
MOST_HELD = 2**27  # numbers that a gradient may need at once
MOST_ANSWERS = 2**26  # samples of class probabilities at once


def in_parts(rows: int, width: int, work: Callable[[slice], Tensor], dim: int = 0) -> Tensor:
    """``work`` on all rows, ``width`` numbers each; without gradients part by part, in bounded memory.

    With gradients all at once, unless that is very much: then part by part too, each done again in the backward pass.
    """
    if torch.is_grad_enabled():
        size = max(1, MOST_HELD // max(width, 1))
        if rows <= size:
            return work(slice(0, rows))
        from torch.utils.checkpoint import checkpoint

        starts = range(0, rows, size)
        again = [checkpoint(work, slice(at, min(at + size, rows)), use_reentrant=False) for at in starts]
        return torch.cat(again, dim)
    size = max(1, PART // max(width, 1))
    first = work(slice(0, min(size, rows)))
    if rows <= size:
        return first
    shape = list(first.shape)
    shape[dim] = rows
    whole = first.new_empty(shape)
    whole.narrow(dim, 0, size).copy_(first)
    for start in counted(range(size, rows, size), (rows - 1) // size):
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


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Dropout and the like off within the block; every part of the model is afterwards in the mode it was in."""
    training = [part for part in model.modules() if part.training]
    model.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True


class Model(nn.Module, ABC):
    """A distribution over the labels of some nodes, given a graph and the labels shown on it.

    A model is a subclass of :class:`LatentModel`, or, without a latent variable, of :class:`Network`.

    ``sees_own_label``: see :class:`~mpnp.prediction.Predictor`; ``any_classes``, ``any_features``: whether it answers other
    numbers of them than it was made for; ``leaves_one_out``: whether it predicts every context node as if its label were
    not given; ``has_latent``: whether it is a :class:`LatentModel` whose latent is not switched off.

    ``calibration``: a temperature for all predictions, and sets of labels; ``feature_names``: how the features are called
    that it was trained with, where they have names; ``learned``: the fingerprint of the labels of a user's graphs that it was
    trained on. None is part of the configuration nor of the weights.

    Dimensions: N nodes, B graphs, C classes, Q queried nodes, P label sets shown, K latent samples.
    """

    config: ModelConfig
    calibration: "Calibration | None" = None
    feature_names: list[str] | None = None
    learned: str | None = None
    sees_own_label = False
    any_classes = False
    leaves_one_out = False
    any_features = False
    has_latent = False

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
        self.x_scale.copy_(spread(x))

    def read(self, episode: Episode) -> Reading:
        neighbours = Neighbours(episode.graph)
        x = (episode.graph.x - self.x_mean) / self.x_scale
        return Reading(episode, neighbours, x, self.represent(x, neighbours))

    def represent(self, x: Tensor, neighbours: Neighbours) -> Tensor:
        """Label-free node representations, [N, F] → [N, …]; the features themselves, unless a model makes more of them."""
        return x

    @abstractmethod
    def outputs(self, reading: Reading, query: Tensor, samples: int, seed: int) -> Tensor:
        """Likelihood outputs at the nodes ``query`` [Q], in rising order, from the context alone: [Q, K, outputs]."""

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

    @torch.no_grad()
    def predict(
        self, episode: Episode, *, samples: int = SAMPLES, seed: int = 0, nodes: Tensor | None = None
    ) -> Prediction:
        """Predict every node, or only ``nodes`` [Q], on the device that the model is on."""
        self.check(episode)
        home, device = episode.y.device, self.x_mean.device
        if home != device:  # asked on one device, computed on the model's, answered where it was asked
            asked = None if nodes is None else nodes.to(device)
            return self.predict(episode.to(device), samples=samples, seed=seed, nodes=asked).to(home)
        with evaluating(self):
            reading = self.read(episode)
            everything = torch.arange(episode.num_nodes, device=reading.x.device)
            query, order = (everything if nodes is None else nodes).sort()
            return self.answers(reading, query, samples, seed).at(None if nodes is None else order.argsort())

    def answers(self, reading: Reading, query: Tensor, samples: int, seed: int) -> Prediction:
        """What :meth:`outputs` at the nodes ``query`` [Q] say, in bounded memory."""
        classes = reading.episode.num_classes
        some = max(1, MOST_ANSWERS // (samples * classes))
        answers = [self._answer(self.outputs(reading, part, samples, seed)) for part in query.split(some)]
        return answers[0] if len(answers) == 1 else Prediction.join(answers, classes)

    def _answer(self, out: Tensor) -> Prediction:
        """What likelihood outputs [Q, K, outputs] say."""
        out = out.transpose(0, 1)
        return Prediction.from_samples(self.likelihood.probabilities(out), self.likelihood.scale(out), self.temperature)

    @property
    def temperature(self) -> float:
        return 1.0 if self.calibration is None else self.calibration.temperature

    @classmethod
    def from_pretrained(cls, folder: Path | str) -> Self:
        """The model of this class in ``folder``, in the mode for predicting; :func:`mpnp.from_pretrained` finds out the class."""
        kind = get_type_hints(cls.__init__)["config"]
        stored = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
        known = {each.name for each in fields(kind)}  # another version's further fields change nothing here
        model = cls(kind(**{name: value for name, value in stored.items() if name in known}))
        load_model(model, Path(folder) / "model.safetensors", strict=True)
        return model.eval()

    def save_pretrained(self, folder: Path | str) -> None:
        """Write ``config.json``, ``model.safetensors`` and, once calibrated, ``calibration.json`` into ``folder``."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        config = json.dumps(asdict(self.config), sort_keys=True, indent=2)
        (folder / "config.json").write_text(config, encoding="utf-8")
        save_model(self, str(folder / "model.safetensors"))
        shutil.copymode(
            folder / "config.json", folder / "model.safetensors"
        )  # which safetensors lets only its owner read
        if self.feature_names:
            write_json(folder / FEATURES, self.feature_names)
        if self.calibration is not None:
            self.calibration.write(folder)

    def extra_repr(self) -> str:
        return f"name={self.name!r}, parameters={sum(p.numel() for p in self.parameters()):,}"


class Network(Model):
    """p(y | x, edges, labels shown): a network without a latent variable.

    To train one of your own, subclass it and hand an instance to ``fit``::

        class MyNetwork(Network):
            def __init__(self, config: ModelConfig) -> None:
                super().__init__(config)
                self.conv = GCNConv(config.num_features, config.num_classes)

            def logits(self, reading: Reading, query: Tensor) -> Tensor:
                return self.conv(reading.x, reading.episode.graph.edge_index)[query]

    One that reads the context's labels, ``reading.episode.shown()``, sets ``sees_own_label = True``.
    """

    @abstractmethod
    def logits(self, reading: Reading, query: Tensor) -> Tensor:
        """Likelihood outputs at the nodes ``query`` [Q], in rising order: [Q, outputs]."""

    def outputs(self, reading: Reading, query: Tensor, samples: int, seed: int) -> Tensor:
        return self.logits(reading, query).unsqueeze(1)


class LatentModel(Model):
    """q(z | labels shown) and p(y | x, edges, z)."""

    has_latent = True

    @abstractmethod
    def latent(self, reading: Reading, shown: Tensor) -> Normal:
        """q(z | shown) for each of P sets of labels: [N, P, C] one-hot, zeros where hidden → Normal over [B, P, …]."""

    @abstractmethod
    def decode(self, reading: Reading, z: Tensor | None, query: Tensor) -> Tensor:
        """Likelihood outputs at the nodes ``query`` [Q], in rising order, for K latent samples: [B, K, …] → [Q, K, outputs].

        ``z`` is ``None``, and K 1, where the latent is switched off.
        """

    def outputs(self, reading: Reading, query: Tensor, samples: int, seed: int) -> Tensor:
        return self.decode(reading, self.drawn(reading, samples, seed) if self.has_latent else None, query)

    def drawn(self, reading: Reading, samples: int, seed: int) -> Tensor:
        """Latents given the context, [B, K, …]. The same noise serves all graphs, so that one is predicted alike in any batch."""
        prior = self.latent(reading, reading.episode.shown().unsqueeze(1))
        chance = torch.Generator().manual_seed(seed)  # of the processor, so that noise is the same on every device
        noise = torch.randn(samples, *prior.loc.shape[2:], generator=chance, device="cpu")
        return prior.loc + prior.scale * noise.to(prior.loc)
