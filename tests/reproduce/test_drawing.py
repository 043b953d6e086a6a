"""The picture of a model has a box for every layer that it has, and says where labels and z come in."""

from __future__ import annotations

import pytest

from mpnp.models.configs import build, config
from mpnp.models.neural_process import NeuralProcess
from mpnp.reproduce.drawing import decoder_boxes, encoder_boxes, latent_boxes, model_figure
from mpnp.tasks import get_task


def model(name: str, task: str, recipe: str = "paper") -> NeuralProcess:
    found = build(config(name, get_task(task), recipe))
    assert isinstance(found, NeuralProcess)
    return found


def test_boxes_are_the_layers_of_the_papers_mpnp() -> None:
    shapes = model("mpnp", "shapenet/table")
    assert [box.text for box in encoder_boxes(shapes)[1:]] == ["Linear 64, ReLU", "MP 64, ReLU", "MP 64, ReLU"]
    assert [box.text for box in latent_boxes(shapes)] == [
        "mean of r over the context", "Linear 128", "Linear 128, ReLU", "μ, σ: Linear 256 each", "z ~ Normal(μ, σ) [256]",
    ]  # fmt: skip
    assert decoder_boxes(shapes)[-1].text == "ŷ ~ Normal(softmax μ, σ)"
    assert [box.beside != "" for box in decoder_boxes(shapes)].index(True) == 1


def test_an_automaton_reads_z_after_the_maxout() -> None:
    boxes = decoder_boxes(model("mpnp-c", "ca/small-world"))
    after = next(i for i, box in enumerate(boxes) if box.beside)
    assert boxes[after - 1].text == "Maxout 64" and "z" in boxes[after].beside
    assert "per class" in latent_boxes(model("mpnp-c", "ca/small-world"))[0].text


@pytest.mark.parametrize("recipe", ["paper", "default"])
def test_the_figure_has_every_box(recipe: str) -> None:
    automaton = model("mpnp-c", "ca/small-world", recipe)
    texts = {text.get_text() for text in model_figure(automaton).axes[0].texts}
    for boxes in (encoder_boxes(automaton), latent_boxes(automaton), decoder_boxes(automaton)):
        assert {box.text for box in boxes} <= texts
