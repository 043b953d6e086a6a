"""Results as files: what is trusted and what is not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mpnp.errors import UserError
from mpnp.evaluation.tables import Scores, ScoreTable
from mpnp.reproduce import records
from mpnp.reproduce.plan import Job, jobs

JOB = Job("ca/small-world", "mode")
TABLE = ScoreTable("ca/small-world", "generated", "mode", "test", 3, 0, {"0.1": Scores(0.5, 0.6, 0.4, 0.1, 0.5)})


def test_what_was_written_is_read(tmp_path: Path) -> None:
    assert not records.is_done(tmp_path, JOB)
    records.write(tmp_path, JOB, TABLE)
    assert records.is_done(tmp_path, JOB)
    [record] = records.read_all(tmp_path)
    assert (record.task, record.row, record.seed) == ("ca/small-world", "mode", 0)
    assert record.table == TABLE
    assert record.identity == records.as_stored(JOB.identity())


def test_the_results_of_this_repository_are_still_results() -> None:
    """A new version of the package leaves them standing; Cora is left out, as its identity depends on the data here."""
    mine = [job for job in jobs(seeds=3) if not job.task.startswith("cora")]
    assert sum(records.is_done(Path(__file__).parents[2] / "results", job) for job in mine) >= 273


def test_rows_whose_names_begin_alike_are_kept_apart(tmp_path: Path) -> None:
    for row in ("ampnp", "ampnp-no-latent"):
        records.write(tmp_path, Job("tud/enzymes", row, seed=1), TABLE)
    assert [(r.row, r.seed) for r in records.read_all(tmp_path)] == [("ampnp", 1), ("ampnp-no-latent", 1)]


def test_other_files_in_the_folder_are_no_results(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "mode-seed0.json").write_text("{}")
    assert records.read_all(tmp_path) == []


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (replace(JOB, draws=1), "another evaluation.draws"),
        (replace(JOB, graphs=3), "another evaluation.graphs"),
    ],
)
def test_a_result_of_other_options_is_neither_taken_nor_overwritten(tmp_path: Path, other: Job, words: str) -> None:
    records.write(tmp_path, JOB, TABLE)
    before = records.path_of(tmp_path, JOB).read_text()
    with pytest.raises(UserError, match=words):
        records.is_done(tmp_path, other)
    assert records.path_of(tmp_path, JOB).read_text() == before


def test_a_result_of_an_older_version_is_not_taken(tmp_path: Path) -> None:
    records.write(tmp_path, JOB, TABLE)
    path = records.path_of(tmp_path, JOB)
    stored = json.loads(path.read_text())
    stored["identity"]["version"] = "0.0.9"
    path.write_text(json.dumps(stored))
    with pytest.raises(UserError, match=r"made with version 0\.0\.9 of the figures, not .*; choose another folder"):
        records.is_done(tmp_path, JOB)
    del stored["identity"]
    path.write_text(json.dumps(stored))
    with pytest.raises(UserError, match="another version of mpnp"):
        records.is_done(tmp_path, JOB)


@pytest.mark.parametrize(
    "content", ["", "{", "[" * 100_000, "9" * 10_000, "[]", "{}", "null", '{"rates": {}}', '{"rates": {"0.1": 3}}']
)
def test_a_damaged_file_is_named_and_left_out_of_reports(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = records.path_of(tmp_path, JOB)
    path.parent.mkdir(parents=True)
    path.write_text(content)
    with pytest.raises(UserError, match="move it away"):
        records.is_done(tmp_path, JOB)
    assert records.read_all(tmp_path) == []
    assert str(path) in caplog.text


@pytest.mark.parametrize(
    "change",
    [
        {"draws": None},
        {"draws": []},
        {"draws": "3"},
        {"seed": 1.5},
        {"task": 3},
        {"identity": 3},
        {"identity": {"evaluation": "x"}},
        {"made": {"training": [1]}},
    ],
)
def test_a_field_of_another_kind_is_damage(tmp_path: Path, change: dict[str, object]) -> None:
    whole = {"task": "t", "data": "d", "model": "m", "split": "test", "draws": 1, "seed": 0, "rates": {}}
    path = records.path_of(tmp_path, JOB)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(whole))
    assert len(records.read_all(tmp_path)) == 1
    path.write_text(json.dumps({**whole, **change}))
    assert records.read_all(tmp_path) == []
