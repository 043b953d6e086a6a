"""What tests of commands share: run one as a user would."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Data

from mpnp.cli import main

from .commands import Place, Run, ring


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing a command writes by default lands in the repository."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def prints(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command that succeeds; its standard output."""

    def run(*arguments: object) -> str:
        capsys.readouterr()
        main([str(argument) for argument in arguments])
        return capsys.readouterr().out

    return run


@pytest.fixture
def refuses(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command that must fail as users' errors do; the one line it says."""

    def run(*arguments: object) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert end.value.code == 2
        assert out == ""
        assert err.startswith("mpnp: ") and err.endswith("\n") and len(err.splitlines()) == 1
        return err

    return run


def write_csv(folder: Path, data: Data) -> Path:
    folder.mkdir()
    rows = [f"n{i},{x[0]},{x[1]},{['no', 'yes'][y]}" for i, (x, y) in enumerate(zip(data.x, data.y, strict=True))]
    (folder / "nodes.csv").write_text("\n".join(["id,a,b,label", *rows, "n40,0,0,"]) + "\n")
    edges = [f"n{u},n{v}" for u, v in data.edge_index.t().tolist()]
    (folder / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    return folder


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("user")
    place = Place(folder, write_csv(folder / "graph", ring()), folder / "graph.pt", folder / "model")
    torch.save(ring(), place.pt)
    main(["train", str(place.csv), "--out", str(place.model), "--epochs", "2", "--set", "width=16"])
    return place


@pytest.fixture
def place(made: Place, tmp_path: Path) -> Place:
    """A copy to spoil."""
    shutil.copytree(made.folder, tmp_path / "user")
    copy = tmp_path / "user"
    return Place(copy, copy / "graph", copy / "graph.pt", copy / "model")
