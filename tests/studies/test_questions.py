"""What asking is worth, measured on a made-up graph in place of a public one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from studies import questions
from torch_geometric.data import Data

from mpnp.tasks import nodes


@pytest.fixture
def cliques(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Two cliques of twelve in place of node/texas, a third of each under the masks of test and validation; results in a folder of their own."""
    one = torch.combinations(torch.arange(12)).t()
    edges = torch.cat([one, one + 12, torch.tensor([[0], [12]])], 1)
    y = (torch.arange(24) >= 12).long()
    test = (torch.arange(24) % 3 == 0).unsqueeze(0)
    graph = Data(x=torch.eye(24), edge_index=torch.cat([edges, edges.flip(0)], 1), y=y)
    val = (torch.arange(24) % 3 == 1).unsqueeze(0)
    public = nodes.Public(graph, ~test & ~val, val, test)
    monkeypatch.setattr(nodes.NodeTask, "public", public)
    monkeypatch.setattr(nodes.NodeTask, "num_classes", 2)
    monkeypatch.setattr(questions, "OUT", tmp_path)
    monkeypatch.setattr(questions, "PER_CLASS", 3)
    return tmp_path


def test_curves_are_kept_and_told(cliques: Path) -> None:
    command = ["--graphs", "texas", "--strategies", "random", "auto", "--draws", "2"]
    questions.main(command)
    curve = questions.stored("texas", "auto", 1)
    assert curve is not None and curve.labels == [2, 4, 6]
    assert len(curve.accuracy) == len(curve.hidden) == 3 and len(curve.now) == len(curve.next) == 2
    assert all(low <= mean <= high for mean, low, high in curve.now)
    page = (cliques / "README.md").read_text(encoding="utf-8")
    assert "| texas | 2 |" in page and "`auto`" in page and "Not run: cora" in page
    assert "| mean gain |" in page and "| above random |" in page
    assert (cliques / "curves.png").exists()
    before = {path: path.stat().st_mtime_ns for path in cliques.rglob("*.json")}
    questions.main(command)  # what is measured is not measured again
    assert {path: path.stat().st_mtime_ns for path in cliques.rglob("*.json")} == before


def test_the_test_mask_is_never_asked(cliques: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    plain = questions.ask

    def watched(*given: object, **options: object) -> object:
        choice = plain(*given, **options)  # type: ignore[arg-type]
        seen.extend(choice.nodes.tolist())
        return choice

    monkeypatch.setattr(questions, "ask", watched)
    questions.measure("texas", ["random"], 1)
    assert seen and all(node % 3 for node in seen)
    seen.clear()
    questions.main(["--graphs", "texas", "--strategies", "random", "margin", "--draws", "2", "--split", "val"])
    assert seen and all(node % 3 for node in seen)
    kept = json.loads((cliques / "validation.json").read_text(encoding="utf-8"))
    assert {name: [*areas] for name, areas in kept["texas"].items()} == {"random": ["0", "1"], "margin": ["0", "1"]}
    assert not (cliques / "texas" / "margin-0.json").exists()
    assert "on validation masks" in (cliques / "README.md").read_text(encoding="utf-8")


def test_what_is_scored_for_choices_is_not_asked_and_is_no_test_node(cliques: Path) -> None:
    task = nodes.NodeTask("texas")
    scored, asked = questions.scored_and_asked(task, 0, "val")
    assert set(scored.nonzero().flatten().tolist()) < {node for node in range(24) if node % 3 == 1}
    assert scored.any() and asked.tolist() == [node % 3 > 0 and not scored[node] for node in range(24)]


def test_gains_are_paired_over_the_draws_that_both_have_and_averaged_over_graphs() -> None:
    def curves(*areas: float) -> list[questions.Curve]:
        return [questions.Curve("g", "s", d, [1, 2], [a, a], [a, a], 0.0, [], [], {}) for d, a in enumerate(areas)]

    found = {
        "one": {"random": curves(0.5, 0.7), "margin": curves(0.6), "auto": curves(0.55, 0.85)},
        "two": {"random": curves(0.5), "margin": curves(0.4), "auto": curves(0.6)},
        "three": {"random": curves(0.5), "auto": curves(0.45)},
    }
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in questions._table(found, ["margin", "auto"])
    ]
    by_name = {row[0]: row[3:] for row in rows}
    assert by_name["one"][0] == "+10.0" and by_name["one"][1].startswith("+10.0 (")  # of one draw, and of two
    assert by_name["three"] == ["–", "-5.0"]
    assert by_name["mean gain"][0].startswith("+0.00 (") and by_name["mean gain"][1].startswith("+5.00 (")
    assert by_name["`auto` over it"][0].startswith("+7.50 (") and by_name["`auto` over it"][1] == ""  # -5 and 20
    assert by_name["above random"] == ["1 of 2", "2 of 3"]
    _, height = questions._height(found["one"]["margin"], found["one"]["random"])
    assert height.tolist() == pytest.approx([0.7, 0.7])  # 10 above a mean of 60
