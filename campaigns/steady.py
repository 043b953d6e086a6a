"""The same bits twice, however a run is started; and memory that stays flat over thousands of predictions."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import torch

from . import sound
from .kills import SETTINGS, command, graphs, train
from .nursery import to_its_end

Counts = dict[str, Any]


def _weights(out: Path) -> bytes:
    return (out / "model.safetensors").read_bytes()


def _in_python(given: Path, out: Path) -> None:
    from mpnp.cli.train import _assignment
    from mpnp.tasks import get_task
    from mpnp.training.fit import fit

    fit(get_task(str(given)), out=out, epochs=6, threads=1, progress=False, options=dict(map(_assignment, SETTINGS)))


def same_bits(rng: Random, folder: Path, times: int) -> Counts:
    """Twice from the shell, once from Python; predictions twice."""
    given, log, failures = graphs(folder), folder / "log.txt", []
    for name, work in {
        "first": train(given, folder / "first"),
        "second": train(given, folder / "second"),
        "python": lambda: _in_python(given, folder / "python"),
    }.items():
        ending = to_its_end(work, log)
        if ending.status != 0 or _weights(folder / name) != _weights(folder / "first"):
            failures.append(f"{name}: {ending.sentence or 'other weights'}")
    tables = []
    for name in ("p.csv", "q.csv"):
        to_its_end(command("predict", folder / "first", given, "--out", folder / name), log)
        tables.append((folder / name).read_bytes())
    if tables[0] != tables[1]:
        failures.append("two predictions differ")
    return {"compared": "shell, shell again, Python; predictions twice", "failures": failures}


def threads(rng: Random, folder: Path, times: int) -> Counts:
    """One and two threads add up in another order: by how much weights and probabilities differ."""
    found: dict[str, Any] = {}
    for count in (1, 2):
        out = folder / f"threads{count}"
        to_its_end(lambda count=count, out=out: _measure(out, count), folder / "log.txt")  # type: ignore[misc]
        found[str(count)] = torch.load(out, weights_only=True)
    one, two = found["1"], found["2"]
    largest = {name: float((one[name] - two[name]).abs().max()) for name in one}
    return {"largest difference": largest, "failures": []}


def _measure(out: Path, count: int) -> None:
    from mpnp.own.predict import predict
    from mpnp.tasks.cellular_automata import CellularAutomaton
    from mpnp.training.fit import fit

    torch.set_num_threads(count)
    generator = torch.Generator().manual_seed(0)
    from torch_geometric.data import Data

    nodes = 3000
    x = torch.randn(nodes, 20, generator=generator)
    y = torch.where(torch.rand(nodes, generator=generator) < 0.1, (x[:, 0] > 0).long(), -1)
    graph = Data(x=x, edge_index=torch.randint(nodes, (2, 9000), generator=generator), y=y)
    answer = predict(graph, num_classes=2).probabilities
    options = {"width": 16, "epoch_steps": 5}
    task = CellularAutomaton("small-world", graphs_total=100)
    fitted = fit(
        task,
        out=out.with_suffix(".run"),
        epochs=2,
        threads=count,
        progress=False,
        options=options,
    )
    weights = torch.cat([value.flatten() for value in fitted.model.state_dict().values()])
    learnt = predict(fitted.model.eval(), task.graphs("test").select(torch.arange(10))).probabilities
    found = {"probabilities of universal": answer, "weights after two epochs": weights, "their probabilities": learnt}
    torch.save(found, out)


def long_running(rng: Random, folder: Path, times: int) -> Counts:
    """Resident memory over so many predictions in one process."""
    out = folder / "memory.json"
    ending = to_its_end(lambda: _predict_often(times, out), folder / "log.txt", patience=7200)
    if ending.status != 0:
        return {"failures": [ending.said[-300:]]}
    memory = json.loads(out.read_text())
    grown = memory[-1] - memory[len(memory) // 10]
    return {
        "predictions": times,
        "megabytes after each tenth": memory,
        "failures": [f"memory grew by {grown} MB"] if grown > 20 else [],
    }


def _predict_often(times: int, out: Path) -> None:
    from mpnp.models import from_pretrained
    from mpnp.own.predict import predict

    model, graph, memory = from_pretrained("universal"), sound.ring(), []
    for number in range(times):
        predict(model, graph, samples=2, seed=number)
        if number % max(1, times // 10) == 0 or number == times - 1:
            memory.append(_resident())
    out.write_text(json.dumps(memory))


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") // 2**20
