"""Pictures of joint samples for docs/asking.md: ``python -m studies.ways``.

Sixteen ways in which a board of a Life-like automaton could go on, a few of its cells being known, drawn one after the other and, to
compare with, each cell on its own; and what varies with the latent variable of ``universal`` on a small network. Nothing is trained.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import networkx as nx
import torch
from torch_geometric.data import Data

from mpnp import plots
from mpnp.active.sampling import joint_log_likelihood, sample_episode, vary_latent
from mpnp.episode import Episode, Sampling
from mpnp.episode import sample_episode as show
from mpnp.models import find_predictor
from mpnp.tasks.cellular_automata import CellularAutomaton

OUT = Path(__file__).parents[1] / "docs" / "images"
CELLS = 0.004  # of a board that are known
WAYS = 16


def board() -> Episode:
    """The first test board, a few cells of its next state known."""
    task = partial(CellularAutomaton, "life-like", graphs_total=20)()
    store = task.graphs("test")
    return show(store.select(torch.tensor([0])), 2, Sampling.fixed(CELLS), torch.Generator().manual_seed(1))


def club() -> Data:
    """Zachary's karate club, the two leaders labelled."""
    graph = nx.karate_club_graph()
    edges = torch.tensor(list(graph.edges)).t()
    y = torch.full((34,), -1)
    y[0], y[33] = 0, 1
    return Data(x=torch.zeros(34, 0), edge_index=torch.cat([edges, edges.flip(0)], 1), y=y)


def draw(out: Path = OUT) -> None:
    episode, predictor = board(), find_predictor("rule-posterior")[0]
    found = sample_episode(predictor, episode, WAYS)
    notes = [f"log p {float(value):.0f}" for value in found.log_likelihood]
    shown = int(episode.context.sum())
    title = f"Sixteen ways this board could go on, {shown} of {episode.num_nodes} cells known"
    _save(plots.samples_figure(episode, found.labels, title, notes=notes), out / "asking-ways.png")
    p = predictor.predict(episode).probabilities
    alone = torch.multinomial(p, 4, replacement=True, generator=torch.Generator().manual_seed(0)).t()
    alone = torch.where(episode.context, episode.y, alone)
    _save(plots.samples_figure(episode, alone, "Four draws of every cell on its own"), out / "asking-alone.png")
    together, apart = joint_log_likelihood(predictor, episode, episode.y)
    print(f"True board: log p {together:.1f} jointly, {apart:.1f} cell by cell.")
    graph, universal = club(), find_predictor("universal")[0]
    varied = vary_latent(universal, graph, WAYS - 1)
    known = Episode.from_graphs([graph], num_classes=2)
    _save(
        plots.latent_figure(known, varied, "What varies with z, two members of the club known"),
        out / "asking-latent.png",
    )


def _save(figure: object, path: Path) -> None:
    picture = plots.save(figure, path)  # type: ignore[arg-type]
    plots.shrink(picture, picture)


if __name__ == "__main__":
    torch.set_num_threads(1)
    draw()
