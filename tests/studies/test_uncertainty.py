"""The page on uncertainty is written from what was measured."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from studies.uncertainty import __main__ as program
from studies.uncertainty import abroad, asking, confidence, edges_of_parts, kept

from mpnp import plots
from mpnp.active import ReplayTable
from mpnp.active.curves import Worth
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


def replayed(chance: float = 0.5, **areas: float) -> ReplayTable:
    worth = {
        name: Worth(area, area - chance, 0.0, 0.0, 0.1, None, {"accuracy": (chance, area)})
        for name, area in {"random": chance, **areas}.items()
    }
    return ReplayTable("there", "np", "accuracy", 3, (1, 2), worth, draws=1, made={"date": "today"})


def test_strategies_that_came_later_are_measured_alone_and_put_beside_the_others() -> None:
    both = asking._with(replayed(old=0.6), replayed(new=0.7))
    assert {name: one.area for name, one in both.strategies.items()} == {"random": 0.5, "old": 0.6, "new": 0.7}
    assert both.made == {"date": "today", "later": [{"date": "today", "strategies": ["new"]}]}
    with pytest.raises(SystemExit, match=r"random is at 0\.40000 by now and was at 0\.50000"):
        asking._with(replayed(old=0.6), replayed(0.4, new=0.7))


def test_only_what_is_missing_is_measured_and_only_of_lines_that_are_named(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = here / "active" / "ca-small-world-rule-posterior.json"
    stored = json.loads(path.read_text())
    del stored["strategies"]["auto"], stored["strategies"]["age"]
    path.write_text(json.dumps(stored))
    asked = []

    def measured(case: asking.Case, strategies: list[str]) -> list[ReplayTable]:
        asked.append((case.model, case.task, list(strategies)))
        if case.task != "ca/small-world":
            return []
        one = ReplayTable.from_dict(stored)
        return [replace(one, strategies=dict.fromkeys(("random", *strategies), one.strategies["random"]))]

    monkeypatch.setattr(asking, "_measured", measured)
    monkeypatch.setattr(plots, "shrink", lambda *_: None)
    asking.section(["ppisp-ampnp"])
    assert not [one for one in asked if one[1] != "ppisp"]
    asked.clear()
    assert "ca/small-world" in asking.section(["ca-small-world-rule-posterior"])
    assert asked == [("rule-posterior", "ca/small-world", ["age"]), ("rule-posterior", "ca/small-world", ["auto"])]
    assert {"age", "auto"} <= set(json.loads(path.read_text())["strategies"])
    with pytest.raises(SystemExit, match="There is no case ppisp; the cases are"):
        asking.section(["ppisp"])
