"""Is a model that was trained on few labels as sure as it is right: ``python -m studies.few_labels``.

Stochastic block models of three classes, of 300 nodes with 40 labels and of 5,000 with 60. ``ampnp`` is trained on each; the gap
is its mean confidence on the unlabelled nodes less its accuracy there. The temperature is taken as the model has it, and beside it as
held-out labels alone, or ``universal``'s opinion alone, would have it, and none at all. Seeds that no choice was made on.
What is measured is not measured again. Writes results/few-labels/gaps.json and README.md.
"""

from __future__ import annotations

import json
import math
import tempfile
import time
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.files import replacing, write_json
from mpnp.prediction import tempered
from mpnp.tasks.own import OwnTask
from mpnp.training.fit import fit
from mpnp.training.folds import Found, as_sure_as, likely_accuracy, second_opinion

OUT = Path(__file__).parents[1] / "results" / "few-labels"
FIRST = 7_000  # seed
SIZES = ((300, 40, 10, 12), (5_000, 60, 4, 8))  # nodes, labels, graphs, epochs at most
WAYS = {"as is": "both", "labels": "held-out labels alone", "opinion": "`universal`'s opinion alone", "none": "none"}


def block_model(nodes: int, labels: int, seed: int = 0, degree: int = 8, homophily: float = 0.8) -> tuple[Data, Tensor]:
    """Three blocks, most edges within them, features that tell a little; a few labels drawn at random, and the truth."""
    draw = np.random.default_rng(seed)
    y, count = draw.integers(0, 3, nodes), nodes * degree // 2
    pairs = draw.integers(0, nodes, (2, 8 * count))
    likely = np.where(y[pairs[0]] == y[pairs[1]], 1.0, (1 - homophily) / 2 / homophily)
    u, v = pairs[:, (draw.random(8 * count) < likely) & (pairs[0] != pairs[1])][:, :count]
    x = draw.normal(size=(3, 8))[y] / np.sqrt(8) + draw.normal(size=(nodes, 8))
    truth, shown = torch.tensor(y), torch.full((nodes,), -1)
    told = draw.permutation(nodes)[:labels]
    shown[told] = truth[told]
    ends = torch.tensor(np.stack([np.r_[u, v], np.r_[v, u]]))
    return Data(x=torch.tensor(x).float(), edge_index=ends, y=shown), truth


def gaps(nodes: int, labels: int, seed: int, epochs: int, width: int = 16) -> dict[str, Any]:
    """Accuracy on the unlabelled nodes of one graph, and mean confidence less that, in every way, in points."""
    graph, truth = block_model(nodes, labels, seed)
    started = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        options = {"width": width, "epoch_steps": 10, "epochs": epochs}
        fitted = fit(OwnTask(graph), out=Path(folder) / "run", progress=False, options=options)
    seconds = time.process_time() - started
    found = Found(**fitted.metrics["cross_validation"])
    calibration, fitted.model.calibration = fitted.model.calibration, None
    assert calibration is not None
    episode, hidden = OwnTask(graph).labelled(), (graph.y < 0).nonzero().squeeze(1)
    said = fitted.model.predict(episode, nodes=hidden).probabilities.double()
    accuracy = float((said.argmax(1) == truth[hidden]).double().mean())
    opinion = second_opinion(episode, hidden, said)
    assert math.isclose(as_sure_as(said, likely_accuracy(found, opinion)), calibration.temperature, rel_tol=1e-3)
    used = {
        "as is": calibration.temperature,
        "labels": found.temperature,
        "opinion": as_sure_as(said, opinion),
        "none": 1.0,
    }
    sure = {way: float(tempered(said, temperature).amax(1).mean()) for way, temperature in used.items()}
    return {
        "nodes": nodes, "labels": labels, "seed": seed, "cpu_seconds": round(seconds, 1), "accuracy": round(100 * accuracy, 2),
        "gap": {way: round(100 * (value - accuracy), 2) for way, value in sure.items()},
    }  # fmt: skip


def page(runs: list[dict[str, Any]]) -> str:
    """The table, and what was done."""
    lines = [
        "# Few labels: is a trained model as sure as it is right?",
        "",
        "`ampnp` of width 16, trained on made-up graphs of three blocks; mean confidence on the unlabelled nodes less accuracy there, in",
        "points, on seeds from 7000 on, which no choice was made on. 'Both' is what `mpnp train` does with fewer than 1,000 labels:",
        "held-out labels weighed with `universal`'s opinion, whose error is put at the 4.8 points measured on real graphs.",
        f"Made by `python -m studies.few_labels`; every graph is in gaps.json: {len(runs)} of {sum(size[2] for size in SIZES)} are measured.",
        "",
        "| nodes, labels | graphs | accuracy, % | temperature by | mean gap | mean size of the gap | largest |",
        "|---|---|---|---|---|---|---|",
    ]
    for nodes, labels, *_ in SIZES:
        some = [run for run in runs if run["nodes"] == nodes]
        for way, said in WAYS.items() if some else ():
            gap = [run["gap"][way] for run in some]
            right = mean(run["accuracy"] for run in some)
            lines.append(
                f"| {nodes:,}, {labels} | {len(some)} | {right:.1f} | {said} | {mean(gap):+.1f} | {mean(map(abs, gap)):.1f} "
                f"| {max(map(abs, gap)):.1f} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    torch.set_num_threads(1)
    file = OUT / "gaps.json"
    runs: list[dict[str, Any]] = json.loads(file.read_text()) if file.exists() else []
    for nodes, labels, graphs, epochs in SIZES:
        for seed in range(FIRST, FIRST + graphs):
            if not any((run["nodes"], run["seed"]) == (nodes, seed) for run in runs):
                runs.append(gaps(nodes, labels, seed, epochs))
                print(runs[-1], flush=True)
                OUT.mkdir(parents=True, exist_ok=True)
                with replacing(file) as temporary:
                    write_json(temporary, runs)
                with replacing(OUT / "README.md") as temporary:
                    temporary.write_text(page(runs), encoding="utf-8")


if __name__ == "__main__":
    main()
