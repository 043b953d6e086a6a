"""Label propagation: ours beside PyG's, scikit-learn's and scikit-network's, at an equal number of steps.

``mpnp``: the predictor as it is called, PyG's recursion on a sparse matrix.
``PyG, edge by edge``: the same recursion on ``edge_index``, with a message gathered and scattered per edge.
``on Neighbours``: the same recursion written on our sums over neighbours; here to show that PyG's need not be written again.
``scikit-learn``: ``LabelSpreading`` with our graph as its kernel; the same recursion in float64.
``scikit-network, diffusion``: one sparse product per step as well, but the labels stay fixed and nothing is damped.
``scikit-network, votes``: ``Propagation``; every node takes its neighbours' majority. A cheaper method with other answers,
which stops when nothing changes: after 13 and 5 of the 100 steps on these graphs.

All are handed a graph in the form they read best; scikit-learn and scikit-network are left out where not installed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor
from torch_geometric.nn import LabelPropagation as PyGPropagation

from mpnp.episode import Episode, Sampling, sample_episode
from mpnp.graphs import UNLABELLED, GraphSet, plain_edges
from mpnp.models.label_propagation import LabelPropagation
from mpnp.nn.neighbours import Neighbours
from mpnp.tasks import get_task

from .timing import race

STEPS, ALPHA = 100, 0.9
PEERS = {"sklearn": "scikit-learn", "sknetwork": "scikit-network"}


def small_world(batch: int = 64) -> Episode:
    """A batch of small-world automata, 10 % of the labels shown."""
    graphs = get_task("ca/small-world").graphs("train").select(torch.arange(batch))
    return sample_episode(graphs, 2, Sampling.fixed(0.1), torch.Generator().manual_seed(0))


def large(nodes: int = 100_000, edges: int = 500_000, classes: int = 5) -> Episode:
    """One random undirected graph without loops or double edges, 1 % of the labels shown."""
    generator = torch.Generator().manual_seed(0)
    low, high = torch.randint(nodes, (2, edges + edges // 10), generator=generator).sort(dim=0).values
    pairs = torch.unique((low * nodes + high)[low < high])
    pairs = pairs[torch.randperm(pairs.numel(), generator=generator)[:edges]]
    ends = torch.stack([pairs // nodes, pairs % nodes])
    label = torch.randint(classes, (nodes,), generator=generator)
    graph = GraphSet(torch.ones(nodes, 1), label, torch.cat([ends, ends.flip(0)], 1), torch.tensor([0, nodes]))
    return sample_episode(graph.select(torch.tensor([0])), classes, Sampling.fixed(0.01), generator)


def contestants(episode: Episode) -> dict[str, Callable[[], object]]:
    """Everyone who is installed, each with the same graph and labels."""
    shown, edges = episode.shown(), plain_edges(episode.graph.edge_index)

    def on_neighbours() -> Tensor:
        neighbours, flow = Neighbours(episode.graph), shown
        for _ in range(STEPS):
            flow = ALPHA * neighbours.normalised(flow) + (1 - ALPHA) * shown
        return flow

    runs: dict[str, Callable[[], object]] = {
        "mpnp": lambda: LabelPropagation(STEPS, ALPHA).predict(episode),
        "PyG, edge by edge": lambda: PyGPropagation(STEPS, ALPHA)(shown, edges),
        "on Neighbours": on_neighbours,
    }
    source, target = edges.numpy()
    matrix = csr_matrix((np.ones(source.size), (target, source)), shape=(episode.num_nodes, episode.num_nodes))
    label = episode.y.where(episode.context, UNLABELLED).numpy()
    if find_spec("sklearn"):
        from sklearn.semi_supervised import LabelSpreading

        spreading = LabelSpreading(kernel=lambda *_: matrix, alpha=ALPHA, max_iter=STEPS, tol=0)
        runs["scikit-learn"] = lambda: spreading.fit(np.zeros((episode.num_nodes, 1)), label)
    if find_spec("sknetwork"):
        from sknetwork.classification import DiffusionClassifier, Propagation

        runs["scikit-network, diffusion"] = lambda: DiffusionClassifier(STEPS).fit(matrix, label)
        runs["scikit-network, votes"] = lambda: Propagation(STEPS).fit(matrix, label)
    return runs


def bench() -> dict[str, dict[str, float]]:
    """Milliseconds for all steps, on a batch of small graphs and on a large one."""
    for module, name in PEERS.items():
        if not find_spec(module):
            print(f"{name} is not installed and left out; 'make bench-rivals' has it.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's, that the steps ran out before it called it converged
        return {
            "64 small-world graphs": race(contestants(small_world())),
            "100,000 nodes, 500,000 edges": race(contestants(large()), rounds=3),
        }


def lines(result: dict[str, dict[str, float]]) -> list[str]:
    rows = [
        "## Label propagation, 100 steps",
        "",
        "| ms (time over ours) | " + " | ".join(result) + " |",
        "|---" * (1 + len(result)) + "|",
    ]
    for name in next(iter(result.values())):
        cells = [f"{times[name]:.1f} ({times[name] / times['mpnp']:.1f} ×)" for times in result.values()]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return rows
