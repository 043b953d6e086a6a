"""A person's own graph: the labels given, what models make of the other nodes, and where they are unsure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from ..defaults import SAMPLES
from ..episode import Episode
from ..errors import UserError
from ..own.predict import predict_episode
from ..prediction import Prediction, Predictor
from ..tasks.formats import OwnGraphs
from . import panels
from .comparing import Drawing, canvas_of
from .panels import Panel, Row


def draw(
    predictors: Mapping[str, Predictor],
    own: OwnGraphs,
    graphs: Sequence[int] | None = None,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    title: str = "",
) -> Drawing:
    """``graphs``: by number, a row each, by default the first. All labels of all graphs are context."""
    numbers = [0] if graphs is None else list(graphs)
    for number in numbers:
        if not 0 <= number < len(own.graphs):
            raise UserError(f"There is no graph {number}: {own.where} has graphs 0 to {len(own.graphs) - 1}.")
    episode = Episode.from_graphs(own.graphs, num_classes=max(len(own.class_names), 1))
    said = {name: predict_episode(one, episode, samples=samples, seed=seed) for name, one in predictors.items()}
    which = f"graph{'s' if len(numbers) > 1 else ''} {', '.join(str(number) for number in numbers)}"
    shown = which if len(own.graphs) > 1 else f"{own.graphs[0].num_nodes:,} nodes"
    heading = title or f"{own.where}, {shown}: {', '.join(predictors)}"
    rows = [row_of(episode, said, number, own.node_names[number]) for number in numbers]
    return Drawing(rows, heading, own.class_names, which)


def row_of(
    episode: Episode, predictions: Mapping[str, Prediction], graph: int = 0, names: Sequence[str] | None = None
) -> Row:
    """One graph of an episode: the labels given, and per prediction what the others are taken for and how unsure that is."""
    start, end = (int(episode.graph.ptr[graph + i]) for i in (0, 1))
    one = episode.only(graph)
    drawn: list[Panel] = [panels.given(one)]
    for name, prediction in predictions.items():
        said = prediction.at(torch.arange(start, end))
        several = len(predictions) > 1
        drawn += [
            panels.believed(one, said, name if several else "predicted"),
            panels.unsure(one, said, name if several else ""),
        ]
    return Row(canvas_of(one), drawn, one, names, given=True)
