"""The folder of a run: moved, damaged, in use."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from filelock import FileLock

from mpnp.errors import UserError
from mpnp.models import from_pretrained
from mpnp.models.pretrained import save
from mpnp.tasks.base import Task
from mpnp.training import folder as run_folder
from mpnp.training.fit import Fitted
from mpnp.training.learner import Learner

from .learning import Given, files, graph, log, stops, train, validated_as, weights


@pytest.fixture
def stopped(automata: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Killed in the fourth of four epochs."""
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "training_step", stops(3, RuntimeError))
        with pytest.raises(RuntimeError):
            train(automata, tmp_path / "stopped")
    return tmp_path / "stopped"


def test_a_run_that_was_moved_knows_its_best_model(
    automata: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Learner, "on_validation_epoch_end", validated_as(3, 1, 4, 2))
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "training_step", stops(2, KeyboardInterrupt))
        best = train(automata, tmp_path / "here")
    shutil.move(tmp_path / "here", tmp_path / "there")
    resumed = train(automata, tmp_path / "there", resume=True)
    assert resumed.metrics["val_nll"] == 1
    assert torch.equal(weights(resumed.model), weights(best.model))
    assert not (tmp_path / "here").exists()


def test_a_moved_run_with_all_epochs_done_ends_as_it_would_have(automata: Task, whole: Fitted, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(whole.folder, copy)
    (copy / "metrics.json").unlink()  # killed while the model was being written
    ended = train(automata, copy, resume=True)
    assert ended.metrics | {"minutes": 0} == whole.metrics | {"minutes": 0}
    assert torch.equal(weights(ended.model), weights(whole.model))


@pytest.mark.parametrize("checkpoint", ["best", "last"])
@pytest.mark.parametrize("written", [False, True])
def test_every_epoch_stands_in_the_log_once(
    automata: Task, whole: Fitted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint: str, written: bool
) -> None:
    """Killed between an epoch's row and its checkpoint, or just after that."""
    save = run_folder.WholeFiles.save_checkpoint

    def killed(self: run_folder.WholeFiles, content: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        if written or content["epoch"] != 2:
            save(self, content, path)
        if content["epoch"] == 2 and Path(path).stem == checkpoint:
            raise RuntimeError("killed")

    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="killed"):
        patch.setattr(run_folder.WholeFiles, "save_checkpoint", killed)
        train(automata, tmp_path)
    resumed = train(automata, tmp_path, resume=True)
    assert log(tmp_path, "epoch") == [0, 1, 2, 3]
    for column in ("loss", "val_nll", "step"):
        assert log(tmp_path, column) == log(whole.folder, column)
    assert torch.equal(weights(resumed.model), weights(whole.model))


def flip(path: Path) -> None:
    """A bit, where the weights are."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 16
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])


DAMAGES: list[Callable[[Path], object]] = [
    flip,
    cut,
    lambda path: path.write_bytes(b""),
    lambda path: path.write_text("{}"),
    lambda path: torch.save({"epoch": 3}, path),
    lambda path: path.unlink(),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_made_up_for_by_the_one_before(
    automata: Task, whole: Fitted, stopped: Path, damage: Callable[[Path], object]
) -> None:
    damage(stopped / "checkpoints" / "last.ckpt")
    resumed = train(automata, stopped, resume=True)
    assert torch.equal(weights(resumed.model), weights(whole.model))
    assert log(stopped, "val_nll")[-2:] == log(whole.folder, "val_nll")[-2:]


def test_a_damaged_checkpoint_is_named(stopped: Path, caplog: pytest.LogCaptureFixture) -> None:
    last = stopped / "checkpoints" / "last.ckpt"
    cut(last)
    assert run_folder.checkpoint(stopped) == run_folder.before(last)
    assert "last.ckpt is damaged; training goes on from the epoch before" in caplog.text
    cut(run_folder.before(last))
    with pytest.raises(UserError, match=r"last.before.ckpt is damaged; delete it"):
        run_folder.checkpoint(stopped)


@pytest.mark.parametrize("damage", DAMAGES[:5])
def test_a_damaged_best_model_is_told_in_a_sentence(
    automata: Task, stopped: Path, damage: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The epochs left are no better."""
    monkeypatch.setattr(Learner, "on_validation_epoch_end", lambda self: self.log("val_nll", 9.0))
    damage(stopped / "checkpoints" / "best.ckpt")
    with pytest.raises(UserError, match=r"best.ckpt is damaged"):
        train(automata, stopped, resume=True)


@pytest.mark.parametrize("name", ["run.json", "metrics.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"[1]", bytes(range(256))])
def test_a_damaged_note_is_told_in_a_sentence(
    automata: Task, whole: Fitted, tmp_path: Path, name: str, content: bytes
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(whole.folder, copy)
    (copy / name).write_bytes(content)
    with pytest.raises(UserError, match=f"{name} is damaged"):
        train(automata, copy, resume=True)


def test_a_folder_at_work_is_refused(automata: Task, stopped: Path) -> None:
    before = files(stopped)
    with FileLock(stopped / ".lock"), pytest.raises(UserError, match="Another training is at work"):
        train(automata, stopped, resume=True)
    assert files(stopped) == before


def test_a_full_disk_leaves_the_checkpoint_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    last, disk = tmp_path / "last.ckpt", run_folder.WholeFiles()
    disk.save_checkpoint(dict.fromkeys(run_folder.PARTS, 1), last)

    class Full(io.BytesIO):
        def write(self, content: object) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "open", lambda path, mode: Full())
    with pytest.raises(UserError, match=r"Cannot write .*last.ckpt: No space left"):
        disk.save_checkpoint(dict.fromkeys(run_folder.PARTS, 2), last)
    monkeypatch.undo()
    assert run_folder.load(last)["epoch"] == 1 and files(tmp_path) == {"last.ckpt"}


def test_a_model_that_is_not_finite_is_neither_kept_nor_loaded(whole: Fitted, tmp_path: Path) -> None:
    wild = graph(30, 60)
    wild.x[0, 0] = 1e38
    with pytest.raises(UserError, match="no longer a finite number"):
        train(Given([wild]), tmp_path / "wild", epochs=2)
    assert not (tmp_path / "wild" / "model.safetensors").exists()
    model = from_pretrained(whole.folder)
    next(model.parameters()).data[0] = float("nan")
    save(model, tmp_path / "broken", {"finished": True})
    with pytest.raises(UserError, match="not finite"):
        from_pretrained(tmp_path / "broken")


def test_a_run_does_not_go_on_with_other_graphs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    graphs = [graph(12, 20) for _ in range(3)]
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "training_step", stops(1, KeyboardInterrupt))
        train(Given(graphs), tmp_path, epochs=2)
    graphs[1].x[5, 0] += 0.5
    before = sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
    with pytest.raises(UserError, match=r"The graphs of given have changed since the run .* was started"):
        train(Given(graphs), tmp_path, epochs=2, resume=True)
    assert sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*")) == before
    graphs[1].x[5, 0] -= 0.5
    assert train(Given(graphs), tmp_path, epochs=2, resume=True).metrics["finished"]


def test_a_run_of_before_graphs_were_noted_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = [graph(12, 20)]
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "training_step", stops(1, KeyboardInterrupt))
        train(Given(graphs), tmp_path, epochs=2)
    note = json.loads((tmp_path / "run.json").read_text())
    assert note.pop("data")
    (tmp_path / "run.json").write_text(json.dumps(note))
    assert train(Given(graphs), tmp_path, epochs=2, resume=True).metrics["finished"]


def test_labels_edges_and_shapes_are_part_of_what_graphs_were() -> None:
    torch.manual_seed(0)
    given = graph(6, 8)
    one = run_folder.fingerprint(Given([given]))
    assert one == run_folder.fingerprint(Given([given.clone()]))
    for key in ("x", "y", "edge_index"):
        other = given.clone()
        other[key] = other[key].flip(0)
        assert run_folder.fingerprint(Given([other])) != one
