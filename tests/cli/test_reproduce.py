"""``mpnp reproduce`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mpnp.reproduce import records

from .commands import Run

MODES = ["reproduce", "cellular-automata", "--tasks", "ca/small-world", "--models", "mode", "state-mode"]


def test_a_table_is_run_once_and_reported(tmp_path: Path, prints: Run) -> None:
    out = tmp_path / "out"
    assert "2 runs done now, 0 before, 0 failed." in prints(*MODES, "--budget", "quick", "--out", out)
    assert [(r.row, r.seed) for r in records.read_all(out)] == [("mode", 0), ("state-mode", 0)]
    page = (out / "report.html").read_text()
    accuracy = records.read_all(out)[1].table.at(0.1).accuracy
    assert f"{100 * accuracy:.1f}" in page
    assert "ca/small-world" in (out / "report.md").read_text()
    assert "0 runs done now, 2 before, 0 failed." in prints(*MODES, "--budget", "quick", "--out", out)


def test_another_budget_is_not_mixed_in(tmp_path: Path, prints: Run, refuses: Run) -> None:
    prints(*MODES, "--budget", "quick", "--out", tmp_path / "out")
    assert "another evaluation.draws" in refuses(*MODES, "--out", tmp_path / "out")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["celular-automata"], "did you mean 'cellular-automata'?"),
        (["tud", "--models", "gnnn"], "did you mean 'gnn'?"),
        (["tud", "--seeds", "0"], "--seeds 0 was given, at least 1"),
        (["tud", "--jobs", "0"], "--jobs 0 was given, at least 1"),
        (["tud", "--address", "localhost:1"], "give --engine ray with it"),
        (["tud", "--budget", "huge"], "budget"),
        (["--report-only", "--out", "no-such-folder"], "There is no folder no-such-folder"),
    ],
)
def test_bad_input(arguments: list[str], words: str, refuses: Run) -> None:
    assert words in refuses("reproduce", *arguments)


def test_a_file_in_place_of_the_folder(tmp_path: Path, refuses: Run) -> None:
    (tmp_path / "file").touch()
    assert "Cannot write to" in refuses(*MODES, "--out", tmp_path / "file")


def test_status_says_what_is_run_and_how_to_run_the_rest(tmp_path: Path, prints: Run, refuses: Run) -> None:
    out = tmp_path / "out"
    prints(*MODES, "--budget", "quick", "--out", out)
    told = prints("reproduce", "cellular-automata", "--status", "--out", out)
    assert "2 of 20 printed rows" in told
    assert "mpnp reproduce cellular-automata --tasks ca/small-world ca/scale-free" in told
    found = json.loads(prints("reproduce", "cellular-automata", "--status", "--json", "--out", out))
    assert (found["rows_printed"], found["rows_run"]) == (20, 2)
    assert "There is no folder" in refuses("reproduce", "--status", "--out", tmp_path / "none")
