"""Predictions for a user's own graphs: in Python and as a table."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.errors import UserError
from mpnp.models import configs, from_pretrained
from mpnp.models.base import LatentModel
from mpnp.models.mode import Mode
from mpnp.own.predict import predict, predict_file
from mpnp.tasks.own import OwnTask
from mpnp.training.fit import fit

COLOURS = ("blue", "green", "red")
NODES = 40


def ring(nodes: int = NODES, features: int = 2) -> Data:
    around = torch.arange(nodes)
    once = torch.stack([around, (around + 1) % nodes])
    x = torch.randn(nodes, features, generator=torch.Generator().manual_seed(0))
    y = torch.where(around % 4 > 0, around % 3, -1)  # a quarter is unlabelled
    return Data(x=x, edge_index=torch.cat([once, once.flip(0)], 1), y=y)


def write(folder: Path, data: Data, names: tuple[str, ...] = COLOURS) -> Path:
    folder.mkdir(exist_ok=True)
    rows = [
        f"node {i},{names[y] if y >= 0 else ''},{','.join(str(value) for value in x)}"
        for i, (x, y) in enumerate(zip(data.x.tolist(), data.y.tolist(), strict=True))
    ]
    header = ",".join(["id", "label", *(f"f{i}" for i in range(data.x.size(1)))])
    (folder / "nodes.csv").write_text("\n".join([header, *rows]) + "\n")
    edges = "\n".join(f"node {u},node {v}" for u, v in data.edge_index.t().tolist())
    (folder / "edges.csv").write_text(f"source,target\n{edges}\n")
    return folder


@pytest.fixture(scope="module", params=["ampnp", "mpnp"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model trained for a moment on graphs with three named classes."""
    place = tmp_path_factory.mktemp("own")
    options = {"width": 16} if request.param == "ampnp" else {}
    task = OwnTask(write(place / "graphs", ring()))
    return fit(task, request.param, out=place / "model", epochs=2, progress=False, options=options).folder


@pytest.fixture(scope="module")
def model(folder: Path) -> LatentModel:
    return from_pretrained(folder)


def table(model_folder: Path, graphs: Path, out: Path) -> list[dict[str, str]]:
    predict_file(model_folder, graphs, out, samples=4)
    with out.open(newline="") as file:
        return list(csv.DictReader(file))


# --- In Python -------------------------------------------------------------------------------------------------------


def check(probabilities: Tensor, nodes: int, classes: int) -> None:
    assert probabilities.shape == (nodes, classes)
    torch.testing.assert_close(probabilities.sum(1), torch.ones(nodes))


def test_every_node_is_predicted(model: LatentModel) -> None:
    prediction = predict(model, ring(), samples=4)
    check(prediction.probabilities, NODES, 3)
    torch.testing.assert_close(prediction.total, prediction.aleatoric + prediction.epistemic, atol=1e-5, rtol=0)
    assert torch.equal(prediction.probabilities, predict(model, ring(), samples=4).probabilities)


def test_the_labels_count(model: LatentModel) -> None:
    other = ring()
    other.y = torch.where(other.y >= 0, (other.y + 1) % 3, -1)
    assert not torch.equal(predict(model, ring()).probabilities, predict(model, other).probabilities)


def test_graphs_are_predicted_alone_as_together(model: LatentModel) -> None:
    data, small = ring(), ring(9)
    both = predict(model, [data, small]).probabilities
    hidden = torch.cat([data.y, small.y]) < 0  # labelled nodes are cross-fitted with other folds
    alone = torch.cat([predict(model, one).probabilities for one in (data, small)])
    torch.testing.assert_close(both[hidden], alone[hidden], atol=1e-5, rtol=0)


def test_a_graph_without_labels_gets_the_prior(model: LatentModel) -> None:
    data = ring()
    data.y = torch.full_like(data.y, -1)
    nothing = predict(model, data).probabilities
    check(nothing, NODES, 3)
    data.y = None
    assert torch.equal(predict(model, data).probabilities, nothing)


def test_classes_that_no_node_shows_stay_possible(model: LatentModel) -> None:
    data = ring()
    data.y = torch.where(data.y == 0, 0, -1)
    probabilities = predict(model, data).probabilities
    check(probabilities, NODES, 3)
    assert (probabilities > 0).all()


def test_more_classes_than_trained_on(model: LatentModel) -> None:
    data = ring()
    data.y[1] = 4
    if model.any_classes:
        check(predict(model, data).probabilities, NODES, 5)
    else:
        with pytest.raises(UserError, match="3 classes"):
            predict(model, data)


def test_other_features_are_refused(model: LatentModel) -> None:
    with pytest.raises(UserError, match="3 features per node, but the model is made for 2"):
        predict(model, ring(features=3))


def test_predictors_without_parameters_predict_too() -> None:
    assert predict(Mode(), ring()).probabilities.shape == (NODES, 3)
    assert predict(Mode(), ring(), num_classes=5).probabilities.shape == (NODES, 5)


@pytest.mark.parametrize("name", ["ampnp", "anp"])
def test_a_labels_own_prediction_does_not_depend_on_it(name: str, tmp_path: Path) -> None:
    """Flip a node's label: the others may change, its own prediction stays to the last bit."""
    torch.manual_seed(0)
    network = configs.build(configs.config(name, OwnTask(write(tmp_path, ring()))))
    before, changed = predict(network, ring(), samples=4).probabilities, 0
    for node in (1, 2, 3, 39):
        data = ring()
        data.y[node] = (data.y[node] + 1) % 3
        after = predict(network, data, samples=4).probabilities
        assert torch.equal(after[node], before[node])
        changed += int((after != before).any())
    assert changed == 4


# --- As a table ------------------------------------------------------------------------------------------------------


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
    assert [path.name for path in tmp_path.iterdir() if path.name != "graph"] == ["out.csv"]


def test_the_table_agrees_with_predict(folder: Path, model: LatentModel, tmp_path: Path) -> None:
    data = ring()
    torch.save([data, ring(9)], tmp_path / "two.pt")
    rows = table(folder, tmp_path / "two.pt", tmp_path / "out.csv")
    assert [(row["graph"], row["node"]) for row in rows[NODES - 1 : NODES + 1]] == [("0", "39"), ("1", "0")]
    written = torch.tensor([[float(row[f"p_{name}"]) for name in COLOURS] for row in rows])
    torch.testing.assert_close(written, predict(model, [data, ring(9)], samples=4).probabilities, atol=1e-6, rtol=0)


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


def test_bad_graphs_leave_no_table(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    strange = write(tmp_path / "strange", ring(), names=("blue", "green", "violet"))
    with pytest.raises(UserError, match="'violet' was given, one of blue, green, red"):
        predict_file(folder, strange, out)
    with pytest.raises(UserError, match="5 features per node"):
        predict_file(folder, write(tmp_path / "wide", ring(features=5)), out)
    assert not out.exists()


def test_a_folder_is_not_overwritten_by_a_table(folder: Path, tmp_path: Path) -> None:
    graphs, precious = write(tmp_path / "graph", ring()), tmp_path / "results" / "precious.txt"
    precious.parent.mkdir()
    precious.write_text("mine")
    with pytest.raises(UserError, match="is a folder"):
        predict_file(folder, graphs, precious.parent)
    with pytest.raises(UserError, match="Cannot write"):
        predict_file(folder, graphs, precious / "out.csv")
    assert precious.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph", "results"]
