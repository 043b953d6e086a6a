"""Cost against work: seconds and peak memory of a prediction by ``ampnp``, each point in a process of its own."""

from __future__ import annotations

import contextlib
import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch

from mpnp.episode import Episode
from mpnp.graphs import GraphSet
from mpnp.models.ampnp import AmpnpConfig, AttentiveMPNP
from mpnp.plots import save

FEATURES, CLASSES = 16, 3


@dataclass(frozen=True)
class Work:
    """``graphs`` random graphs of ``nodes`` nodes, ``degree`` edges at each, ``context`` labels each, ``samples`` of z."""

    nodes: int = 10_000
    degree: int = 10
    context: int = 1_000
    graphs: int = 1
    samples: int = 16


STANDARD = Work()
AXES: dict[str, list[Work]] = {
    "nodes": [replace(STANDARD, nodes=n, context=100) for n in (100, 1_000, 10_000, 100_000, 1_000_000)],
    "degree": [replace(STANDARD, degree=d, context=100) for d in (2, 10, 50, 200, 1_000)],
    "context": [replace(STANDARD, context=c) for c in (10, 100, 1_000, 3_000, 10_000)],
    "graphs": [Work(nodes=100, context=30, graphs=g) for g in (1, 10, 100, 1_000, 10_000)],
    "samples": [replace(STANDARD, context=100, samples=s) for s in (1, 4, 16, 64, 256)],
}
LARGEST = Work(nodes=1_000_000, degree=10, context=10_000)


def episode(work: Work) -> Episode:
    """Random graphs of a given mean degree, in which the first ``context`` nodes show their label."""
    rng = np.random.default_rng(0)
    total = work.nodes * work.graphs
    source = np.repeat(np.arange(total), work.degree // 2)
    target = rng.integers(0, work.nodes, size=source.size) + source // work.nodes * work.nodes
    once = torch.from_numpy(np.stack([source, target]))
    store = GraphSet(
        x=torch.from_numpy(rng.normal(size=(total, FEATURES)).astype(np.float32)),
        y=torch.from_numpy(rng.integers(0, CLASSES, size=total)),
        edge_index=torch.cat([once, once.flip(0)], 1),
        ptr=torch.arange(work.graphs + 1) * work.nodes,
        undirected=True,
    )
    graph = store.select(torch.arange(work.graphs))
    shown = torch.arange(work.nodes).repeat(work.graphs) < work.context
    return Episode(graph, graph.y, shown, torch.ones_like(shown), CLASSES)


def measure(work: Work) -> dict[str, float]:
    """Seconds of a prediction (the better of two, or the only one if it is long) and the memory it adds at its peak."""
    given = episode(work)
    torch.manual_seed(0)
    model = AttentiveMPNP(AmpnpConfig(FEATURES, CLASSES))
    model.predict(episode(Work(nodes=50, context=5)))  # libraries wake up
    _forget_peak()
    before, seconds = _peak(), float("inf")
    for _ in range(3):
        start = time.perf_counter()
        prediction = model.predict(given, samples=work.samples)
        seconds = min(seconds, time.perf_counter() - start)
        if seconds > 5:
            break
    assert bool(torch.isfinite(prediction.probabilities).all())
    return {**asdict(work), "seconds": seconds, "added_mb": _peak() - before, "peak_mb": _peak()}


def _peak() -> float:
    """Largest resident memory of this process, MB (Linux counts in kB, macOS in bytes)."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def _forget_peak() -> None:
    """From here on the peak counts anew, where the system can do that: what built the graph is not the prediction's."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def apart(work: Work) -> dict[str, float]:
    """``measure`` in a fresh process, so that peaks are its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", json.dumps(asdict(work))], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def bench() -> dict[str, list[dict[str, float]]]:
    table = {}
    for axis, points in AXES.items():
        table[axis] = [apart(work) for work in points]
        print(axis, *[f"{point[axis]:,.0f}: {point['seconds']:.3f} s" for point in table[axis]], sep="  ", flush=True)
    table["largest"] = [apart(LARGEST)]
    return table


def growth(points: list[dict[str, float]], axis: str) -> float:
    """How the time of the last step grows with the work: 1 is linear."""
    a, b = points[-2:]
    return float(np.log(b["seconds"] / a["seconds"]) / np.log(b[axis] / a[axis]))


def figure(table: dict[str, list[dict[str, float]]], path: Path) -> None:
    """Seconds and megabytes along every axis, with a line of slope 1 to compare."""
    drawn, panels = plt.subplots(2, len(AXES), figsize=(3.0 * len(AXES), 5.2), sharey="row", layout="constrained")
    for column, axis in enumerate(AXES):
        x = np.array([point[axis] for point in table[axis]])
        for row, (key, name) in enumerate((("seconds", "seconds"), ("added_mb", "added memory, MB"))):
            y = np.array([max(point[key], 1e-4 if row == 0 else 1) for point in table[axis]])
            panel = panels[row, column]
            panel.loglog(x, y, "o-", color="#0072B2")
            panel.loglog(x, y[-1] * x / x[-1], ":", color="grey", label="linear")
            panel.grid(alpha=0.3)
            if column == 0:
                panel.set_ylabel(name)
        panels[0, column].set_ylim(1e-3, None)
        panels[1, column].set_ylim(1, None)
        panels[1, column].set_xlabel({"degree": "edges per node", "context": "context nodes"}.get(axis, axis))
    panels[0, 0].legend()
    save(drawn, path)


def lines(table: dict[str, list[dict[str, float]]]) -> list[str]:
    largest = table["largest"][0]
    edges = largest["nodes"] * largest["degree"] / 2
    text = [
        "## Cost against work",
        "",
        f"A prediction by `ampnp` ({FEATURES} features, {CLASSES} classes), every point in its own process. Where not varied: "
        f"{STANDARD.nodes:,} nodes, {STANDARD.degree} edges per node, 100 context nodes, {STANDARD.samples} latent samples "
        "(context: 10,000 nodes; graphs: 100 nodes, 30 of them context).",
        "",
        "![cost against work](scale.png)",
        "",
        "| varied | from | to | seconds | added memory, MB | exponent of the last step |",
        "|---|---|---|---|---|---|",
    ]
    for axis in AXES:
        a, b = table[axis][0], table[axis][-1]
        text.append(
            f"| {axis} | {a[axis]:,.0f} | {b[axis]:,.0f} | {a['seconds']:.3f} → {b['seconds']:.2f} "
            f"| {a['added_mb']:,.0f} → {b['added_mb']:,.0f} | {growth(table[axis], axis):.2f} |"
        )
    return [
        *text,
        "",
        f"One graph of {largest['nodes']:,.0f} nodes and {edges:,.0f} undirected edges with {largest['context']:,.0f} labels: "
        f"{largest['seconds']:.0f} s, {largest['peak_mb'] / 1024:.1f} GiB at the peak, the graph included. "
        "Beyond 100,000 nodes time grows a little faster than the graph: neighbours in a random graph lie outside the cache.",
    ]


if __name__ == "__main__":
    print(json.dumps(measure(Work(**json.loads(sys.argv[1])))))
