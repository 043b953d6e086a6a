"""Very many classes, nodes or graphs: time and memory of one prediction, or of two steps of training, each in a process of its own."""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import torch
from torch_geometric.data import Data

from mpnp.files import replacing, write_json

from . import page

OUT = page.HERE / "size.json"
RUNS = (
    ("predict", 20_000, 200, 0.1),
    ("predict", 20_000, 1000, 0.1),
    ("train", 3000, 1000, 0.5),
    ("train", 20_000, 1000, 0.1),
)
COMMANDS = (("one graph, from CSV to CSV", 1_000_000, 1), ("small graphs in one file, to CSV", 200_000, 10_000))
FEW = 4  # features and classes of what the command reads


def graph(nodes: int, classes: int, share: float) -> Data:
    """Half of the edges within a class, features that tell classes apart, a ``share`` of labels shown."""
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(classes, (nodes,), generator=generator)
    source, target = torch.randint(nodes, (2, 5 * nodes), generator=generator)
    order = y.argsort()
    place = torch.empty_like(order)
    place[order] = torch.arange(nodes)
    half = 5 * nodes // 2
    target[:half] = order[(place[source[:half]] + 1) % nodes]
    x = torch.randn(classes, 64, generator=generator)[y] + torch.randn(nodes, 64, generator=generator)
    shown = torch.where(torch.rand(nodes, generator=generator) < share, y, -1)
    ends = torch.stack([torch.cat([source, target]), torch.cat([target, source])])
    return Data(x=x, edge_index=ends, y=shown)


def measure(what: str, nodes: int, classes: int, share: float) -> dict[str, Any]:
    """With ``universal``, in this process."""
    from mpnp.own.predict import predict
    from mpnp.tasks.own import OwnTask
    from mpnp.training.fit import fit

    data = graph(nodes, classes, share)
    started, worked = time.monotonic(), time.process_time()
    if what == "predict":
        predict(data, num_classes=classes)
    else:
        with tempfile.TemporaryDirectory() as folder:
            fit(
                OwnTask(data),
                "universal",
                out=folder,
                epochs=1,
                progress=False,
                options={"epoch_steps": 2, "most_steps": 2},
            )
    return {
        "what": what, "nodes": nodes, "classes": classes, "labels": int((data.y >= 0).sum()),
        "seconds": round(time.monotonic() - started, 1), "cpu_seconds": round(time.process_time() - worked, 1),
        "peak_gigabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }  # fmt: skip


def command(what: str, nodes: int, graphs: int, threads: int | None = None) -> dict[str, Any]:
    """``mpnp predict`` in a shell on so many ``nodes`` in all, with five edges each, a thousandth of them labelled, or in small
    graphs two of each; from start to end, libraries and all."""
    with tempfile.TemporaryDirectory() as folder:
        given = (_tables if graphs == 1 else _many)(Path(folder), nodes, graphs)
        words = [str(Path(sys.executable).parent / "mpnp"), "predict", str(given), "--out", f"{folder}/out.csv"]
        words += ["--threads", str(threads)] if threads else []
        started = time.monotonic()
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - started
        assert status == 0
        with open(f"{folder}/out.csv", encoding="utf-8") as file:
            assert sum(1 for _ in file) == nodes + 1
    return {
        "what": what, "nodes": nodes, "graphs": graphs, "seconds": round(seconds, 1),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_gigabytes": round(used.ru_maxrss / 2**20, 2),
    }  # fmt: skip


def _tables(folder: Path, nodes: int, graphs: int) -> Path:
    rng = np.random.default_rng(0)
    y = rng.integers(0, FEW, nodes)
    x = (rng.normal(size=(nodes, FEW)) + np.eye(FEW)[y]).round(3)
    label = np.where(np.arange(nodes) % 1000 == 0, y.astype(str), "")
    pandas.DataFrame({"id": np.arange(nodes), "label": label, **{f"x{i}": x[:, i] for i in range(FEW)}}).to_csv(
        folder / "nodes.csv", index=False
    )
    ends = rng.integers(0, nodes, (2, 5 * nodes))
    pandas.DataFrame({"source": ends[0], "target": ends[1]}).to_csv(folder / "edges.csv", index=False)
    return folder


def _many(folder: Path, nodes: int, graphs: int) -> Path:
    torch.manual_seed(0)
    size = nodes // graphs
    made = []
    for _ in range(graphs):
        y = torch.randint(FEW, (size,))
        x = torch.randn(size, FEW) + torch.eye(FEW)[y]
        made.append(
            Data(x=x, edge_index=torch.randint(size, (2, 2 * size)), y=torch.where(torch.arange(size) < 2, y, -1))
        )
    torch.save(made, folder / "graphs.pt")
    return folder / "graphs.pt"


def main(given: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m campaigns size", description=__doc__)
    parser.add_argument(
        "--one", nargs=4, metavar=("WHAT", "NODES", "CLASSES", "SHARE"), help="measure this alone, here"
    )
    parser.add_argument("--resume", action="store_true", help="go on with what a stopped call has not measured")
    options = parser.parse_args(given)
    if options.one:
        what, nodes, classes, share = options.one
        print(json.dumps(measure(what, int(nodes), int(classes), float(share))))
        return
    every(OUT, options.resume)
    page.write()


def every(out: Path, resume: bool = False) -> None:
    """Measure all there is, and keep each as soon as it is known; with ``resume`` those alone that ``out`` lacks."""
    kept: dict[str, Any] = {"command": "python -m campaigns size", "processors": os.cpu_count()}
    kept |= {"commands": [], "runs": []}
    if resume and out.exists():
        kept = json.loads(out.read_text(encoding="utf-8"))
    for group, wanted, measured in (("commands", COMMANDS, command), ("runs", RUNS, _apart)):
        for one in wanted[len(kept[group]) :]:
            load = round(os.getloadavg()[0], 1)
            kept[group].append({**measured(*one), "load_before": load})  # type: ignore[operator]
            print(kept[group][-1], flush=True)
            with replacing(out) as temporary:
                write_json(temporary, kept)


def _apart(*run: Any) -> dict[str, Any]:
    """:func:`measure` in a process of its own, whose memory is its own too."""
    words = [sys.executable, "-m", "campaigns", "size", "--one", *map(str, run)]
    said = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(said.splitlines()[-1])
