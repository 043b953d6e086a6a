"""Typed tables: looked at, shown, kept and read again."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mpnp.active import ReplayTable
from mpnp.errors import UserError
from mpnp.evaluation.borders import BorderTable
from mpnp.evaluation.reliability import CalibrationTable
from mpnp.evaluation.shift import ShiftTable
from mpnp.evaluation.tables import Scores, ScoreTable, Stored
from mpnp.files import without_nan

RESULTS = Path(__file__).parents[2] / "results"
KEPT: dict[type[Stored], list[Path]] = {
    ScoreTable: sorted(RESULTS.glob("tud/*/*-seed0.json")) + sorted(RESULTS.glob("ppisp/*-seed0.json")),
    BorderTable: sorted(RESULTS.glob("uncertainty/borders/*.json")),
    CalibrationTable: sorted(RESULTS.glob("uncertainty/calibration/*.json")),
    ReplayTable: sorted(RESULTS.glob("uncertainty/active/*.json")),
    ShiftTable: sorted(RESULTS.glob("uncertainty/shift-*.json")),
}


def table(**fields: Any) -> ScoreTable:
    spread = Scores(0.01, 0.02, 0.03, 0.04, 0.05)
    rows = {
        "0.10": Scores(0.8, 0.5, 0.3, 0.04, 0.85, spread=spread),
        "1": Scores(0.9, math.nan, 0.2, 0.02, 0.95, spread=replace(spread, nll=math.nan)),
    }
    return replace(ScoreTable("ca/voronoi", "generated", "mode", "test", 3, 0, rows), **fields)


def test_rows_are_found_by_rate() -> None:
    assert table().at(0.1).accuracy == table().at("0.1").accuracy == 0.8
    assert table().at(1).spread == table().rates["1"].spread
    assert [rate for rate, _ in table()] == [0.1, 1.0]
    with pytest.raises(UserError, match=r"a context rate of 0\.2; there is 0\.10, 1\."):
        table().at(0.2)
    with pytest.raises(UserError, match="a context rate of half"):
        table().at("half")


def test_a_table_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        table().draws = 1  # type: ignore[misc]


def test_plain_numbers_have_the_layout_of_the_stored_results() -> None:
    plain = table().to_dict()
    assert list(plain) == ["task", "data", "model", "split", "draws", "seed", "rates"]
    names = ["accuracy", "nll", "brier", "ece", "accuracy_paper"]
    assert list(plain["rates"]["0.10"]) == [*names, *(f"{name}_std" for name in names)]
    assert plain["rates"]["0.10"]["accuracy_std"] == 0.01
    assert list(table(made={"version": "1"}).to_dict())[-1] == "made"
    shapes = replace(table().at(0.1), miou=0.7, miou_paper=0.75, spread=None)
    assert list(shapes.to_dict()) == [*names, "miou", "miou_paper"]


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    table().write(tmp_path / "table.json")
    stored = json.loads((tmp_path / "table.json").read_text(), parse_constant=lambda name: pytest.fail(name))
    assert stored["rates"]["1"]["nll"] is None
    again = ScoreTable.read(tmp_path / "table.json")
    assert math.isnan(again.at(1).nll)
    assert again.at(0.1) == table().at(0.1) and repr(again) == repr(table())


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", "null", '{"task": 3}', '{"rates": []}'])
def test_a_damaged_file_is_told_in_a_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "table.json").write_text(content)
    with pytest.raises(UserError, match="holds no ScoreTable"):
        ScoreTable.read(tmp_path / "table.json")


@pytest.mark.parametrize("rate", ["1,5", "nan", "1e30", ""])
def test_what_is_no_rate_is_damage(tmp_path: Path, rate: str) -> None:
    stored = table().to_dict()
    stored["rates"][rate] = stored["rates"]["1"]
    (tmp_path / "table.json").write_text(json.dumps(without_nan(stored)))
    with pytest.raises(UserError, match="holds no ScoreTable"):
        ScoreTable.read(tmp_path / "table.json")


@pytest.mark.parametrize(("kind", "paths"), KEPT.items(), ids=[kind.__name__ for kind in KEPT])
def test_all_that_was_stored_is_still_read_to_the_last_digit(kind: type[Stored], paths: list[Path]) -> None:
    assert paths
    for path in paths:
        content = json.loads(path.read_text())
        for stored in content if isinstance(content, list) else [content]:
            known = {name: value for name, value in stored.items() if name not in ("row", "identity")}
            assert json.loads(kind.from_dict(stored).to_json()) == known, path


# --- How it looks ----------------------------------------------------------------------------------------------------


def test_on_a_screen() -> None:
    title, head, first, last = repr(table()).splitlines()
    assert title == "mode on ca/voronoi: unlabelled nodes of test graphs, mean ± spread of 3 context draws"
    assert head.split() == ["rate", "accuracy", "nll", "brier", "ece", "accuracy_paper"]
    assert first.split("  ")[0].strip() == "0.1" and "0.8000 ± 0.0100" in first
    assert last.split()[:4] == ["1.0", "0.9000", "±", "0.0100"] and " – " in last
    assert len(head) == len(first) == len(last)
    assert repr(table(rates={})) == title and "<tbody></tbody>" in table(rates={})._repr_html_()
    assert "(stand-in)" in repr(table(data="stand-in")) and "one context draw" in repr(table(draws=1))


def test_in_a_notebook() -> None:
    page = table(model="<b>")._repr_html_()
    assert page.startswith("<table><caption>&lt;b&gt; on ca/voronoi") and "<b>" not in page
    assert page.count("<tr>") == 3 and "<td>0.8000 ± 0.0100</td>" in page


def test_without_pandas_there_is_no_data_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UserError, match=r"pip install 'mpnp\[tables\]'"):
        table().to_pandas()


def test_a_data_frame_has_a_row_per_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    class Frame(list):  # type: ignore[type-arg]
        def set_index(self, name: str) -> tuple[str, Frame]:
            return name, self

    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=Frame))
    index, rows = table().to_pandas()
    assert index == "rate" and [row["rate"] for row in rows] == [0.1, 1.0]
    assert rows[0]["accuracy"] == 0.8 and rows[0]["accuracy_std"] == 0.01
