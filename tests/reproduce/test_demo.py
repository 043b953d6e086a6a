"""The demo, in small."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpnp.errors import UserError
from mpnp.evaluation.answers import episodes
from mpnp.models import PREDICTORS
from mpnp.reproduce import demo
from mpnp.tasks.base import Task
from mpnp.tasks.cellular_automata import CellularAutomaton

SMALL = CellularAutomaton("small-world", graphs_total=40)


@pytest.fixture(autouse=True)
def small_task(monkeypatch: pytest.MonkeyPatch) -> None:
    def get_small(name: str) -> Task:
        assert name == "ca/small-world"
        return SMALL

    monkeypatch.setattr(demo, "get_task", get_small)


def test_the_demo_prints_the_table_and_draws_the_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):  # a second demo replaces the first
        demo.run(tmp_path, epochs=1)
        lines = capsys.readouterr().out.splitlines()
        header = next(i for i, line in enumerate(lines) if line.startswith("context labels"))
        assert lines[header].split()[2:] == ["10", "%", "30", "%", "100", "%"]
        rows = lines[header + 1 : header + 8]
        names = ["mode", "state-mode", "ampnp", "rule-posterior", "the paper: MPNP", "the paper: NP"]
        assert [row.startswith(name) for row, name in zip(rows, names, strict=False)] == [True] * 6
        values = [[float(value) for value in row.split()[-3:]] for row in rows]
        assert all(0 <= value <= 100 for row in values for value in row)
        assert values[3][1] > values[1][1] > 50  # the limit above the baseline
    for name in ("automaton.png", "accuracy.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "model" / "model.safetensors").is_file()


def test_the_papers_figures_are_those_of_its_table() -> None:
    figures = demo.papers_figures("ca/small-world", (0.1, 0.3, 1.0))
    assert list(figures) == ["MPNP", "NP", "State mode"]
    assert figures["MPNP"] == [88.14, 95.09, 97.33] and figures["NP"][0] == 77.28


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UserError, match="is a file"):
        demo.run(tmp_path / "file", epochs=1)
    assert (tmp_path / "file").read_text() == "mine"


def test_the_picture_shows_a_typical_graph() -> None:
    batch, predictor = next(episodes(SMALL, 0.1, seed=0)), PREDICTORS["state-mode"]()
    one = demo.typical(batch, predictor)
    assert one.num_graphs == 1
    right = (predictor.predict(batch).label == batch.y)[batch.unlabelled_targets]
    graph = batch.batch[batch.unlabelled_targets]
    balanced = [
        i for i in range(batch.num_graphs) if 0.3 < batch.y[batch.unlabelled_targets][graph == i].float().mean() < 0.7
    ]
    scores = sorted(float(right[graph == i].float().mean()) for i in balanced)
    own = float((predictor.predict(one).label == one.y)[one.unlabelled_targets].float().mean())
    assert own == pytest.approx(scores[len(scores) // 2])
