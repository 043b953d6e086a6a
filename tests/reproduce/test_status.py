"""What is said to be run is run, with the same model, and the command for the rest runs the rest."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from mpnp.reproduce import plan, records
from mpnp.reproduce.status import Status, paper_folder, printed, run_rows, status

from .made_up import record, write

RESULTS = Path(__file__).parents[2] / "results"


def put(folder: Path, task: str, row: str, recipe: str = "default") -> None:
    write(folder, record(task, row, {"0.1": 0.5}, identity={"recipe": {"name": recipe}}))


def share(found: Status, name: str, reading: str = "default") -> tuple[int, list[tuple[str, str]]]:
    mine = next(one for one in found.tables if one.table == name).readings[reading]
    return mine.rows_run, list(mine.missing)


def test_all_printed_rows_are_counted_and_those_of_others_are_not() -> None:
    found = status(RESULTS)
    assert found.rows_printed == 133 == sum(one.rows_printed for one in found.tables)
    assert found.from_others == ("ISIS", "DeepPPISP")
    assert 84 <= found.rows_run <= 133


def test_a_relative_is_not_the_same_model(tmp_path: Path) -> None:
    put(tmp_path, "tud/dhfr", "mpnp-c")
    put(tmp_path, "tud/dhfr", "label-propagation")
    run, missing = share(status(tmp_path, ["tud"]), "tud")
    assert run == 1 and ("tud/dhfr", "mpnp") in missing
    put(tmp_path, "tud/dhfr", "mpnp")
    assert share(status(tmp_path, ["tud"]), "tud")[0] == 2


def test_the_papers_recipe_is_counted_apart_wherever_its_runs_lie(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    put(folder, "ca/small-world", "mpnp-paper", "paper")
    put(tmp_path / "out-paper", "ca/voronoi", "np", "paper")
    found = status(folder, ["cellular-automata"])
    assert share(found, "cellular-automata")[0] == 0
    run, missing = share(found, "cellular-automata", "paper")
    assert run == found.rows_run == 2
    assert not {("ca/small-world", "mpnp"), ("ca/voronoi", "np")} & set(missing)


def test_an_ablation_is_another_model(tmp_path: Path) -> None:
    put(tmp_path, "tud/enzymes", "ampnp-no-latent")
    assert run_rows(records.read_all(tmp_path), "default") == {}


def test_the_command_runs_what_is_missing(tmp_path: Path) -> None:
    """Its tables, tasks and models are known to the plan, and all missing rows are among its runs."""
    tmp_path.joinpath("out").mkdir()
    for one in status(tmp_path / "out").tables:
        words = shlex.split(one.readings["default"].command or "")
        tasks, models = words.index("--tasks"), words.index("--models")
        jobs = plan.jobs([words[2]], tasks=words[tasks + 1 : models], rows=words[models + 1 : words.index("--out")])
        assert set(one.readings["default"].missing) <= {(job.task, job.row) for job in jobs}


def test_every_printed_row_of_a_system_we_have_is_in_the_plan() -> None:
    planned = {(job.task, job.row) for job in plan.jobs()}
    absent = {(row.task, row.system) for row in printed() if row.system not in ("ISIS", "DeepPPISP")} - planned
    assert absent == set()


def test_a_folder_without_a_name_has_one_beside_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert paper_folder(Path(".")) == tmp_path.with_name(f"{tmp_path.name}-paper")
    assert paper_folder(Path("results")) == Path("results-paper")
