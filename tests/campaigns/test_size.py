"""Very many classes, measured small."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from campaigns import size


def test_a_measurement_tells_what_was_done() -> None:
    found = size.measure("predict", nodes=120, classes=20, share=0.5)
    assert (found["nodes"], found["classes"]) == (120, 20)
    assert 30 < found["labels"] < 90 and found["peak_gigabytes"] > 0


def test_half_of_the_edges_lie_within_a_class() -> None:
    graph = size.graph(400, 10, 1.0)
    source, target = graph.edge_index
    assert 0.5 < float((graph.y[source] == graph.y[target]).float().mean()) < 0.65


def test_the_command_line_is_measured_from_start_to_end() -> None:
    found = size.command("small", nodes=40, graphs=4, threads=1)
    assert (found["nodes"], found["graphs"]) == (40, 4)
    assert found["seconds"] > 0 and found["cpu_seconds"] > 0 and found["peak_gigabytes"] > 0.1


def test_a_stopped_call_goes_on_with_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[tuple[object, ...]] = []

    def measured(*given: object) -> dict[str, object]:
        done.append(given)
        if len(done) == 3:
            raise KeyboardInterrupt
        return {"what": given[0]}

    monkeypatch.setattr(size, "command", measured)
    monkeypatch.setattr(size, "_apart", measured)
    with pytest.raises(KeyboardInterrupt):
        size.every(tmp_path / "size.json")
    size.every(tmp_path / "size.json", resume=True)
    assert done == [*size.COMMANDS, size.RUNS[0], *size.RUNS]
    kept = json.loads((tmp_path / "size.json").read_text())
    assert [one["what"] for one in kept["runs"]] == [run[0] for run in size.RUNS]
    size.every(tmp_path / "size.json")
    assert done[3 + len(size.RUNS) :] == [*size.COMMANDS, *size.RUNS]
