"""The paper's first figure, drawn from a model's own modules: what is in the picture is what is computed."""

from __future__ import annotations

from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from ..models.neural_process import NeuralProcess
from ..nn.backbones import WITH_RELU, Stack, Word
from ..nn.likelihoods import GaussianLikelihood

INPUT, LAYER, POOL, LATENT, OUTPUT = "#E8EEF7", "#FFFFFF", "#FDF0D9", "#F1E4F6", "#E3F3E6"
NAMES = {"linear": "Linear", "mp": "MP", "r-mp": "R-MP", "gcn": "GCN", "maxout": "Maxout", "out": "Linear"}


class Box(NamedTuple):
    """One step of the computation; ``beside``: what else comes in there."""

    text: str
    colour: str
    beside: str = ""


def model_figure(model: NeuralProcess) -> Figure:
    """Three columns: the encoder h over the context, the aggregator a and the latent z, the decoder g over the targets."""
    columns = [
        (f"encoder h, {_sizes(model.encoder)}", encoder_boxes(model)),
        ("aggregator a and latent z", latent_boxes(model)),
        (f"decoder g, {_sizes(model.decoder)}", decoder_boxes(model)),
    ]
    rows = max(len(boxes) for _, boxes in columns)
    figure = Figure(figsize=(10.5, 0.62 * rows + 1.0), layout="constrained")
    axis = figure.subplots()
    for column, (title, boxes) in enumerate(columns):
        x, first = 3.6 * column, 0.5 * (rows - len(boxes))
        axis.text(x, 1.0, title, ha="center", fontsize=10, fontweight="bold")
        for i, box in enumerate(boxes):
            _draw(axis, x, -(first + i), box, last=i == len(boxes) - 1)
    for column in (0, 1):  # on to the next column
        start, end = columns[column][1], columns[column + 1][1]
        low, high = (
            -(0.5 * (rows - len(start)) + len(start) - 1),
            -(0.5 * (rows - len(end)) if column == 0 else _joined(rows, end)),
        )
        style = {"arrowstyle": "-|>", "color": "#5A6472", "connectionstyle": "arc3,rad=0.0"}
        axis.annotate("", (3.6 * (column + 1) - 1.35, high), (3.6 * column + 1.35, low), arrowprops=style)
    axis.set(xlim=(-1.9, 9.1), ylim=(-rows + 0.3, 1.5))
    axis.set_axis_off()
    return figure


def encoder_boxes(model: NeuralProcess) -> list[Box]:
    layers = [_layer(word, "y of the context, else 0") for word in model.encoder.words]
    return [Box(f"x of every node [{model.config.num_features}]", INPUT), *layers]


def latent_boxes(model: NeuralProcess) -> list[Box]:
    config, pool = model.config, model.aggregator
    how = f"{config.reduction} of r over the context"
    if config.by_class:
        how = f"{config.reduction} of r per class, side by side"
    boxes = [Box(how, POOL)]
    if pool.project is not None:
        boxes.append(Box(f"Linear {pool.project.out_features}", LAYER))
    head = model.latent_head
    boxes.append(Box(f"Linear {head.hidden.out_features}, ReLU", LAYER))
    boxes.append(Box(f"μ, σ: Linear {head.mean.out_features} each", LAYER))
    return [*boxes, Box(f"z ~ Normal(μ, σ) [{head.mean.out_features}]", LATENT)]


def decoder_boxes(model: NeuralProcess) -> list[Box]:
    layers = [_layer(word, "z") for word in model.decoder.words]
    answer = (
        "ŷ ~ Normal(softmax μ, σ)" if isinstance(model.likelihood, GaussianLikelihood) else "ŷ ~ Categorical(softmax)"
    )
    head = Box(f"Linear {model.head.out_features}", LAYER)
    return [Box(f"x of every node [{model.config.num_features}]", INPUT), *layers, head, Box(answer, OUTPUT)]


def _layer(word: Word, beside: str) -> Box:
    name = f"{NAMES[word.kind]} {word.width}{', ReLU' if word.kind in WITH_RELU else ''}"
    return Box(name, LAYER, f"‖ {beside}" if word.joined else "")


def _joined(rows: int, boxes: list[Box]) -> float:
    """The height of the layer that reads z."""
    return 0.5 * (rows - len(boxes)) + next(i for i, box in enumerate(boxes) if box.beside)


def _sizes(stack: Stack) -> str:
    return f"{sum(parameter.numel() for parameter in stack.parameters()):,} weights"


def _draw(axis: object, x: float, y: float, box: Box, last: bool) -> None:
    patch = FancyBboxPatch(
        (x - 1.25, y - 0.28), 2.5, 0.56, boxstyle="round,pad=0.02,rounding_size=0.08", facecolor=box.colour, edgecolor="#5A6472", lw=0.9
    )  # fmt: skip
    axis.add_patch(patch)  # type: ignore[attr-defined]
    axis.text(x, y + (0.1 if box.beside else 0), box.text, ha="center", va="center", fontsize=8.5)  # type: ignore[attr-defined]
    if box.beside:
        axis.text(x, y - 0.15, box.beside, ha="center", va="center", fontsize=7, color="#8A3FA0")  # type: ignore[attr-defined]
    if not last:
        style = {"arrowstyle": "-|>", "color": "#5A6472"}
        axis.annotate("", (x, y - 0.7), (x, y - 0.3), arrowprops=style)  # type: ignore[attr-defined]
