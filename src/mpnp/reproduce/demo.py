"""The main jobs in a few minutes: a graph with two labels, answered without training; and rules of cellular automata never
seen before, learned and said where it is unsure."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import torch

from .. import plots
from ..classifier import NodeClassifier
from ..defaults import READY
from ..episode import Episode
from ..errors import UserError
from ..evaluation.answers import episodes
from ..evaluation.evaluate import evaluate
from ..models import PREDICTORS
from ..nn.aggregators import group_mean
from ..prediction import Predictor
from ..tasks import get_task
from ..training.fit import fit
from . import paper

TASK = "ca/small-world"
SYSTEMS = ("mpnp", "np", "state-mode")  # of the paper, beside which ours are shown
EPOCHS = 20


def run(out: Path, epochs: int | None = None, device: str = "cpu") -> None:
    """Both, with figures in ``out``."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; a folder is expected.")
    karate(out)
    automata(out, epochs, device)


def karate(out: Path) -> None:
    """Zachary's karate club fell out with itself; whose side is everyone on, if only the two leaders' sides are known?"""
    club = nx.karate_club_graph()
    sides = nx.get_node_attributes(club, "club")
    leaders = {0: sides[0], 33: sides[33]}
    graph = nx.Graph(club.edges)  # nothing but who knows whom
    answer = NodeClassifier().fit(graph, labels=leaders)
    right = round(answer.score({str(node): side for node, side in sides.items()}) * (len(sides) - len(leaders)))
    print(f"Zachary's karate club: 34 members, the side of 2 is told. '{READY}' has never seen it and is not trained:")
    print(f"{right} of the 32 others are put on the side that they took.")
    ask = answer.suggest(1)[0]
    print(f"It would ask next for member {ask.node}, {ask.sentence}.")
    figure = answer.plot(out / "karate.png", title="The karate club from two labels, without training")
    print(f"Figure: {figure}.\n")


def automata(out: Path, epochs: int | None = None, device: str = "cpu") -> None:
    """Train, evaluate beside baselines and limit, print the table, draw the figures into ``out``."""
    task = get_task(TASK)
    model_folder = out / "model"
    if (model_folder / "run.json").exists():  # a demo is run to be seen, so an earlier one gives way
        shutil.rmtree(model_folder)
    train = task.graphs("train")
    print(f"Task: {TASK}. {len(train)} small-world graphs, each with a rule of its own; the rules of the")
    print(f"{len(task.graphs('test'))} test graphs were never seen. Training 'ampnp' …")
    fitted = fit(task, "ampnp", out=model_folder, epochs=epochs or EPOCHS, device=device)
    predictors: list[Predictor] = [PREDICTORS["mode"](), PREDICTORS["state-mode"](), fitted.model]
    predictors.append(PREDICTORS["rule-posterior"]())
    tables = [evaluate(predictor, task, draws=2, progress=True) for predictor in predictors]

    print(f"\nAccuracy on unlabelled nodes, %, after {fitted.metrics['minutes']:.1f} minutes of training:\n")
    print(f"{'context labels':<34}" + "".join(f"{100 * rate:>8g} %" for rate, _ in tables[0]))
    for table in tables:
        name = {"rule-posterior": "rule-posterior (the limit)"}.get(table.model, table.model)
        print(f"{name:<34}" + "".join(f"{100 * row.accuracy:>10.2f}" for _, row in table))
    printed = papers_figures(TASK, task.rates)
    for name, values in printed.items():
        print(f"{'the paper: ' + name:<34}" + "".join(f"{value:>10.2f}" for value in values))
    print(
        "\nAt 100 % every node is predicted from nine tenths of the others. The limit is the exact Bayesian predictor."
    )

    episode = typical(next(episodes(task, 0.1, seed=0)), fitted.model)
    picture = plots.episode_figure(
        episode, fitted.model.predict(episode), title="ampnp: one generation of a rule never seen"
    )
    figures = [
        plots.save(picture, out / "automaton.png"),
        plots.save(plots.accuracy_figure(tables, printed), out / "accuracy.png"),
    ]
    print(f"Figures: {' and '.join(str(figure) for figure in figures)}. The trained model: {model_folder}.")


def papers_figures(task: str, rates: Sequence[float]) -> dict[str, list[float]]:
    """What the paper printed for its systems, by its own names, a figure per rate."""
    table = paper.results(task)
    cells = {row: [table.cell(task, row, rate) for rate in rates] for row in SYSTEMS}
    return {table.labels.get(row, row): [cell.value for cell in found if cell] for row, found in cells.items()}


def typical(episode: Episode, predictor: Predictor) -> Episode:
    """The graph that is predicted as well as half of the batch is, among those with a fair number of both labels."""
    right = predictor.predict(episode).label == episode.y
    hidden = episode.unlabelled_targets
    score, share = (
        group_mean(values.float(), episode.batch[hidden], episode.num_graphs)
        for values in (right[hidden], episode.y[hidden])
    )
    balanced = ((share > 0.3) & (share < 0.7)).nonzero().squeeze(1)
    chosen = balanced if balanced.numel() else torch.arange(episode.num_graphs)
    return episode.only(int(chosen[score[chosen].argsort()[chosen.numel() // 2]]))
