"""What leaves the studio leads back to it."""

from __future__ import annotations

import asyncio
import csv
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from mpnp.studio import export
from mpnp.studio.belief import open_graph
from mpnp.studio.examples import make
from mpnp.studio.labelling import Labelling
from mpnp.studio.room import Room
from mpnp.studio.scene import Scene, from_file


def test_predictions_are_a_table_of_all_nodes(scene: Scene) -> None:
    labelling = Labelling.start(scene.data.y.numpy(), ["red", "b,lue"])
    prediction = open_graph("label-propagation", scene.data).believe(scene.data.y, 2)
    rows = list(csv.DictReader(export.predictions(scene, labelling, prediction).splitlines()))
    assert [row["node"] for row in rows] == scene.names
    assert [row["given"] for row in rows] == ["red", "", "", "", "", "b,lue"]
    assert [row["label"] for row in rows] == ["red"] * 3 + ["b,lue"] * 3
    for row in rows:
        assert abs(float(row["p_red"]) + float(row["p_b,lue"]) - 1) < 1e-5
        assert abs(float(row["total"]) - float(row["aleatoric"]) - float(row["epistemic"])) < 1e-5


def test_the_python_lines_reproduce_the_state() -> None:
    scene = make("karate")
    labelling = Labelling.start(scene.data.y.numpy(), ["Mr. Hi", "'); import os #"])
    labelling.perform({"do": "paint", "nodes": [33], "label": 1})
    prediction = open_graph("label-propagation", scene.data).believe(torch.from_numpy(labelling.labels), 2)
    script = export.script(scene, labelling, "label-propagation")
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    rows = [line.split("\t") for line in run.stdout.splitlines()]
    assert [row[0] for row in rows] == scene.names
    assert [row[1] for row in rows] == [labelling.classes[label].name for label in prediction.label]
    assert [row[2] for row in rows] == [f"{share:.3f}" for share in prediction.probabilities.amax(1)]


@pytest.mark.parametrize("model", ["universal", "runs/mine"])
def test_the_python_lines_find_your_files_and_your_model(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both were named from the folder the studio was started in; the lines are run in another."""
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    (home / "graph").mkdir(parents=True)
    (home / "universal").mkdir()  # a folder of that name is not what the name means
    elsewhere.mkdir()
    (home / "graph/nodes.csv").write_text("id,a,b\n" + "".join(f"n{i},{i % 2},{i // 4}\n" for i in range(8)))
    (home / "graph/edges.csv").write_text("source,target\n" + "".join(f"n{i},n{i + 1}\n" for i in range(7)))
    shutil.copytree(Path(__file__).parent.parent / "models/v010/ampnp", home / "runs/mine")
    monkeypatch.chdir(home)
    room = Room(from_file(Path("graph")), model, Path("labels.csv"))
    asyncio.run(room.perform({"do": "paint", "nodes": [0, 2], "label": 0}))
    asyncio.run(room.perform({"do": "paint", "nodes": [7], "label": 1}))
    said = room.belief.believe(torch.from_numpy(room.labelling.labels), 2)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", export.script(room.scene, room.labelling, room.model)],
        cwd=elsewhere, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    rows = [line.split("\t") for line in run.stdout.splitlines()]
    assert [row[2] for row in rows] == [f"{share:.3f}" for share in said.probabilities.amax(1)]
