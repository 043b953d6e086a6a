"""The page on uncertainty is written from what was measured."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from studies.uncertainty import __main__ as program
from studies.uncertainty import abroad, asking, confidence, edges_of_parts, kept

from mpnp import plots
from mpnp.evaluation.shift import ShiftTable, Uncertainty


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what is stored, and no pictures drawn."""
    copy = tmp_path / "uncertainty"
    shutil.copytree(kept.HERE, copy)
    for module in (program, abroad, asking, confidence, edges_of_parts, kept):
        monkeypatch.setattr(module, "HERE", copy)
    for figure in ("reliability_figure", "honesty_figure", "shift_figure"):
        monkeypatch.setattr(plots, figure, lambda *_: None)
    monkeypatch.setattr(plots, "save", lambda _, path: path)
    monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
    return copy


def test_the_published_page_is_what_the_stored_tables_give(here: Path) -> None:
    published = (here / "README.md").read_text(encoding="utf-8")
    (here / "README.md").unlink()
    program.main()
    assert (here / "README.md").read_text(encoding="utf-8") == published


def test_what_is_measured_is_kept_and_not_measured_again(here: Path) -> None:
    row = Uncertainty(0.5, float("nan"), 0.2, 0.1)
    table = ShiftTable("there", "np", "test", 32, 0, {"0.1": row}, trained_on="here", made={"version": "1"})
    assert kept.kept(ShiftTable, "new/one", [("no/task", "np")], lambda: [table]) == [table]
    assert json.loads((here / "new" / "one.json").read_text())["rates"]["0.1"]["total"] is None
    (again,) = kept.kept(ShiftTable, "new/one", [("no/task", "np")], lambda: pytest.fail("measured again"))
    assert again.to_json() == table.to_json()
    assert kept.kept(ShiftTable, "new/nothing", [], lambda: []) == [] and not (here / "new" / "nothing.json").exists()
