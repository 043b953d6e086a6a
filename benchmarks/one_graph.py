"""``universal`` on one graph: CPU seconds and peak memory of its first answer, each point in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

import mpnp
from mpnp.graphs import UNLABELLED
from mpnp.models.universal import Universal
from mpnp.tasks.nodes import NodeTask

from .scale import _forget_peak, _peak

FEATURES, CLASSES, LABELS = 64, 5, 1_000
SIZES = (1_000, 10_000, 100_000, 1_000_000)
PUBLIC = ("cora", "coauthor_cs")


@dataclass(frozen=True)
class Point:
    """A random graph of so many ``nodes``, five edges each, or the public graph ``node/<public>`` with its first split."""

    nodes: int = 0
    public: str = ""


def graph_of(point: Point) -> tuple[Data, int]:
    """A graph whose labels are shown where they are known, and the number of classes."""
    if point.public:
        task = NodeTask(point.public)
        graph = task.public.graph.clone()
        graph.y = torch.where(task.public.mask("train", 0), graph.y, UNLABELLED)
        return graph, task.num_classes
    random = np.random.default_rng(0)
    ends = torch.from_numpy(random.integers(0, point.nodes, (2, 5 * point.nodes)))
    y = torch.from_numpy(random.integers(0, CLASSES, point.nodes))
    shown = torch.arange(point.nodes) < min(LABELS, point.nodes // 2)
    x = torch.from_numpy(random.normal(size=(point.nodes, FEATURES)).astype(np.float32))
    x[:, 0] += y
    edge_index = torch.cat([ends, ends.flip(0)], 1)
    return Data(x=x, edge_index=edge_index, y=torch.where(shown, y, UNLABELLED)), CLASSES


def measure(point: Point) -> dict[str, Any]:
    """From an opened graph file to an answer for every node."""
    model = mpnp.from_pretrained("universal")
    assert isinstance(model, Universal)
    small, classes = graph_of(Point(nodes=100))
    model.open(small).predict(small.y, classes)  # libraries wake up
    graph, classes = graph_of(point)
    _forget_peak()
    start = time.process_time()
    session = model.open(graph)
    opened = time.process_time() - start
    prediction = session.predict(graph.y, classes)
    seconds = time.process_time() - start
    assert bool(torch.isfinite(prediction.probabilities).all())
    edges = graph.num_edges // 2
    return asdict(point) | {
        "nodes": graph.num_nodes, "edges": edges, "opened": opened, "seconds": seconds, "peak_mb": _peak(),
    }  # fmt: skip


def apart(point: Point) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.one_graph", json.dumps(asdict(point))],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def bench() -> dict[str, list[dict[str, Any]]]:
    points = [Point(public=name) for name in PUBLIC if NodeTask(name).file.exists()]
    table = []
    for point in [*points, *(Point(nodes=nodes) for nodes in SIZES)]:
        table.append(apart(point))
        print(f"{point.public or f'{point.nodes:,} nodes'}: {table[-1]['seconds']:.2f} s", flush=True)
    return {"points": table}


def lines(table: dict[str, list[dict[str, Any]]]) -> list[str]:
    text = [
        "## One graph, a few labels: the first answer of `universal`",
        "",
        "CPU seconds on one thread after import, every point in its own process; opening: what depends on no label, once per graph. "
        "On a machine that is busy with other work CPU seconds are more too: caches are shared. "
        f"Random graphs: {FEATURES} features, {CLASSES} classes, {LABELS:,} labels (half of the nodes, where that is fewer).",
        "",
        "| graph | nodes | edges | seconds | of these, opening | peak memory, MB |",
        "|---|---|---|---|---|---|",
    ]
    for point in table["points"]:
        name = f"node/{point['public']}" if point["public"] else "random"
        text.append(
            f"| {name} | {point['nodes']:,} | {point['edges']:,} | {point['seconds']:.2f} | {point['opened']:.2f} "
            f"| {point['peak_mb']:,.0f} |"
        )
    return text


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(measure(Point(**json.loads(sys.argv[1])))))
