"""``mpnp studio``: what it refuses before anything opens. That it serves is in tests/studio/test_server."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from mpnp.cli import main


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as end:
        main(["studio", "--no-browser", *arguments])
    assert end.value.code == 2
    return capsys.readouterr().err


def test_bad_arguments_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "There is nothing at" in refused(capsys, "nowhere.pt", "--model", "label-propagation")
    assert "no-such-model" in refused(capsys, "--model", "no-such-model")
    assert "give the graph, too" in refused(capsys, "--labels", "labels.csv", "--model", "label-propagation")
    assert "belong to a graph; give the graph, too" in refused(capsys, "--label-column", "team")
    (tmp_path / "nodes.csv").write_text("id,team\na,x\nb,\n")
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    assert "no column 'taem' of labels" in refused(capsys, ".", "--label-column", "taem")
    assert "cannot be used" in refused(capsys, "--port", "99999", "--model", "label-propagation")
    assert not (tmp_path / "mpnp-studio").exists()


def test_without_its_packages_it_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ordinary = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.endswith("studio.server") or name == "studio.server":
            raise ModuleNotFoundError("No module named 'uvicorn'", name="uvicorn")
        return ordinary(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert "pip install 'mpnp[studio]'" in refused(capsys)
