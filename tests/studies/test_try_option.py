"""The study of options on folds: no test graph in them, and what is measured is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from studies import try_option

from mpnp.tasks.cellular_automata import CellularAutomaton


def test_every_graph_but_those_of_the_test_is_tested_on_once_and_never_learned_from() -> None:
    task = CellularAutomaton("life-like", graphs_total=30)
    mine, tested = try_option.joined(task, ("train", "val")), []
    for fold in range(try_option.FOLDS):
        parts = try_option.fold_of(task, fold).splits
        seen = {split: {graph_of(store, i) for i in range(len(store))} for split, store in parts.items()}
        assert not seen["test"] & (seen["train"] | seen["val"]) and not seen["train"] & seen["val"]
        tested += [*seen["test"]]
    known = {graph_of(mine, i) for i in range(len(mine))}
    assert len(tested) == len(set(tested)) == len(known) // try_option.FOLDS * try_option.FOLDS and set(tested) <= known
    held = task.graphs("test")
    assert not known & {graph_of(held, i) for i in range(len(held))}


def graph_of(store: object, index: int) -> bytes:
    graph = store.select(torch.tensor([index]))  # type: ignore[attr-defined]
    return bytes(torch.cat([graph.x.flatten(), graph.y.float()]).numpy().tobytes())


def test_what_is_measured_is_kept_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = CellularAutomaton("life-like", graphs_total=30)
    monkeypatch.setattr(try_option, "get_task", lambda name: task)
    monkeypatch.setattr(try_option, "WORK", tmp_path / "runs")
    monkeypatch.setattr(try_option, "FOLDS", 2)
    call = ["ca/life-like", "--set", "epochs=1", "width=8", "epoch_steps=1"]
    try_option.main(call, tmp_path)
    runs = json.loads((tmp_path / "runs.json").read_text())
    assert [run["fold"] for run in runs] == [0, 1] and runs[0]["options"]["width"] == 8
    assert all(scores["nll"] > 0 for run in runs for scores in run["rates"].values())
    monkeypatch.setattr(try_option, "measure", lambda *_: pytest.fail("measured again"))
    try_option.main(call, tmp_path)
    mean = sum(100 * run["rates"]["0.1"]["accuracy"] for run in runs) / 2
    row = "| ca/life-like | epochs = 1, width = 8, epoch_steps = 1 | 2 | 10 / 30 / 100 % |"
    assert f"{row} {mean:.2f} / " in (tmp_path / "README.md").read_text()


def test_rows_of_a_task_are_compared_on_the_folds_that_all_have() -> None:
    def run(options: dict[str, bool], fold: int, accuracy: float) -> try_option.Run:
        return {"task": "t", "options": options, "fold": fold, "rates": {"0.1": {"accuracy": accuracy, "nll": 1.0}}}

    text = try_option.page([run({}, 0, 0.5), run({}, 1, 0.9), run({"logs": False}, 0, 0.25)])
    assert "| t | the default | 1 | 10 % | 50.00 | – | 1.000 |" in text
    assert "| t | logs = false | 1 | 10 % | 25.00 | – | 1.000 |" in text
