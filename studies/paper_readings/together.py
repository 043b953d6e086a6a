"""Several readings of the paper's automaton models trained side by side, on the same episodes.

In these models message passing comes first, on two features and two labels per node. What a node sees of its neighbours can
therefore be summed for a whole epoch at once, after which encoder and decoder are networks of single nodes. Weights of M models
are stacked, so that a step of one graph, most of whose time goes into starting operations, costs little more for M than for one.

The loss and its gradient are those of ``mpnp.training.objectives.elbo`` on ``mpnp.models.NeuralProcess``: a test holds them equal.

Shapes: M models, R rows (nodes that encoder or decoder look at), 2 classes, 2 features.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from scipy import sparse
from torch import Tensor, nn

from mpnp.episode import Episode, Sampling, sample_episode
from mpnp.models import configs
from mpnp.models.neural_process import NeuralProcess, NeuralProcessConfig
from mpnp.tasks.base import Task

CLASSES = 2
KINDS = (
    "share",
    "own",
    "plain",
)  # how a context is summarised: by class over all nodes, by class over its own, one mean


@dataclass(frozen=True)
class Reading:
    """One way to read the paper: what it leaves open, filled in."""

    graphs: int = 1
    by_class: bool = True
    keep_share: bool = True
    spread: str = "deviation"
    messages: str = "sum"
    standardise: bool = False
    learning_rate: float = 1e-4
    seed: int = 0

    @property
    def kind(self) -> str:
        return "plain" if not self.by_class else "share" if self.keep_share else "own"

    def configuration(self, task: Task) -> NeuralProcessConfig:
        configuration = configs.config("mpnp", task, "paper")
        assert isinstance(configuration, NeuralProcessConfig)
        configuration.by_class = self.by_class
        configuration.keep_share = self.keep_share and self.by_class
        configuration.messages = self.messages  # type: ignore[assignment]
        configuration.spread = self.spread  # type: ignore[assignment]
        return configuration

    def model(self, task: Task) -> NeuralProcess:
        """The library's model, as it starts."""
        torch.manual_seed(self.seed)
        model = NeuralProcess(self.configuration(task))
        if self.standardise:
            model.standardise_by(task.graphs("train").x)
        return model


class Lesson(NamedTuple):
    """One graph as the models see it: rows of the context and of all targets, the context's first.

    ``context`` [V, C, 8], ``target`` [V, T, 8]: features, labels, and both summed over neighbours, in V versions (standardised,
    averaged); ``label`` [T].
    """

    context: Tensor
    target: Tensor
    label: Tensor


class Lessons:
    """The training graphs of a task, with contexts drawn for an epoch at a time."""

    def __init__(self, task: Task, versions: Sequence[tuple[bool, bool]], sampling: Sampling) -> None:
        graphs = task.graphs("train")
        self.classes, self.sampling, self.graphs = task.num_classes, sampling, len(graphs)
        self.graph = graphs.select(torch.arange(len(graphs)))
        edges = self.graph.edge_index.as_tensor().numpy()
        nodes = self.graph.x.size(0)
        self.adjacency = sparse.csr_array(
            (np.ones(edges.shape[1], dtype=np.float32), (edges[1], edges[0])), shape=(nodes, nodes)
        )
        self.degree = torch.from_numpy(self.adjacency.sum(1)).float().clamp(min=1).unsqueeze(1)
        self.versions = tuple(versions)
        mean, scale = self.graph.x.mean(0), self.graph.x.std(0, unbiased=False)
        self.features = [self._both((self.graph.x - mean) / scale if standardise else self.graph.x, average)
                         for standardise, average in self.versions]  # fmt: skip

    def epoch(self, number: int) -> Iterator[Lesson]:
        """Every graph once, in a new order with a new context."""
        generator = torch.Generator().manual_seed(number)
        order = torch.randperm(self.graphs, generator=generator)
        yield from self.of(sample_episode(self.graph, self.classes, self.sampling, generator), order.tolist())

    def of(self, episode: Episode, order: Sequence[int]) -> Iterator[Lesson]:
        contexts, targets = episode.shown(), episode.shown(episode.target)
        rows = episode.target.nonzero().squeeze(1)
        rows = rows[(2 * episode.batch[rows] + (~episode.context[rows]).long()).argsort(stable=True)]
        sizes = torch.bincount(episode.batch[rows], minlength=self.graphs)
        shown = torch.bincount(episode.batch[episode.context], minlength=self.graphs).tolist()
        stops = [0, *sizes.cumsum(0).tolist()]
        whole = [
            torch.stack([
                torch.cat([own[rows], labels[rows], around[rows], label_sum[rows]], 1)
                for (own, around), (_, average) in zip(self.features, self.versions, strict=True)
                for label_sum in [self._both(labels, average)[1]]
            ])
            for labels in (contexts, targets)
        ]  # fmt: skip
        label = episode.y[rows]
        for graph in order:
            start, stop = stops[graph], stops[graph + 1]
            yield Lesson(whole[0][:, start : start + shown[graph]], whole[1][:, start:stop], label[start:stop])

    def _both(self, values: Tensor, average: bool) -> tuple[Tensor, Tensor]:
        """Values [N, w] and their sum, or mean, over neighbours."""
        around = torch.from_numpy(self.adjacency @ values.numpy())
        return values, around / self.degree if average else around


class Together:
    """The stacked weights of M models, their loss, and Adam for each."""

    def __init__(
        self, readings: Sequence[Reading], models: Sequence[NeuralProcess], versions: Sequence[tuple[bool, bool]]
    ) -> None:
        self.readings, self.models = tuple(readings), tuple(models)
        self.version = torch.tensor([versions.index((r.standardise, r.messages == "mean")) for r in readings])
        self.kind = torch.tensor([KINDS.index(r.kind) for r in readings])
        self.variance = torch.tensor([r.spread == "variance" for r in readings]).view(-1, 1, 1)
        shapes = {name: _widened(name, p).shape for name, p in models[0].named_parameters()}
        width = sum(shape.numel() for shape in shapes.values())
        self.flat, self.gradient = torch.zeros(len(models), width), torch.zeros(len(models), width)
        self.first, self.second = torch.zeros_like(self.flat), torch.zeros_like(self.flat)
        self.steps, self.scored, self.seen = [0] * len(models), [0] * len(models), [0] * len(models)
        self.weights: dict[str, Tensor] = {}
        start = 0
        for name, shape in shapes.items():
            place = slice(start, start := start + shape.numel())
            weight = self.flat[:, place].view(-1, *shape).detach()
            for m, model in enumerate(models):
                weight[m] = _widened(name, model.get_parameter(name).detach())
            weight.grad = self.gradient[:, place].view(-1, *shape)
            self.weights[name] = weight.requires_grad_()

    def loss(self, lesson: Lesson, noise: Tensor) -> Tensor:
        """−Σ_T log p(y | z) + KL(q(z | T) ‖ q(z | C)) of every model on one graph, [M]; ``noise`` [M, 1, z]."""
        rows = torch.cat([lesson.context, lesson.target], 1)[self.version]
        r = self._encode(rows)
        summary = self._summaries(r, lesson)
        hidden = self._linear(summary, "latent_head.hidden").relu()
        mean = self._linear(hidden, "latent_head.mean")
        scale = self._spread(0.1 + 0.9 * self._linear(hidden, "latent_head.scale").sigmoid())
        z = mean[:, 1:] + scale[:, 1:] * noise
        out = self._decode(lesson.target[self.version], z)
        middle, width = out.chunk(2, -1)
        middle, width = middle.softmax(-1), self._spread(0.1 + 0.9 * F.softplus(width))
        truth = F.one_hot(lesson.label, CLASSES).float()
        log_p = -0.5 * ((truth - middle) / width) ** 2 - width.log() - 0.5 * math.log(2 * math.pi)
        ratio = (scale[:, 1] / scale[:, 0]) ** 2
        shift = ((mean[:, 1] - mean[:, 0]) / scale[:, 0]) ** 2
        divergence = 0.5 * (ratio + shift - 1 - ratio.log())
        return divergence.sum(-1) - log_p.sum((1, 2))

    def learn(self, lesson: Lesson, generator: torch.Generator) -> None:
        """One graph more for everyone; who has seen as many as its reading says takes a step."""
        noise = torch.randn(len(self.models), 1, self.models[0].config.z_width, generator=generator)
        self.loss(lesson, noise).sum().backward()
        for m, reading in enumerate(self.readings):
            self.seen[m] += 1
            self.scored[m] += lesson.label.numel()
            if self.seen[m] == reading.graphs:
                self.step(m)

    @torch.no_grad()
    def step(self, m: int) -> None:
        """Adam as in the paper's recipe, on the loss per scored node."""
        if not self.seen[m]:
            return
        self.steps[m] += 1
        gradient, t = self.gradient[m].div_(self.scored[m]), self.steps[m]
        self.first[m].lerp_(gradient, 0.1)
        self.second[m].mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        spread = (self.second[m].sqrt() / math.sqrt(1 - 0.999**t)).add_(1e-8)
        self.flat[m].addcdiv_(self.first[m], spread, value=-self.readings[m].learning_rate / (1 - 0.9**t))
        gradient.zero_()
        self.seen[m] = self.scored[m] = 0

    @torch.no_grad()
    def model(self, m: int) -> NeuralProcess:
        """The library's model with the weights as they are now."""
        for name, parameter in self.models[m].named_parameters():
            parameter.copy_(_narrowed(self.weights[name][m], parameter))
        return self.models[m]

    def _spread(self, value: Tensor) -> Tensor:
        return torch.where(self.variance, value.sqrt(), value) if self.variance.any() else value

    def _linear(self, h: Tensor, name: str) -> Tensor:
        weight = self.weights[f"{name}.weight"].transpose(1, 2)
        bias = self.weights.get(f"{name}.bias")
        return torch.bmm(h, weight) if bias is None else torch.baddbmm(bias.unsqueeze(1), h, weight)

    def _observe(self, h: Tensor, part: str) -> Tensor:
        """From the message passing layer to the Maxout."""
        for i in (1, 2, 3):
            h = self._linear(h, f"{part}.layers.{i}").relu()
        return torch.maximum(*self._linear(h, f"{part}.layers.4.pieces").chunk(2, -1))

    def _encode(self, rows: Tensor) -> Tensor:
        names = ("layers.0.skip", "joiners.0.skip", "layers.0.message", "joiners.0.message")
        weight = torch.cat([self.weights[f"encoder.{name}.weight"] for name in names], 2).transpose(1, 2)
        h = torch.baddbmm(self.weights["encoder.layers.0.skip.bias"].unsqueeze(1), rows, weight).relu()
        return self._linear(self._observe(h, "encoder"), "encoder.layers.5").relu()

    def _decode(self, rows: Tensor, z: Tensor) -> Tensor:
        weight = torch.cat([self.weights[f"decoder.layers.0.{name}.weight"] for name in ("skip", "message")], 2)
        bias = self.weights["decoder.layers.0.skip.bias"].unsqueeze(1)
        h = torch.baddbmm(bias, rows[..., [0, 1, 4, 5]], weight.transpose(1, 2)).relu()
        h = self._linear(self._observe(h, "decoder"), "decoder.layers.5") + self._linear(z, "decoder.joiners.5")
        for name in ("decoder.layers.6", "decoder.layers.7"):
            h = self._linear(h.relu(), name)
        return self._linear(h.relu(), "head")

    def _summaries(self, r: Tensor, lesson: Lesson) -> Tensor:
        """Of context and targets, [M, 2, 2 r]: per class, or the mean and zeros."""
        shown, asked = lesson.context.size(1), lesson.target.size(1)
        member = torch.zeros(2, CLASSES, shown + asked)
        one_hot = F.one_hot(lesson.label, CLASSES).float().t()
        member[0, :, :shown], member[1, :, shown:] = one_hot[:, :shown], one_hot
        count = member.sum(-1, keepdim=True)
        whole = torch.stack([member.sum(1), torch.zeros(2, shown + asked)], 1)
        size = torch.tensor([max(shown, 1), asked]).view(2, 1, 1)
        weights = torch.stack([member / size, member / count.clamp(min=1), whole / size])[self.kind]
        summary = torch.bmm(weights.flatten(1, 2), r).view(-1, 2, CLASSES, r.size(-1))
        absent = (count == 0).float() * (self.kind != KINDS.index("plain")).view(-1, 1, 1, 1)
        return (summary + absent * self.weights["aggregator.absent"].unsqueeze(1)).flatten(2)


def _widened(name: str, weight: Tensor) -> Tensor:
    """A plain mean's weights with room for two summaries."""
    if name == "aggregator.absent" and weight.size(0) == 1:
        return weight.repeat(CLASSES, 1)
    if name == "latent_head.hidden.weight" and weight.size(0) == weight.size(1):
        return torch.cat([weight, torch.zeros_like(weight)], 1)
    return weight


def _narrowed(weight: Tensor, like: nn.Parameter) -> Tensor:
    return weight[tuple(slice(size) for size in like.shape)]
