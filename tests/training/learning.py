"""What tests of training share: small graphs, a short training, and what it left behind."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.graphs import GraphSet
from mpnp.tasks.base import SPLITS, Split, Task
from mpnp.training.fit import Fitted, fit
from mpnp.training.learner import Learner

FILES = {
    ".lock",
    "README.md",
    "checkpoints/best.ckpt",
    "checkpoints/last.before.ckpt",
    "checkpoints/last.ckpt",
    "config.json",
    "log/metrics.csv",
    "metrics.json",
    "model.safetensors",
    "run.json",
}


class Given(Task):
    """The same graphs in every split, unless told otherwise."""

    context = (0.3, 0.5)
    extra = (0.3, 0.5)
    rates = (0.1, 0.5)
    num_features = 2
    num_classes = 2

    def __init__(self, graphs: list[Data], val: list[Data] | None = None, name: str = "given") -> None:
        self.name = name
        self.parts = {"train": graphs, "val": val or graphs, "test": graphs}

    def load(self) -> dict[Split, GraphSet]:
        return {split: GraphSet.from_data_list(self.parts[split]) for split in SPLITS}


class Scaled(Given):
    standardise = True


def graph(nodes: int, edges: int = 0, shift: float = 0.0, unlabelled: float = 0.0) -> Data:
    """The label is the sign of the first feature."""
    x = torch.randn(nodes, 2)
    y = torch.where(torch.rand(nodes) < unlabelled, -1, (x[:, 0] > 0).long())
    return Data(x=x + shift, y=y, edge_index=torch.randint(nodes, (2, edges)))


def train(task: Task, out: Path, model: str = "ampnp", epochs: int = 4, **options: Any) -> Fitted:
    settings = {key: options.pop(key) for key in ("seed", "recipe", "resume", "devices") if key in options}
    small = {"width": 16, "batch_graphs": 8} if model == "ampnp" else {}
    return fit(task, model, out=out, epochs=epochs, progress=False, options={**small, **options}, **settings)


def weights(model: torch.nn.Module) -> Tensor:
    return torch.cat([value.flatten() for value in model.state_dict().values()])


def log(folder: Path, column: str) -> list[float]:
    with (folder / "log" / "metrics.csv").open() as file:
        return [float(row[column]) for row in csv.DictReader(file) if row[column]]


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def stops(epoch: int, error: type[BaseException]) -> Callable[[Learner, Any, int], Tensor]:
    step = Learner.training_step

    def stopping(self: Learner, episode: Any, number: int) -> Tensor:
        if self.current_epoch == epoch and number == 1:
            raise error
        return step(self, episode, number)

    return stopping


def validated_as(*scores: float) -> Callable[[Learner], None]:
    """In place of validation: the score of every epoch as given."""
    return lambda self: self.log("val_nll", scores[self.current_epoch])
