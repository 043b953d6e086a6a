"""``mpnp calibrate``, and what ``mpnp predict`` makes of it."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from mpnp.models import configs, from_pretrained
from mpnp.models.calibration import FILE, Calibration
from mpnp.models.pretrained import save
from mpnp.tasks.own import OwnTask

from .commands import Run

NAMES = ("no", "yes")


def write_graphs(folder: Path, features: int = 1) -> Path:
    """Ten rings of twelve nodes, all but one of a ring labelled."""
    folder.mkdir()
    generator, nodes, edges = torch.Generator().manual_seed(0), [], []
    for g in range(10):
        for i in range(12):
            y = int(torch.randint(2, (), generator=generator))
            x = [f"{y + float(torch.randn((), generator=generator)):.3f}" for _ in range(features)]
            nodes.append(f"{g}-{i},{g},{NAMES[y] if i else ''},{','.join(x)}")
            edges.append(f"{g}-{i},{g}-{(i + 1) % 12}")
    columns = ",".join(f"f{i}" for i in range(features))
    (folder / "nodes.csv").write_text("\n".join([f"id,graph,label,{columns}", *nodes]) + "\n")
    (folder / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    return folder


@pytest.fixture
def graphs(tmp_path: Path) -> Path:
    return write_graphs(tmp_path / "graphs")


@pytest.fixture
def model(graphs: Path, tmp_path: Path) -> Path:
    """An untrained model: it has a calibration all the same."""
    torch.manual_seed(0)
    folder = tmp_path / "model"
    folder.mkdir()
    save(configs.build(configs.config("ampnp", OwnTask(graphs))), folder, {"finished": True})
    return folder


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text))


FAST = ("--draws", 1, "--samples", 2)


def test_a_model_is_calibrated_and_predicts_sets(graphs: Path, model: Path, prints: Run, tmp_path: Path) -> None:
    table, picture = tmp_path / "out.csv", tmp_path / "new" / "picture.svg"
    prints("predict", model, graphs, "--out", table)
    before = rows(table)
    assert "set" not in before[0]
    lines = prints("calibrate", model, "--out", picture, "--coverage", 0.6, *FAST).splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["0.05", "0.1", "0.3"]
    assert lines[-1] == f"Reliability diagrams: {picture}. Kept in {model / FILE}."
    assert "<svg" in picture.read_text()
    calibration = from_pretrained(model).calibration
    assert calibration is not None and calibration.conformal is not None
    assert (calibration.task, calibration.conformal.coverage) == (f"own:{graphs}", 0.6)
    prints("predict", model, graphs, "--out", table)
    after = rows(table)
    assert [row["label"] for row in after] == [row["label"] for row in before]
    assert list(after[0])[-1] == "set"
    for row in after:  # eleven of twelve nodes are labelled: beyond the last rate, whose threshold holds
        threshold = calibration.conformal.thresholds[-1]
        assert row["set"] == "|".join(name for name in NAMES if float(row[f"p_{name}"]) >= threshold)
    assert len({row["set"] for row in after}) > 1


def test_json_and_calibrating_twice(model: Path, prints: Run) -> None:
    result = json.loads(prints("calibrate", model, "--json", "--out", "a.png", *FAST), parse_constant=pytest.fail)
    assert (result["model"], result["coverage"], result["stored"]) == ("ampnp", 0.9, str(model / FILE))
    calibration = Calibration.read(model / FILE)
    assert calibration is not None and calibration.temperature == result["temperature"]
    for row in result["rates"].values():
        assert set(row) == {"before", "after"}
        assert {"nll", "brier", "ece", "coverage", "set_size", "bins"} < set(row["after"])
        assert row["before"]["accuracy"] == row["after"]["accuracy"]
    # Once more, from the model as it now lies there: what was kept does not add up.
    again = json.loads(prints("calibrate", model, "--json", "--out", "a.png", *FAST))
    assert (again["rates"], Calibration.read(model / FILE)) == (result["rates"], calibration)


def test_a_predictor_without_parameters_keeps_nothing(graphs: Path, prints: Run, tmp_path: Path) -> None:
    before = sorted(path.name for path in tmp_path.rglob("*"))
    said = prints("calibrate", "label-propagation", "--task", graphs, "--out", "lp.png")
    assert "0.3" in said and said.endswith("Reliability diagrams: lp.png.\n")
    assert sorted(path.name for path in tmp_path.rglob("*")) == sorted([*before, "lp.png"])


def test_what_is_refused(graphs: Path, model: Path, refuses: Run, tmp_path: Path) -> None:
    for coverage in ("0", "1", "1.5", "-0.1"):
        assert "between 0 and 1" in refuses("calibrate", model, f"--coverage={coverage}")
    assert "ends in .png, .svg or .pdf" in refuses("calibrate", model, "--out", "table.csv")
    assert "not bound to a task" in refuses("calibrate", "mode")
    wider = write_graphs(tmp_path / "wider", features=2)
    assert "has 2 features per node" in refuses("calibrate", model, "--task", wider)
    assert not (model / FILE).exists()
    (model / FILE).write_text("{")
    for command in (("calibrate", model), ("predict", model, graphs), ("evaluate", model)):
        assert f"{model / FILE} is damaged" in refuses(*command)


def test_without_validation_graphs(model: Path, refuses: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    load = OwnTask.load
    monkeypatch.setattr(OwnTask, "load", lambda self: {k: v for k, v in load(self).items() if k != "val"})
    assert "has no val graphs" in refuses("calibrate", model)


def test_a_folder_that_cannot_be_written_to(model: Path, refuses: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told before the work is done; and if it only turns out then, nothing half-written is left."""
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != model)
    assert "calibrate a copy" in refuses("calibrate", model)
    assert not Path("calibration.png").exists()
    monkeypatch.undo()
    replace = os.replace

    def full(source: Any, target: Any) -> None:
        if Path(target).name == FILE:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.chdir(model.parent)
    monkeypatch.setattr(os, "replace", full)
    assert "No space left" in refuses("calibrate", model, *FAST)
    assert not [path for path in model.iterdir() if path.name.startswith(".") or path.name == FILE]
