"""``mpnp predict``: one row per node, in the user's own names."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
import torch

from mpnp.cli import main
from mpnp.models import configs, from_pretrained
from mpnp.models.pretrained import save
from mpnp.own.predict import predict
from mpnp.tasks.own import OwnTask

from ..own.colours import COLOURS, NODES, ring, write
from .commands import Run


@pytest.fixture(scope="module", params=["ampnp", "mpnp"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model for graphs with three named classes; what it believes does not matter here."""
    place = tmp_path_factory.mktemp("own")
    torch.manual_seed(0)
    model = configs.build(configs.config(request.param, OwnTask(write(place / "graphs", ring()))))
    model.save_pretrained(place / "model")
    return place / "model"


def table(model: Path, graphs: Path, out: Path) -> list[dict[str, str]]:
    main(["predict", str(model), str(graphs), "--out", str(out), "--samples", "4"])
    with out.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_table(folder: Path, tmp_path: Path) -> None:
    data = ring()
    rows = table(folder, write(tmp_path / "graph", data), tmp_path / "out.csv")
    columns = ["graph", "node", "given", "label", "p_blue", "p_green", "p_red", "total", "aleatoric", "epistemic"]
    assert list(rows[0]) == columns
    assert [row["node"] for row in rows] == [f"node {i}" for i in range(NODES)]
    assert [row["given"] for row in rows] == [COLOURS[y] if y >= 0 else "" for y in data.y.tolist()]
    for row in rows:
        chances = {name: float(row[f"p_{name}"]) for name in COLOURS}
        assert sum(chances.values()) == pytest.approx(1, abs=1e-5)
        assert chances[row["label"]] == max(chances.values())
        assert float(row["total"]) == pytest.approx(float(row["aleatoric"]) + float(row["epistemic"]), abs=1e-5)
    assert {row["graph"] for row in rows} == {"0"}
    assert [path.name for path in tmp_path.glob("*.csv*")] == ["out.csv"]


def test_the_table_agrees_with_predict(folder: Path, tmp_path: Path) -> None:
    data = ring()
    torch.save([data, ring(9)], tmp_path / "two.pt")
    rows = table(folder, tmp_path / "two.pt", tmp_path / "out.csv")
    assert [(row["graph"], row["node"]) for row in rows[NODES - 1 : NODES + 1]] == [("0", "39"), ("1", "0")]
    written = torch.tensor([[float(row[f"p_{name}"]) for name in COLOURS] for row in rows])
    torch.testing.assert_close(
        written, predict(from_pretrained(folder), [data, ring(9)], samples=4).probabilities, atol=1e-6, rtol=0
    )


def test_the_models_names_rule_the_table(folder: Path, tmp_path: Path) -> None:
    """Only red is labelled in this graph, and it is still the third class."""
    data = ring()
    data.y = torch.where(data.y == 2, 2, -1)
    rows = table(folder, write(tmp_path / "graph", data), tmp_path / "out.csv")
    assert {row["given"] for row in rows} == {"", "red"}
    assert {"p_blue", "p_green", "p_red"} < set(rows[0])


def test_a_table_without_any_label(folder: Path, tmp_path: Path) -> None:
    data = ring()
    data.y = torch.full_like(data.y, -1)
    rows = table(folder, write(tmp_path / "graph", data), tmp_path / "out.csv")
    assert len(rows) == NODES and {row["given"] for row in rows} == {""}


def test_bad_graphs_leave_no_table(folder: Path, tmp_path: Path, refuses: Run) -> None:
    out = tmp_path / "out.csv"
    strange = write(tmp_path / "strange", ring(), names=("blue", "green", "violet"))
    assert "nowhere" in refuses("predict", folder, tmp_path / "nowhere", "--out", out)
    assert "ends in .csv" in refuses("predict", folder, strange, "--out", tmp_path / "out.doc")
    wide = write(tmp_path / "wide", ring(features=5))
    assert "5 features per node" in refuses("predict", folder, wide, "--out", out)
    assert not out.exists()


def test_classes_that_the_model_never_saw(folder: Path, tmp_path: Path, prints: Run, refuses: Run) -> None:
    """One that answers any number of classes: those it knows stay where they were, others follow, or stand alone."""
    out = tmp_path / "out.csv"
    some = write(tmp_path / "some", ring(), names=("blue", "green", "violet"))
    if not from_pretrained(folder).any_classes:
        assert "'violet' was given, one of blue, green, red" in refuses("predict", folder, some, "--out", out)
        return
    assert "without the class 'violet'" in prints("predict", folder, some, "--out", out)
    with out.open(newline="") as file:
        header, rows = next(csv.reader(file)), list(csv.reader(file))
    assert header[4:8] == ["p_blue", "p_green", "p_red", "p_violet"] and {row[2] for row in rows} >= {"violet"}
    others = write(tmp_path / "others", ring(), names=("oak", "elm", "ash"))
    prints("predict", folder, others, "--out", out)
    with out.open(newline="") as file:
        assert next(csv.reader(file))[4:7] == ["p_ash", "p_elm", "p_oak"]


def test_columns_swapped_are_put_in_order(folder: Path, tmp_path: Path, prints: Run, refuses: Run) -> None:
    model, folder = from_pretrained(folder), tmp_path / "model"
    model.feature_names = ["f0", "f1"]
    folder.mkdir()
    save(model, folder, {"finished": True})
    straight = write(tmp_path / "straight", ring())
    rows = [line.split(",") for line in (straight / "nodes.csv").read_text().splitlines()]
    swapped, renamed = tmp_path / "swapped", tmp_path / "renamed"
    for other, order, head in ((swapped, (0, 1, 3, 2), None), (renamed, (0, 1, 2, 3), "size")):
        shutil.copytree(straight, other)
        table = [[row[i] for i in order] for row in rows]
        table[0][3] = head or table[0][3]
        (other / "nodes.csv").write_text("\n".join(",".join(row) for row in table) + "\n")
    outs = [tmp_path / "straight.csv", tmp_path / "swapped.csv"]
    for graph, out in zip((straight, swapped), outs, strict=True):
        prints("predict", folder, graph, "--out", out)
    assert outs[0].read_text() == outs[1].read_text()
    said = refuses("predict", folder, renamed, "--out", tmp_path / "none.csv")
    assert "the feature 'f1', which the model was trained with, is not there" in said


def test_a_folder_is_not_overwritten_by_a_table(folder: Path, tmp_path: Path, refuses: Run) -> None:
    graphs, precious = write(tmp_path / "graph", ring()), tmp_path / "results" / "precious.txt"
    precious.parent.mkdir()
    precious.write_text("mine")
    assert "is a folder" in refuses("predict", folder, graphs, "--out", precious.parent)
    assert "Cannot write" in refuses("predict", folder, graphs, "--out", precious / "out.csv")
    assert precious.read_text() == "mine"
    assert sorted(path.name for path in precious.parent.iterdir()) == ["precious.txt"]
