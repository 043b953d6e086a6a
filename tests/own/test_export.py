"""The table of predictions: every row by hand, and work that grows with the nodes alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.own import export
from mpnp.prediction import Prediction
from mpnp.tasks.own import OwnGraphs


def made() -> tuple[OwnGraphs, Episode, Prediction]:
    """Two graphs of three and two nodes; the first node is labelled 'no'."""
    none = torch.empty(2, 0, dtype=torch.long)
    y = torch.tensor([0, -1, -1, -1, -1])
    graphs = [Data(x=torch.ones(3, 1), edge_index=none, y=y[:3]), Data(x=torch.ones(2, 1), edge_index=none, y=y[3:])]
    own = OwnGraphs(graphs, [["a", "b", "c"], ["d", "e"]], ["no", "yes"], ["one"])
    p = torch.tensor([1.0, 0.75, 0.5, 0.25, 0.0])
    return own, Episode.from_graphs(graphs, num_classes=2), Prediction.certain(torch.stack([p, 1 - p], 1))


def test_a_table_by_hand(tmp_path: Path) -> None:
    own, episode, prediction = made()
    sets = torch.tensor([[True, False], [True, False], [True, True], [False, True], [False, False]])
    export.write_csv(tmp_path / "out.csv", own, episode, prediction, sets)
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
    own, episode, prediction = made()
    export.write_csv(tmp_path / "whole.csv", own, episode, prediction)
    looked: list[int] = []

    def label(self: Prediction) -> Tensor:
        looked.append(len(self.probabilities))
        return self.probabilities.argmax(-1)

    monkeypatch.setattr(Prediction, "label", property(label))
    monkeypatch.setattr(export, "ROWS", rows)
    export.write_csv(tmp_path / "parts.csv", own, episode, prediction)
    assert (tmp_path / "parts.csv").read_text() == (tmp_path / "whole.csv").read_text()
    assert sum(looked) == 5
