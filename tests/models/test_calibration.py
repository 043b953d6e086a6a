"""What is kept of a calibration in a model's folder, and what it does to predictions."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.models import configs, from_pretrained
from mpnp.models.base import LatentModel
from mpnp.models.calibration import FILE, Calibration, Conformal
from mpnp.models.pretrained import save
from mpnp.prediction import Prediction, tempered

from ..rings import Rings

CALIBRATION = Calibration(1.7, Conformal(0.8, (0.1, 0.5), (0.2, 0.4)), "rings")


@pytest.fixture
def model() -> LatentModel:
    torch.manual_seed(0)
    return configs.build(configs.config("ampnp", Rings()))


@pytest.fixture
def folder(model: LatentModel, tmp_path: Path) -> Path:
    """A model folder as it was before there was calibration."""
    save(model, tmp_path, {"finished": True})
    return tmp_path


def test_sets_are_a_function_of_the_share_shown() -> None:
    conformal = Conformal(0.9, (0.01, 0.1), (0.2, 0.4))
    prediction = Prediction.certain(torch.tensor([[0.25, 0.35, 0.4]]).expand(5, 3))
    rates = torch.tensor([0.0, 0.01, 0.1**1.5, 0.1, 1.0])  # the middle one halfway, at 0.3
    assert conformal.sets(prediction, rates).tolist() == [
        [True, True, True],
        [True, True, True],
        [False, True, True],
        [False, False, True],
        [False, False, True],
    ]
    assert torch.equal(conformal.sets(prediction, 0.1), conformal.sets(prediction, rates)[3:4].expand(5, 3))
    # Three of 34 nodes are 10 %, as near as it gets; two rates of one share, in tiny graphs, are no trouble.
    assert torch.equal(conformal.sets(prediction, 3 / 34), conformal.sets(prediction, 0.1))
    assert not Conformal(0.9, (0.1, 0.1), (0.3, 0.3)).sets(prediction, 0.1)[:, 0].any()


def predict(model: LatentModel) -> Prediction:
    (graph,) = (Rings().graphs("val").select(torch.tensor([0])),)
    return model.predict(Episode.from_graphs([Data(x=graph.x, edge_index=graph.edge_index.as_tensor(), y=graph.y)]))


def test_what_is_written_is_read_and_applied(folder: Path) -> None:
    plain = from_pretrained(folder)
    assert plain.calibration is None  # a folder from before there was calibration
    CALIBRATION.write(folder)
    loaded = from_pretrained(folder)
    assert loaded.calibration == CALIBRATION
    torch.testing.assert_close(predict(loaded).probabilities, tempered(predict(plain).probabilities, 1.7))
    assert not torch.equal(predict(loaded).probabilities, predict(plain).probabilities)
    assert [path.name for path in folder.iterdir() if "tmp" in path.name] == []


def test_neither_configuration_nor_weights_know_of_it(model: LatentModel) -> None:
    """So runs go on and results stay valid: both are compared field by field."""
    fields, names = asdict(model.config), list(model.state_dict())
    model.calibration = CALIBRATION
    assert (asdict(model.config), list(model.state_dict())) == (fields, names)
    assert not {"calibration", "temperature"} & set(fields)


def test_what_goes_to_the_hub_is_calibrated(model: LatentModel, tmp_path: Path, monkeypatch: Any) -> None:
    model.calibration = CALIBRATION
    model.save_pretrained(tmp_path)
    assert Calibration.read(tmp_path / FILE) == CALIBRATION

    def download(name: str, file: str, **_: Any) -> str:
        return str(tmp_path / file)

    monkeypatch.setattr("huggingface_hub.get_hf_file_metadata", lambda *_, **__: None)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    assert from_pretrained("hf:someone/model").calibration == CALIBRATION


def test_other_weights_end_a_calibration(model: LatentModel, folder: Path) -> None:
    CALIBRATION.write(folder)
    save(model, folder, {})
    assert not (folder / FILE).exists()
    model.calibration = CALIBRATION
    save(model, folder, {})
    assert Calibration.read(folder / FILE) == CALIBRATION


GOOD = {"task": "rings", "temperature": 1.5, "coverage": 0.9, "shown": [0.1, 0.5], "thresholds": [0.2, 0.4]}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"temperature": 1.5',
        "\x80\x04K\x01.",  # a pickle is not run but refused
        {**GOOD, "temperature": 0},
        {**GOOD, "temperature": "__import__('os').abort()"},
        {**GOOD, "temperature": float("nan")},
        {**GOOD, "coverage": 1.5},
        {**GOOD, "shown": [0.1]},
        {**GOOD, "shown": [0.5, 0.1]},
        {**GOOD, "thresholds": [0.2, 2.0]},
        {**GOOD, "thresholds": None},
        {"task": "rings", "coverage": 0.9},
    ],
)
def test_damaged_files(folder: Path, content: str | dict[str, Any]) -> None:
    (folder / FILE).write_text(json.dumps(GOOD))
    assert from_pretrained(folder).calibration is not None
    (folder / FILE).write_text(content if isinstance(content, str) else json.dumps(content), encoding="latin-1")
    with pytest.raises(UserError, match=r"calibration.json is damaged .*'mpnp calibrate'"):
        from_pretrained(folder)
