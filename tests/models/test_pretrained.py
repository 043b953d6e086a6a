"""A model folder gives back the model, and a damaged one says what is wrong with it in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.models import from_pretrained
from mpnp.models.ampnp import AmpnpConfig
from mpnp.models.base import LatentModel, ModelConfig
from mpnp.models.configs import build
from mpnp.models.neural_process import NeuralProcessConfig
from mpnp.models.pretrained import save

SIZES = {"num_features": 3, "num_classes": 2, "task": "ca/none", "class_names": ["dead", "alive"]}
CONFIGS: dict[str, ModelConfig] = {
    "np-c": NeuralProcessConfig(
        **SIZES,  # type: ignore[arg-type]
        name="np-c",
        encoder=("join", "linear:4", "out:5"),
        decoder=("linear:4", "maxout:4", "join", "linear:4"),
        r_width=5,
        z_width=6,
        by_class=True,
        likelihood="gaussian",
    ),
    "r-mpnp": NeuralProcessConfig(
        **SIZES,  # type: ignore[arg-type]
        name="r-mpnp",
        encoder=("join", "r-mp:4", "out:5"),
        decoder=("join", "r-mp:4"),
        r_width=5,
        z_width=6,
        reduction="max",
        messages="mean",
        norm=True,
        relations=2,
    ),
    "ampnp": AmpnpConfig(
        **SIZES,  # type: ignore[arg-type]
        name="ampnp",
        width=8,
        heads=2,
        values=3,
        z_width=4,
        reaches=(1, 3),
        class_embedding=True,
    ),
    "anp": AmpnpConfig(**SIZES, name="anp", width=8, z_width=0, edges=False),  # type: ignore[arg-type]
}
Damage = Callable[[Path], object]


@pytest.fixture
def episode() -> Episode:
    torch.manual_seed(0)
    edge_index = torch.tensor([[0, 1, 2, 3, 0, 4], [1, 0, 3, 2, 4, 0]])
    graph = Data(x=torch.randn(6, 3), edge_index=edge_index, y=torch.tensor([0, 1, 1, -1, 0, -1]))
    graph.edge_type = torch.tensor([0, 0, 1, 1, 1, 0])
    return Episode.from_graphs([graph])


def trained(name: str) -> LatentModel:
    torch.manual_seed(1)
    model = build(CONFIGS[name])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    model.standardise_by(3 + 2 * torch.randn(20, 3))
    return model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(trained("ampnp"), tmp_path / "model", {"val_nll": 0.5})
    return tmp_path / "model"


@pytest.mark.parametrize("name", CONFIGS)
def test_a_saved_model_predicts_the_same(name: str, tmp_path: Path, episode: Episode) -> None:
    model = trained(name)
    save(model, tmp_path / "deep" / "down", {})
    again = from_pretrained(tmp_path / "deep" / "down")
    assert type(again) is type(model)
    assert json.dumps(again.config.__dict__) == json.dumps(model.config.__dict__)
    expected, got = model.predict(episode), again.predict(episode)
    assert torch.equal(got.probabilities, expected.probabilities)
    assert torch.equal(got.aleatoric, expected.aleatoric)
    # The training features' mean and spread came along.
    assert torch.equal(again.x_mean, model.x_mean) and (again.x_mean > 1).all()
    assert torch.equal(again.x_scale, model.x_scale) and (again.x_scale != 1).all()
    assert not again.training


def test_what_is_in_a_model_folder(folder: Path) -> None:
    assert {file.name for file in folder.iterdir()} == {
        "README.md",
        "config.json",
        "metrics.json",
        "model.safetensors",
    }
    assert json.loads((folder / "metrics.json").read_text()) == {"val_nll": 0.5}
    config = json.loads((folder / "config.json").read_text())
    assert (config["kind"], config["task"], config["class_names"]) == ("ampnp", "ca/none", ["dead", "alive"])
    with safe_open(folder / "model.safetensors", "pt") as tensors:
        assert set(tensors.keys()) == set(trained("ampnp").state_dict())
    for file in folder.iterdir():
        assert not file.read_bytes().startswith((b"PK", b"\x80"))  # neither a zip of pickles nor a pickle


def test_nothing_is_unpickled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a pickle was opened")

    for place in ("torch.load", "pickle.load", "pickle.loads", "pickle.Unpickler"):
        monkeypatch.setattr(place, refuse)
    # A pickle that lies about is not looked at.
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    assert from_pretrained(folder).name == "ampnp"


def test_a_model_is_saved_over_an_older_one(folder: Path, episode: Episode) -> None:
    model = trained("np-c")
    save(model, folder, {"val_nll": 0.25})
    assert torch.equal(from_pretrained(folder).predict(episode).probabilities, model.predict(episode).probabilities)
    assert json.loads((folder / "metrics.json").read_text()) == {"val_nll": 0.25}
    assert len(list(folder.iterdir())) == 4


def test_a_failed_save_leaves_the_older_model(folder: Path, episode: Episode, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("safetensors.torch.save_file", full)
    with pytest.raises(UserError, match="No space left on device"):
        save(trained("np-c"), folder, {})
    assert from_pretrained(folder).name == "ampnp"
    assert len(list(folder.iterdir())) == 4


def cut(size: int) -> Damage:
    return lambda path: path.write_bytes(path.read_bytes()[:size])


WEIGHTS: dict[str, Damage] = {
    "truncated": cut(5000),
    "one byte short": cut(-1),
    "truncated header": cut(100),
    "empty": cut(0),
    "text": lambda path: path.write_text("weights"),
    "a pickle": lambda path: torch.save({"weight": torch.zeros(1)}, path),
}


def refusal(folder: Path) -> str:
    with pytest.raises(UserError) as refused:
        from_pretrained(folder)
    message = str(refused.value)
    assert "\n" not in message and len(message) < 400
    return message


@pytest.mark.parametrize("damage", WEIGHTS)
def test_damaged_weights(damage: str, folder: Path) -> None:
    WEIGHTS[damage](folder / "model.safetensors")
    assert "model.safetensors is damaged or does not fit its config.json" in refusal(folder)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "not json at all",
        "[]",
        "3",
        "null",
        "{}",
        '{"kind": "transformer"}',
        '{"kind": ["ampnp"]}',
        '{"kind": null}',
        '{"kind": "ampnp"}',
        '{"kind": "neural-process", "num_features": 3}',
        '{"kind": "ampnp", "num_features": "three", "num_classes": 2}',
        '{"kind": "ampnp", "num_features": 3, "num_classes": 2, "likelihood": "cauchy"}',
        '{"kind": "neural-process", "num_features": 3, "num_classes": 2, "encoder": ["dance:4"]}',
        '{"kind": "neural-process", "num_features": 3, "num_classes": 2, "encoder": 7}',
    ],
)
def test_a_config_that_is_none(content: str, folder: Path) -> None:
    (folder / "config.json").write_text(content)
    assert "config.json is not a configuration of mpnp" in refusal(folder)


def test_a_config_of_bytes(folder: Path) -> None:
    (folder / "config.json").write_bytes(bytes(range(256)))
    assert "config.json is not a configuration of mpnp" in refusal(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"num_features": 4},
        {"width": 16},
        {"z_width": 5},
        {"refine": 2},  # asks for weights that are not there
        {"attention": False},  # has no use for weights that are
        {"edges": False},
        {"kind": "neural-process"},
    ],
    ids=str,
)
def test_a_config_of_another_model(change: dict[str, object], folder: Path) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert "model.safetensors is damaged or does not fit its config.json" in refusal(folder)


@pytest.mark.parametrize("names", [["config.json"], ["model.safetensors"], ["config.json", "model.safetensors"]])
def test_missing_files(names: list[str], folder: Path) -> None:
    for name in names:
        (folder / name).unlink()
    assert f"is not a trained model: {' and '.join(names)} missing" in refusal(folder)


def test_a_model_without_metrics_can_be_read(folder: Path) -> None:
    (folder / "metrics.json").unlink()
    (folder / "README.md").unlink()
    assert from_pretrained(str(folder)).name == "ampnp"


def test_a_file_is_no_folder(folder: Path) -> None:
    assert "is a file; the folder of a trained model is expected" in refusal(folder / "model.safetensors")


@pytest.mark.parametrize("name", ["nowhere", "./nowhere", "/no/where/at/all", "a/b/c"])
def test_nothing_there(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"no trained model at '{name}'" in refusal(Path(name) if name.startswith("/") else name)  # type: ignore[arg-type]


V010 = Path(__file__).parent / "v010"  # tiny models trained for an epoch with version 0.1.0, and what they predicted


@pytest.mark.parametrize("name", ["ampnp", "mpnp-c", "unimp"])
def test_a_folder_of_version_0_1_0_still_predicts_the_same(name: str) -> None:
    """On a path of four nodes, the first two labelled."""
    edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    x = torch.tensor([[1.0, 0.0], [-1.0, 0.5], [2.0, -1.0], [-2.0, 0.0]])
    path = Data(x=x, edge_index=edges, y=torch.tensor([1, 0, -1, -1]))
    found = from_pretrained(V010 / name).predict(Episode.from_graphs([path]), samples=4, seed=0)
    told = json.loads((V010 / "predictions.json").read_text())[name]
    for what in ("probabilities", "total", "epistemic"):
        torch.testing.assert_close(getattr(found, what), torch.tensor(told[what]), rtol=0, atol=1e-6)
