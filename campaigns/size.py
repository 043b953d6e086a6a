"""Very many classes: processor time and memory of one prediction, or of two steps of training, in a process of its own."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

import torch
from torch_geometric.data import Data

from mpnp.files import replacing, write_json

from . import page

OUT = page.HERE / "size.json"
RUNS = (("predict", 20_000, 200, 0.1), ("predict", 20_000, 1000, 0.1), ("train", 20_000, 1000, 0.1))


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

    torch.set_num_threads(1)
    data, started = graph(nodes, classes, share), time.process_time()
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
        "cpu_seconds": round(time.process_time() - started, 1),
        "peak_gigabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }  # fmt: skip


def main(given: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m campaigns size", description=__doc__)
    parser.add_argument(
        "--one", nargs=4, metavar=("WHAT", "NODES", "CLASSES", "SHARE"), help="measure this alone, here"
    )
    options = parser.parse_args(given)
    if options.one:
        what, nodes, classes, share = options.one
        print(json.dumps(measure(what, int(nodes), int(classes), float(share))))
        return
    kept: dict[str, Any] = {"command": "python -m campaigns size", "runs": []}
    for run in RUNS:
        words = [sys.executable, "-m", "campaigns", "size", "--one", *map(str, run)]
        kept["runs"].append(
            json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
        )
        print(kept["runs"][-1], flush=True)
        with replacing(OUT) as temporary:
            write_json(temporary, kept)
    page.write()
