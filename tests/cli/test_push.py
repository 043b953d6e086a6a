"""``mpnp push`` and ``hf:user/name``, against a stand-in of the hub that the real client talks to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..models.hub_server import TOKEN, Hub, hub
from .commands import Place, Run


@pytest.fixture
def server() -> Iterator[Hub]:
    with hub() as running:
        yield running


def mpnp(server: Hub, home: Path, *arguments: object, token: str = TOKEN) -> subprocess.CompletedProcess[str]:
    """In a process of its own: the client reads where the hub is when it is imported."""
    environment = {
        **os.environ,
        "HF_ENDPOINT": server.address,
        "HF_HOME": str(home),
        "HF_TOKEN": token,
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_OFFLINE": "0",
    }
    program = "from mpnp.cli import main; main()"
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_there_and_back_again(place: Place, server: Hub, tmp_path: Path) -> None:
    (place.model / "calibration.json").unlink(missing_ok=True)
    kept = ("config.json", "metrics.json", "model.safetensors")
    pushed = mpnp(server, tmp_path / "one", "push", place.model, "someone/ring", "--private")
    assert (pushed.returncode, pushed.stderr) == (0, "")
    assert pushed.stdout == f"The model is at {server.address}/someone/ring; use it as hf:someone/ring.\n"
    assert set(server.files["someone/ring"]) - {"features.json"} == {"README.md", *kept}
    assert server.private == {"someone/ring": True}

    card = server.files["someone/ring"]["README.md"].decode()
    metrics = json.loads((place.model / "metrics.json").read_text())
    assert f"| validation NLL per node, nats | {metrics['val_nll']:.4f} |" in card
    assert "| epochs | 2 |" in card and 'mpnp.from_pretrained("hf:someone/ring")' in card
    for file, content in server.files["someone/ring"].items():
        assert str(place.folder).encode() not in content, f"{file} tells where the owner keeps things"

    tables = []
    for model in (place.model, "hf:someone/ring"):
        table = place.folder / f"{len(tables)}.csv"
        done = mpnp(server, tmp_path / "two", "predict", model, place.csv, "--out", table)
        assert (done.returncode, done.stderr) == (0, "")
        tables.append(table.read_text())
    assert tables[0] == tables[1]


def test_what_is_not_there(place: Place, server: Hub, tmp_path: Path) -> None:
    done = mpnp(server, tmp_path, "predict", "hf:someone/nothing", place.csv)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "There is no model 'someone/nothing' on the hub" in done.stderr


def test_a_stranger_may_not_write(place: Place, server: Hub, tmp_path: Path) -> None:
    done = mpnp(server, tmp_path, "push", place.model, "someone/ring", token="hf_of_another")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "'hf auth login'" in done.stderr and not server.files


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("push /no/such me/model", "no folder /no/such"),
        ("push {model} model", "is called user/name"),
        ("push {model} a/b/c", "is called user/name"),
        ("push {csv} me/model", "is not a trained model"),
    ],
)
def test_bad_commands(made: Place, refuses: Run, command: str, words: str) -> None:
    paths = {name: str(path) for name, path in made._asdict().items()}
    assert words in refuses(*[word.format(**paths) for word in command.split()])
