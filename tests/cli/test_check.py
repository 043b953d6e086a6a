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


def test_the_column_of_labels_can_be_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(folder), "--label-column", "colour", "--ignore", "label", "--directed", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["classes"] == {"blue": 1, "red": 2} and told["directed"]
    assert "cross-validation" in told["split"] and "--label-column colour" in told["command"]


def test_what_is_ignored_is_ignored_in_the_command_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(folder), "--ignore", "colour", "shoe size", "--json"])
    assert json.loads(capsys.readouterr().out)["command"].endswith("--ignore colour 'shoe size'")


def test_a_column_that_gives_the_labels_away_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"n{i},{'left' if i % 2 else 'right'},{i // 2 % 2},{i}.5,{'xy'[i % 2]}" for i in range(20)]
    (folder / "nodes.csv").write_text("\n".join(["id,the club,member,age,label", *rows, "n20,left,1,3,"]) + "\n")
    (folder / "edges.csv").write_text("source,target\nn0,n1\n")
    main(["check", str(folder)])
    said = capsys.readouterr().out
    assert "Column 'the club' tells the label" in said and "--ignore 'the club'" in said
    assert said.count("tells the label") == 1  # ages are all different, and say nothing
    main(["check", str(folder), "--ignore", "the club"])
    assert "tells the label" not in capsys.readouterr().out


def test_no_name_reaches_the_terminal_as_an_escape(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "nodes.csv").write_text("id,label\na,\x1b[31mred\nb,blue\nc,\n")
    main(["check", str(folder)])
    said = capsys.readouterr().out
    assert "\x1b" not in said and "\\x1b[31mred" in said
    (folder / "edges.csv").write_text("source,target\na,\x1b]0;title\x07\n")
    with pytest.raises(SystemExit):
        main(["check", str(folder)])
    assert "\x1b" not in capsys.readouterr().err


def test_a_missing_file_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["check", str(tmp_path / "none.csv")])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_command_is_about_the_path_as_given_and_can_be_pasted(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.rename(folder.parent / "my graph")
    monkeypatch.chdir(folder.parent)
    main(["check", "my graph"])
    assert capsys.readouterr().out.endswith("  mpnp predict 'my graph'\n")
