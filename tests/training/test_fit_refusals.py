"""What training refuses, before anything is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from mpnp.errors import UserError
from mpnp.models.ampnp import AmpnpConfig
from mpnp.tasks.base import Task
from mpnp.tasks.own import OwnTask
from mpnp.training.fit import Fitted, fit
from mpnp.training.options import with_options
from mpnp.training.recipe import Recipe

from .learning import files, graph, train


def test_a_run_is_not_overwritten(automata: Task, whole: Fitted) -> None:
    with pytest.raises(UserError, match="already holds a training run"):
        train(automata, whole.folder)


def test_places_that_cannot_take_a_model(automata: Task, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for place, words in (("file", "is a file"), ("file/below", "Cannot write"), (".", "not empty")):
        with pytest.raises(UserError, match=words):
            train(automata, tmp_path / place)
    assert files(tmp_path) == {"file"} and (tmp_path / "file").read_text() == "mine"


BAD = [
    ({"model": "apnp"}, "did you mean 'ampnp'"),
    ({"recipe": "papr"}, "did you mean 'paper'"),
    ({"options": {"widht": 8}}, "did you mean 'width'"),
    ({"options": {"num_features": 3}}, "no option named 'num_features'"),
    ({"options": {"__class__": 3}}, "no option named '__class__'"),
    ({"options": {"width": "abc"}}, "width = abc"),
    ({"options": {"width": 8.5}}, "width = 8.5"),
    ({"options": {"width": None}}, "width = None"),
    ({"options": {"width": 0}}, "at least 1"),
    ({"options": {"latent": "perhaps"}}, "latent = perhaps"),
    ({"options": {"latent": 1}}, "latent = 1"),
    ({"options": {"objective": "mse"}}, "one of elbo"),
    ({"options": {"learning_rate": -1}}, "at least 0"),
    ({"options": {"learning_rate": "nan"}}, "learning_rate = nan"),
    ({"options": {"clip": "x"}}, "float | None"),
    ({"options": {"average": 1}}, "average = 1"),
    ({"options": {"context": [0.1]}}, "context = "),
    ({"options": {"context": [0.9, 0.1]}}, "low ≤ high"),
    ({"options": {"dropout": 7}}, "dropout"),
    ({"options": {"reaches": [], "local": True}}, "no reaches"),
    ({"model": "mpnp", "options": {"encoder": ["linear:8"]}}, "put 'join' before one of"),
    ({"model": "mpnp", "options": {"decoder": ["join", "linear:0"]}}, "'linear:0'"),
    ({"model": "mpnp", "options": {"decoder": ["join", "line:8"]}}, "did you mean 'linear'"),
    ({"model": "mpnp", "options": {"decoder": ["join", "maxout:8"]}}, "maxout"),
    ({"model": "mpnp", "options": {"decoder": ["linear:8", "join"]}}, "'join' stands last"),
    ({"model": "mpnp", "options": {"z_width": 0}}, "z_width"),
    ({"model": "unimp", "options": {"layers": []}}, "at least one layer"),
    ({"recipe": Path("out")}, "a folder is given as out="),
    ({"model": torch.nn.Linear(2, 2)}, "inherit from mpnp.Network"),
    ({"options": {"learn_from": "ca/smal-world"}}, "did you mean 'ca/small-world'"),
    ({"epochs": 0}, "at least 1"),
    ({"epochs": -3}, "at least 1"),
    ({"devices": 0}, "devices = 0"),
    ({"machines": 0}, "machines = 0"),
    ({"devices": 9999}, "9999 devices"),
    ({"machines": 2}, "MASTER_ADDR"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=lambda value: str(value)[:40])
def test_bad_options_are_refused_before_anything_is_written(
    automata: Task, tmp_path: Path, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError) as error:
        fit(automata, out=tmp_path / "out", progress=False, **arguments)
    assert words in str(error.value)
    assert not (tmp_path / "out").exists()


def test_own_graphs_with_too_few_labels_leave_no_folder_behind(tmp_path: Path) -> None:
    torch.save(graph(6, 12), tmp_path / "few.pt")
    with pytest.raises(UserError, match="label at least 15 nodes"):
        train(OwnTask(tmp_path / "few.pt"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_options_that_no_one_means_are_refused_at_once() -> None:
    with pytest.raises(UserError, match="depth = 100000 was given, at most 256"):
        with_options(Recipe(), AmpnpConfig(2, 2), {"depth": 100_000})
