"""Grids of runs: nothing twice, nothing lost, one failure stops no other; here, in processes, and on a Ray cluster."""

from __future__ import annotations

import errno
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from filelock import FileLock

from mpnp.errors import UserError
from mpnp.reproduce import grid, records
from mpnp.reproduce.plan import Job
from mpnp.tasks import get_task
from mpnp.training.learner import Learner

from ..training.learning import stops

TINY = {
    "epochs": 1,
    "samples": 1,
    "batch_nodes": 100_000,
    "batch_graphs": 256,
    "epoch_steps": 1,
    "z_width": 4,
    "r_width": 4,
}


def job(row: str = "np-c", seed: int = 0, **changes: object) -> Job:
    return Job("ca/small-world", row, seed, changes={**TINY, **changes}, draws=1, graphs=2)


MODE = Job("ca/small-world", "mode", draws=1, graphs=2)


@pytest.fixture(scope="module", autouse=True)
def generated() -> None:
    """Processes that start together would each make the automata."""
    get_task("ca/small-world").graphs("test")


@pytest.fixture(autouse=True)
def same_threads() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def test_a_grid_leaves_results_models_and_how_they_were_made(tmp_path: Path) -> None:
    summary = grid.run([job(), MODE], tmp_path, progress=False)
    assert (summary.done, summary.before, summary.failed, summary.missing) == (2, 0, [], [])
    trained = json.loads((tmp_path / "ca/small-world/np-c-seed0.json").read_text())
    assert trained["made"]["training"]["epochs"] == 1
    assert trained["identity"]["recipe"]["batch_graphs"] == 256
    assert 0 < trained["rates"]["0.1"]["accuracy"] < 1
    assert (tmp_path / "runs" / job().name / "model.safetensors").exists()
    assert not list(tmp_path.rglob("*.at-work")) + list(tmp_path.rglob("*.tmp"))


def test_what_is_done_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid.run([MODE], tmp_path, progress=False)
    before = records.path_of(tmp_path, MODE).stat().st_mtime_ns

    def never(*_: object) -> None:
        raise AssertionError("run twice")

    monkeypatch.setattr(grid, "work", never)
    summary = grid.run([MODE], tmp_path, progress=False)
    assert (summary.done, summary.before) == (0, 1)
    assert records.path_of(tmp_path, MODE).stat().st_mtime_ns == before


def test_a_killed_grid_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid.run([job(epochs=2)], tmp_path / "whole", progress=False)
    # Killed between training and scoring: the model is there, the result is not.
    with monkeypatch.context() as patch:
        patch.setattr(grid, "evaluate", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            grid.run([job(epochs=2)], tmp_path / "parts", progress=False)
    weights = tmp_path / "parts" / "runs" / job().name / "model.safetensors"
    before = weights.stat().st_mtime_ns
    assert not records.is_done(tmp_path / "parts", job(epochs=2))
    assert grid.run([job(epochs=2)], tmp_path / "parts", progress=False).done == 1
    assert weights.stat().st_mtime_ns == before
    results = [records.read_all(tmp_path / name)[0].table.rates for name in ("whole", "parts")]
    assert results[0] == results[1]


def test_a_failing_run_is_recorded_and_stops_no_other(tmp_path: Path) -> None:
    broken = Job("ca/small-world", "rule-posterior", draws=1, graphs=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(grid.PREDICTORS, "rule-posterior", lambda: (_ for _ in ()).throw(RuntimeError("it broke\nbadly")))
        summary = grid.run([broken, MODE], tmp_path, progress=False)
    assert summary.done == 1
    assert [(outcome.job, outcome.error) for outcome in summary.failed] == [(broken, "it broke badly")]
    assert "RuntimeError: it broke" in (tmp_path / "errors" / f"{broken.name}.txt").read_text()
    assert records.is_done(tmp_path, MODE)
    # The next call tries it again, and forgets the error when all is well.
    assert grid.run([broken, MODE], tmp_path, progress=False).done == 1
    assert not (tmp_path / "errors" / f"{broken.name}.txt").exists()


def test_data_that_is_not_there_is_told_and_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPNP_DATA", str(tmp_path / "nowhere"))
    absent = Job("ppisp", "mode")
    summary = grid.run([absent, MODE], tmp_path / "out", progress=False)
    assert summary.done == 1
    assert [outcome.job for outcome in summary.missing] == [absent]
    assert "mpnp data prepare ppisp" in (summary.missing[0].error or "")


def test_a_run_started_with_other_options_is_refused(tmp_path: Path) -> None:
    grid.run([job()], tmp_path, progress=False)
    records.path_of(tmp_path, job()).unlink()
    before = sorted((path, path.stat().st_mtime_ns) for path in (tmp_path / "runs").rglob("*"))
    with pytest.raises(UserError, match=r"started with another recipe.epochs; choose another folder"):
        grid.run([job(epochs=3), MODE], tmp_path, progress=False)
    assert sorted((path, path.stat().st_mtime_ns) for path in (tmp_path / "runs").rglob("*")) == before
    assert not records.is_done(tmp_path, MODE), "nothing is begun in a folder that is not ours"


def test_two_grids_on_one_folder(tmp_path: Path) -> None:
    with FileLock(tmp_path / ".lock"), pytest.raises(UserError, match="Another 'mpnp reproduce' is at work"):
        grid.run([MODE], tmp_path, progress=False)
    assert grid.run([MODE], tmp_path, progress=False).done == 1


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"Cannot write to .*file"):
        grid.run([MODE], tmp_path / "file", progress=False)
    monkeypatch.setattr(os, "access", lambda *_: False)  # as for a read-only folder; root may write to all
    with pytest.raises(UserError, match="Permission denied; choose a place"):
        grid.run([MODE], tmp_path / "read-only", progress=False)


def test_a_full_disk_stops_the_grid_in_one_sentence_and_leaves_no_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: object) -> None:
        path.write_text("half a fi")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    grid.run([MODE], tmp_path, progress=False)
    with monkeypatch.context() as patch:
        patch.setattr(records, "write_json", full)
        with pytest.raises(UserError, match=r"Cannot write .*No space left on device"):
            grid.run([MODE, Job("ca/small-world", "state-mode", draws=1, graphs=2), job()], tmp_path, progress=False)
    left = sorted(path.name for path in (tmp_path / "ca/small-world").iterdir())
    assert left == ["mode-seed0.json"]
    assert not list((tmp_path / "runs").glob("ca-*np-c*")), "the others would meet it too"


class Killer:
    """Kills the process that works on a run as soon as it trains, up to ``times``."""

    def __init__(self, folder: Path, of: Job, times: int) -> None:
        self.note, self.run = folder / "runs" / f"{of.name}.at-work", folder / "runs" / of.name / "run.json"
        self.times, self.killed, self.over = times, 0, False
        self.thread = threading.Thread(target=self.watch)

    def watch(self) -> None:
        last = 0
        while self.killed < self.times and not self.over:
            process = int(self.note.read_text() or 0) if self.note.exists() and self.run.exists() else 0
            if process not in (0, last):
                os.kill(process, signal.SIGKILL)
                last, self.killed = process, self.killed + 1
            time.sleep(0.01)

    def __enter__(self) -> Killer:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over = True
        self.thread.join()


LONG = {"epochs": 3}  # so that the killer comes in time


VICTIM = job(**LONG)
OTHERS = [job(seed=1), MODE]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """What the runs give in one process with one thread."""
    folder, threads = tmp_path_factory.mktemp("alone"), torch.get_num_threads()
    torch.set_num_threads(1)
    grid.run([VICTIM, *OTHERS], folder, progress=False)
    torch.set_num_threads(threads)
    return [record.table.rates for record in records.read_all(folder)]


def test_processes_give_what_one_gives_even_when_one_is_killed(tmp_path: Path, alone: list[dict[str, object]]) -> None:
    with Killer(tmp_path, VICTIM, times=1) as killer:
        summary = grid.run([VICTIM, *OTHERS], tmp_path, workers=2, progress=False)
    assert killer.killed == 1
    assert (summary.done, summary.failed) == (3, [])
    assert [record.table.rates for record in records.read_all(tmp_path)] == alone


def test_a_run_that_dies_again_and_again_is_given_up_and_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid, "ATTEMPTS", 1)
    victim = VICTIM
    with Killer(tmp_path, victim, times=100) as killer:
        summary = grid.run([victim, *OTHERS], tmp_path, workers=2, progress=False)
    assert killer.killed == 2, "once among others, once alone"
    assert summary.done == 2
    assert [outcome.job for outcome in summary.failed] == [victim]
    assert "was killed" in (tmp_path / "errors" / f"{victim.name}.txt").read_text()


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    ray = pytest.importorskip("ray")
    yield
    ray.shutdown()


def test_a_ray_cluster_gives_what_one_process_gives_even_when_a_worker_is_killed(
    tmp_path: Path, cluster: None, alone: list[dict[str, object]]
) -> None:
    with Killer(tmp_path, VICTIM, times=1) as killer:
        summary = grid.run([VICTIM, *OTHERS], tmp_path, workers=2, engine="ray", progress=False)
    assert killer.killed == 1
    assert (summary.done, summary.failed) == (3, [])
    assert [record.table.rates for record in records.read_all(tmp_path)] == alone


def test_an_address_without_a_cluster(tmp_path: Path) -> None:
    pytest.importorskip("ray").shutdown()
    with pytest.raises(UserError, match=r"There is no Ray cluster at '127\.0\.0\.1:1'"):
        grid.run([MODE], tmp_path, engine="ray", address="127.0.0.1:1", progress=False)


def test_ctrl_c_before_the_first_epoch_ends_the_grid_and_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "training_step", stops(0, KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            grid.run([job(), MODE], tmp_path, progress=False)
    assert not (tmp_path / "errors").exists() and not list(tmp_path.rglob("mode*.json"))
    summary = grid.run([job(), MODE], tmp_path, progress=False)
    assert (summary.done, summary.failed) == (2, [])
