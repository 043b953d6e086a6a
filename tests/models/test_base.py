"""Models compute on the device of their own weights, wherever they are asked from.

A processor has no second device, but torch knows one that holds no numbers, ``meta``. As the default device it takes every
tensor that is made without saying where: one of those in a computation on the processor, and torch refuses.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.models import from_pretrained
from mpnp.models.base import Model, ModelConfig, Network, Reading
from mpnp.models.configs import MODELS, build, config
from mpnp.prediction import Prediction
from mpnp.training.objectives import objective

from .sizes import SizesOnly

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3, 4, 5], [1, 0, 2, 1, 3, 2, 5, 4]])


def graph(features: int = 5) -> Data:
    torch.manual_seed(0)
    y = torch.tensor([0, 1, 2, -1, 0, 1])
    return Data(x=torch.randn(6, features), edge_index=EDGES, y=y, edge_type=torch.arange(8) % 2)


def small(name: str) -> Model:
    torch.manual_seed(1)
    return build(config(name, SizesOnly("tud/enzymes", 5, 3, relations=2)))


@pytest.mark.parametrize("name", [name for name in MODELS if name != "universal"])
def test_no_tensor_is_made_without_saying_where(name: str) -> None:
    model, episode = small(name), Episode.from_graphs([graph()], context=torch.tensor([1, 1, 0, 0, 0, 1]).bool())
    episode = replace(episode, target=episode.y >= 0)
    expected = model.predict(episode, samples=2).probabilities
    with torch.device("meta"):
        found = model.predict(episode, samples=2)
        loss = objective("elbo" if model.has_latent else "likelihood", model, episode, 1).loss
    assert found.total.device.type == loss.device.type == "cpu"
    torch.testing.assert_close(found.probabilities, expected)


def test_universal_asks_experts_on_the_processor_and_weighs_on_its_device() -> None:
    session = from_pretrained("universal").open(graph())  # type: ignore[operator]
    question = session.ask(graph().y, 3)
    expected = session.answer(question, samples=2).probabilities
    with torch.device("meta"):
        found = session.answer(question, samples=2).probabilities
    torch.testing.assert_close(found, expected)
    moved = question.to(torch.device("meta"))
    tensors = [moved.context, moved.y, moved.evidence.log_p, moved.facts, moved.node, moved.kind, moved.told]
    assert {tensor.device.type for tensor in tensors} == {"meta"}


class Everywhere(Network):
    """Notes where it computes."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.layer = torch.nn.Linear(config.num_features, config.num_classes)
        self.seen: set[str] = set()

    def logits(self, reading: Reading, query: Tensor) -> Tensor:
        of = (reading.x, query, reading.episode.y, reading.episode.context, reading.episode.graph.edge_index)
        self.seen |= {tensor.device.type for tensor in of}
        return self.layer(reading.x)[query]


def test_it_is_asked_here_computed_there_and_answered_here(monkeypatch: pytest.MonkeyPatch) -> None:
    model, episode = Everywhere(ModelConfig(5, 3)).to("meta"), Episode.from_graphs([graph()])
    answered: list[str] = []

    def to(self: Prediction, device: torch.device) -> Prediction:  # meta holds no numbers that could be brought back
        answered.append(f"{self.probabilities.device.type} to {device.type}")
        return self

    monkeypatch.setattr(Prediction, "to", to)
    model.predict(episode, nodes=torch.tensor([3, 1]))
    assert (model.seen, answered) == ({"meta"}, ["meta to cpu"])
    assert episode.y.device.type == "cpu", "who asks keeps what they asked with"


def test_a_prediction_moves_whole() -> None:
    moved = Prediction.from_samples(torch.rand(4, 6, 3)).to("meta")
    assert moved.deviation is not None
    assert {each.device.type for each in (moved.probabilities, moved.aleatoric, moved.deviation)} == {"meta"}


def test_whoever_may_read_the_configuration_may_read_the_weights(tmp_path: Path) -> None:
    small("ampnp").save_pretrained(tmp_path)
    (plain := tmp_path / "plain").write_text("")
    assert all((tmp_path / n).stat().st_mode == plain.stat().st_mode for n in ("config.json", "model.safetensors"))
