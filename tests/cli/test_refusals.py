"""The command line: every bad input is refused in one line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch_geometric.data import Data

import mpnp

from .commands import Place, Run, ring, strict


def changed(**fields: Any) -> Data:
    data = ring()
    for name, value in fields.items():
        data[name] = value
    return data


COMMANDS: list[tuple[str, str]] = [
    ("trian", "did you mean 'train'"),
    ("prognosticate", "no command named 'prognosticate': choose one of"),
    ("--json", "A command is expected first"),
    ("train shapenet/nonexist", "'mpnp tasks' lists all"),
    ("predict {pt} --device tpu", "tpu"),
    ("predict {pt} --device cuda", "'cuda' is not on this machine"),
    ("train", "missing: TASK"),
    ("train {pt} --bogus 3", "--bogus"),
    ("train ca/smal-world", "did you mean 'ca/small-world'"),
    ("train /no/such/graphs", "no file or folder '/no/such/graphs'"),
    ("train graphs.pt", "no file or folder 'graphs.pt'"),
    ("train {pt} --model apnp", "did you mean 'ampnp'"),
    ("train {pt} --recipe papr", "did you mean 'paper'"),
    ("train {pt} --epochs abc", "abc"),
    ("train {pt} --epochs 0", "--epochs 0"),
    ("train {pt} --epochs -1", "--epochs -1"),
    ("train {pt} --threads 0", "--threads 0"),
    ("train {pt} --devices 0", "--devices 0"),
    ("train {pt} --devices 9999", "9999 devices"),
    ("train {pt} --machines 0", "--machines 0"),
    ("train {pt} --nodes 2", "is --machines"),
    ("train {pt} --seed -1", "--seed -1"),
    ("train {pt} --seed 99999999999", "2^32"),
    ("train {pt} --set widht=3", "did you mean 'width'"),
    ("train {pt} --set width", "NAME=VALUE"),
    ("train {pt} --set width=abc", "width = abc"),
    ("train {pt} --set width=", "width = None"),
    ("train {pt} --set width=[1", "'[1' is not a value"),
    ("train {pt} --set latent=perhaps", "latent = perhaps"),
    ("train {pt} --set likelihood=gaussian", "no option named 'likelihood'"),
    ("train {pt} --config /no/such.yaml", "/no/such.yaml"),
    ("train {pt} --out {pt}", "is a file"),
    ("train {pt} --out {pt}/below", "Cannot write"),
    ("train {pt} --out {csv}", "not empty"),
    ("train {pt} --out {model}", "already holds a training run"),
    ("train {csv} --out {model} --resume", "another recipe"),
    ("demo --epochs 0", "--epochs 0"),
    ("evaluate state-mod", "did you mean 'state-mode'"),
    ("evaluate ampnp", "'ampnp' has to be trained first; 'mpnp train GRAPHS --model ampnp'"),
    ("evaluate mode", "--task"),
    ("evaluate mode --task ca/vornoi", "did you mean 'ca/voronoi'"),
    ("evaluate rule-table --task {pt}", "cellular automaton"),
    ("evaluate /no/such/model", "no trained model at '/no/such/model'"),
    ("evaluate {model} --rates 0.1 2", "'2' is not a context rate"),
    ("evaluate {model} --rates -1", "'-1' is not a context rate"),
    ("evaluate {model} --rates half", "'half' is not a context rate"),
    ("evaluate {model} --draws 0", "--draws 0"),
    ("evaluate {model} --draws -2", "--draws -2"),
    ("evaluate {model} --samples 0", "--samples 0"),
    ("evaluate {model} --threads -1", "--threads -1"),
    ("evaluate {model} --seed -1", "--seed -1"),
    ("predict {model}", "graph"),
    ("predict {model} /no/such/graph.pt", "nothing at /no/such/graph.pt"),
    ("predict /no/model {pt}", "no trained model at '/no/model'"),
    ("predict {model} {csv} --samples -1", "--samples -1"),
    ("predict {model} {csv} --out {csv}", "is a folder"),
    ("predict {model} {csv} --out {pt}/out.csv", "Cannot write"),
]


@pytest.mark.parametrize(("command", "words"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_bad_commands(made: Place, refuses: Run, command: str, words: str) -> None:
    before = sorted(made.folder.rglob("*"))
    paths = {name: str(path) for name, path in made._asdict().items()}
    assert words in refuses(*[word.format(**paths) for word in command.split()])
    assert sorted(made.folder.rglob("*")) == before
    assert not list(Path().iterdir())


GRAPHS: list[tuple[Any, str]] = [
    (changed(x=torch.full((40, 2), torch.nan)), "nan"),
    (changed(edge_index=torch.tensor([[0], [40]])), "node 40"),
    (changed(edge_index=torch.tensor([[0], [-1]])), "node -1"),
    (changed(y=torch.full((40,), -2)), "-2 was given"),
    (changed(y=torch.full((40,), 10**6)), "label 1000000"),
    (changed(y=torch.zeros(3, dtype=torch.long)), "one label per node"),
    (Data(x=torch.zeros(0, 2), edge_index=torch.zeros(2, 0, dtype=torch.long)), "no nodes"),
    ([], "empty list"),
    (Path("foreign"), "holds 'pathlib"),
    ("text", "a str was given"),
]


@pytest.mark.parametrize(("content", "words"), GRAPHS, ids=[words for _, words in GRAPHS])
def test_bad_graphs(place: Place, refuses: Run, content: Any, words: str) -> None:
    bad = place.folder / "bad.pt"
    torch.save(content, bad)
    for command in (
        ("train", bad, "--out", place.new),
        ("evaluate", place.model, "--task", bad),
        ("predict", place.model, bad, "--out", place.new),
    ):
        assert words in refuses(*command)
        assert not place.new.exists()


def test_graphs_that_do_not_fit_the_model(place: Place, refuses: Run) -> None:
    bad = place.folder / "bad.pt"
    torch.save(ring(features=3), bad)
    assert "3 features" in refuses("predict", place.model, bad, "--out", place.new)
    assert "3 features" in refuses("evaluate", place.model, "--task", bad)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (torch.full((40,), -1), "No node"),
        (torch.zeros(40, dtype=torch.long), "two or more classes"),
        (torch.cat([torch.tensor([0, 1, 0, 1]), torch.full((36,), -1)]), "label at least 15 nodes"),
    ],
)
def test_graphs_with_too_few_labels(place: Place, refuses: Run, y: torch.Tensor, words: str) -> None:
    torch.save(changed(y=y), place.pt)
    assert words in refuses("train", place.pt, "--out", place.new)
    assert not place.new.exists()


def test_a_graph_without_labels_cannot_be_scored(place: Place, refuses: Run) -> None:
    torch.save(changed(y=torch.full((40,), -1)), place.pt)
    assert "0 nodes are labelled" in refuses("evaluate", "mode", "--task", place.pt)


def test_bad_tables(place: Place, refuses: Run) -> None:
    nodes = place.csv / "nodes.csv"
    good = nodes.read_text()
    nodes.write_text(good.replace("n40,0,0,", "n40,0,tall,"))
    assert "'tall' was given" in refuses("predict", place.model, place.csv, "--out", place.new)
    nodes.write_text(good.replace("n40,0,0,", ""))
    (place.csv / "edges.csv").write_text("source,target\nn0,n40\n")
    assert "node 'n40' is not in nodes.csv" in refuses("train", place.csv, "--out", place.new)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def without_a_layer(path: Path) -> None:
    weights = load_file(path)
    save_file({name: value for name, value in weights.items() if not name.startswith("logit")}, path)


def wider(path: Path) -> None:
    path.write_text(path.read_text().replace('"width": 16', '"width": 24'))


def unknown_kind(path: Path) -> None:
    path.write_text(path.read_text().replace('"kind": "ampnp"', '"kind": "oracle"'))


DAMAGE: list[tuple[str, Callable[[Path], object]]] = [
    ("config.json", Path.unlink),
    ("config.json", truncate),
    ("config.json", wider),
    ("config.json", unknown_kind),
    ("config.json", lambda path: path.write_text("[]")),
    ("config.json", lambda path: path.write_text('{"kind": "ampnp"}')),
    ("model.safetensors", Path.unlink),
    ("model.safetensors", truncate),
    ("model.safetensors", without_a_layer),
    ("model.safetensors", lambda path: path.write_bytes(b"")),
]


@pytest.mark.parametrize(("name", "damage"), DAMAGE)
def test_damaged_models(place: Place, refuses: Run, name: str, damage: Callable[[Path], object]) -> None:
    damage(place.model / name)
    assert str(place.model) in refuses("predict", place.model, place.csv, "--out", place.new)
    assert "train" in refuses("evaluate", place.model)
    assert not place.new.exists()


def test_a_damaged_note_on_the_training_spoils_no_evaluation(place: Place, prints: Run) -> None:
    truncate(place.model / "metrics.json")
    result = strict(prints("evaluate", place.model, "--task", place.csv, "--draws", 1, "--json"))
    assert "training" not in result["made"]


def test_the_graphs_a_model_was_trained_on_are_gone(place: Place, refuses: Run) -> None:
    config = place.model / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"task": "own:/gone/graphs"}))
    assert "no file or folder '/gone/graphs'" in refuses("evaluate", place.model)


def test_a_model_that_is_neither_here_nor_on_the_hub(
    made: Place, refuses: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(*_: Any, **__: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr("huggingface_hub.get_hf_file_metadata", offline)
    assert "no model 'runs/typo' on the hub" in refuses("predict", "hf:runs/typo", made.csv)
    assert "is called hf:user/name" in refuses("predict", "hf:typo", made.csv)


def test_the_network_is_asked_by_its_prefix_alone(made: Place, refuses: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: Any, **__: Any) -> None:
        pytest.fail("the network was asked")

    monkeypatch.setattr("socket.socket.connect", asked)
    assert "no trained model at 'runs/typo'" in refuses("predict", "runs/typo", made.csv)
    for load in (mpnp.from_pretrained, mpnp.find_predictor):
        with pytest.raises(mpnp.UserError, match="no trained model at 'runs/typo'"):
            load("runs/typo")


@pytest.mark.parametrize(
    "content",
    [b"epochs: [1\n", b"epoks: 1\n", b"epochs: many\n", b"- 1\n- 2\n", b"\xff\xfe\x00", b"{", b"epochs: 1\nepochs\n"],
)
def test_bad_files_of_options(place: Place, refuses: Run, content: bytes) -> None:
    (place.folder / "bad.yaml").write_bytes(content)
    refuses("train", place.pt, "--out", place.new, "--config", place.folder / "bad.yaml")
    assert not place.new.exists()


def test_a_disk_that_refuses(place: Place, refuses: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", denied)
    assert "Permission denied" in refuses("train", place.pt, "--out", place.new)
    assert "Permission denied" in refuses("predict", place.model, place.csv, "--out", place.folder / "out.csv")
    assert not (place.new / "run.json").exists() and not list(place.folder.glob("*out.csv*"))
