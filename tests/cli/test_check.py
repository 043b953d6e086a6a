"""``mpnp check``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mpnp.cli import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nodes.csv").write_text("id,colour,label\na,red,x\nb,blue,y\nc,red,\n")
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n")
    return tmp_path


def test_what_was_read_and_what_to_do(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(folder)])
    said = capsys.readouterr().out
    assert "2 of 3 nodes" in said
    assert "universal" in said and "mpnp predict" in said


def test_the_same_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(folder), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["nodes"] == 3 and told["classes"] == {"x": 1, "y": 1} and told["advised"] == "universal"


def test_a_missing_file_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["check", str(tmp_path / "none.csv")])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
