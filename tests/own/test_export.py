"""Files of predictions: every row by hand, names that spreadsheets leave alone, all formats alike."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.errors import UserError
from mpnp.own import export
from mpnp.own.named import OwnPrediction
from mpnp.prediction import Prediction
from mpnp.tasks.formats.cells import meant
from mpnp.tasks.own import OwnGraphs, as_graphs


def made(sets: Tensor | None = None, names: tuple[str, ...] = ("no", "yes")) -> OwnPrediction:
    """Two graphs of three and two nodes; the first node is labelled 'no'."""
    none = torch.empty(2, 0, dtype=torch.long)
    y = torch.tensor([0, -1, -1, -1, -1])
    graphs = [Data(x=torch.ones(3, 1), edge_index=none, y=y[:3]), Data(x=torch.ones(2, 1), edge_index=none, y=y[3:])]
    own = OwnGraphs(graphs, [["a", "b", "c"], ["d", "e"]], list(names), ["one"])
    p = torch.tensor([1.0, 0.75, 0.5, 0.25, 0.0])
    said = Prediction.certain(torch.stack([p, 1 - p], 1))
    return OwnPrediction(said.probabilities, said.aleatoric, None, own, None, sets)


def one_graph(names: list[str]) -> OwnPrediction:
    own = as_graphs({"edge_index": torch.tensor([[0, 1], [1, 0]]), "y": torch.tensor([0, 1])})
    own.node_names, own.class_names = [names], ["=1+1", "-x"]
    said = Prediction.certain(torch.tensor([[0.9, 0.1], [0.2, 0.8]]))
    return OwnPrediction(
        said.probabilities, said.aleatoric, None, own, None, torch.tensor([[True, False], [True, True]])
    )


def test_a_table_by_hand(tmp_path: Path) -> None:
    sets = torch.tensor([[True, False], [True, False], [True, True], [False, True], [False, False]])
    export.write(tmp_path / "out.csv", made(sets))
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "graph,node,given,label,p_no,p_yes,total,aleatoric,epistemic,set",
        "0,a,no,no,1.000000,0.000000,0.000000,0.000000,0.000000,no",
        "0,b,,no,0.750000,0.250000,0.562335,0.562335,0.000000,no",
        "0,c,,no,0.500000,0.500000,0.693147,0.693147,0.000000,no|yes",
        "1,d,,yes,0.250000,0.750000,0.562335,0.562335,0.000000,yes",
        "1,e,,yes,0.000000,1.000000,0.000000,0.000000,0.000000,",
    ]


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 100])
def test_every_row_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """However many rows are written at a time, the likeliest labels are found once for each node."""
    export.write(tmp_path / "whole.csv", made())
    looked: list[int] = []

    def label(self: Prediction) -> Tensor:
        looked.append(len(self.probabilities))
        return self.probabilities.argmax(-1)

    monkeypatch.setattr(Prediction, "label", property(label))
    monkeypatch.setattr(export, "ROWS", rows)
    export.write(tmp_path / "parts.csv", made())
    assert (tmp_path / "parts.csv").read_text() == (tmp_path / "whole.csv").read_text()
    assert sum(looked) == 5


def test_names_are_quoted_as_csv_has_it(tmp_path: Path) -> None:
    names = ["a,b", 'say "no"', "two\nlines", "\r", " space ", "", "'=1", "ü"]
    own = as_graphs({"edge_index": torch.tensor([[0], [1]]), "y": torch.tensor([0, 1, *[-1] * 6])})
    own.node_names, own.class_names = [names], ["x,y", '"']
    said = Prediction.certain(torch.full((8, 2), 0.5))
    export.write(
        tmp_path / "out.csv",
        OwnPrediction(said.probabilities, said.aleatoric, None, own, None, torch.ones(8, 2, dtype=torch.bool)),
    )
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        head, *rows = list(csv.reader(file))
    assert [meant(row[1]) for row in rows] == names
    assert head[4:6] == ["p_x,y", 'p_"'] and [row[2] for row in rows[:3]] == ["x,y", '"', ""]
    assert {row[-1] for row in rows} == {'x,y|"'} and {len(row) for row in rows} == {len(head)}


def test_no_spreadsheet_runs_a_name(tmp_path: Path) -> None:
    export.write(tmp_path / "out.csv", one_graph(["@SUM(A1)", "-7"]))
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["node"] for row in rows] == ["'@SUM(A1)", "-7"]  # a number stays a number
    assert [row["label"] for row in rows] == ["'=1+1", "'-x"]
    assert [row["set"] for row in rows] == ["'=1+1", "'=1+1|-x"]
    assert not [cell for row in rows for cell in row.values() if cell[:1] in tuple("=+@\t")]


def test_what_was_written_safely_is_read_back_as_it_was(tmp_path: Path) -> None:
    names = ["=a", "'=b", "''=c", "+d", "-5", "'e", "@f", "-g"]
    own = as_graphs({"edge_index": torch.tensor([[0], [1]]), "y": torch.arange(8)})
    own.node_names = [names]
    said = OwnPrediction(torch.eye(8), torch.zeros(8), None, own)
    said.own.class_names = names
    export.write(tmp_path / "nodes.csv", said)
    (tmp_path / "edges.csv").write_text("source,target\n'=a,''=b\n")
    columns = ["graph", "given", "total", "aleatoric", "epistemic", *(f"p_{name}" for name in names)]
    again = as_graphs(tmp_path, ignore=columns[1:])
    assert again.node_names == [names] and again.graphs[0].edge_index.tolist() == [[0, 1], [1, 0]]
    assert [again.class_names[c] for c in again.graphs[0].y.tolist()] == names


def test_other_formats_hold_the_same(tmp_path: Path) -> None:
    import networkx as nx
    import pandas as pd

    said = one_graph(["=a", "b"])
    for ending in ("json", "parquet", "graphml"):
        assert said.save(tmp_path / f"out.{ending}").exists()
    rows = json.loads((tmp_path / "out.json").read_text())
    assert rows[1]["node"] == "b" and rows[1]["set"] == ["=1+1", "-x"] and rows[0]["label"] == "=1+1"
    frame = pd.read_parquet(tmp_path / "out.parquet")
    assert frame["label"].tolist() == ["=1+1", "-x"] and frame["p_-x"].tolist() == pytest.approx([0.1, 0.8])
    graph = nx.read_graphml(tmp_path / "out.graphml")
    assert graph.nodes["=a"]["label"] == "=1+1" and graph.number_of_edges() == 1


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"ends in \.csv, \.parquet, \.json, \.graphml"):
        export.write(tmp_path / "out.xlsx", made())
    with pytest.raises(UserError, match="GraphML holds one graph, 2 were predicted"):
        export.write(tmp_path / "out.graphml", made())
    with pytest.raises(UserError, match="cannot be written as GraphML"):
        export.write(tmp_path / "out.graphml", one_graph(["\x1b[31m", "b"]))
    assert not list(tmp_path.iterdir())
