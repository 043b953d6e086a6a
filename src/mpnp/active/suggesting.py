"""The nodes of a user's graphs to label next, each with the reason in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..defaults import SAMPLES
from ..episode import Episode
from ..errors import UserError
from ..graphs import UNLABELLED
from ..models import find_predictor
from ..models.base import Model
from ..tasks.own import load_graphs
from .strategies import ask, find_strategy

SURE = 0.9  # from this probability on a node is not called torn


@dataclass(frozen=True)
class Suggestion:
    """One node to label: where and how it is called, why it was chosen, and what is believed of it now.

    ``second`` is the next likeliest label, ``None`` where there is but one class, and ``label`` where no node is labelled.
    """

    graph: int
    node: str
    score: float
    label: str | None
    probability: float
    second: str | None
    second_probability: float | None

    @property
    def sentence(self) -> str:
        """What is believed of the node: taken for one class, or torn between two."""
        if self.label is None:
            return "no class is known yet"
        if self.second_probability is None:
            return f"'{self.label}' is the only class known yet"
        first = f"'{self.label}' ({100 * self.probability:.0f} %)"
        if self.probability >= SURE:
            return f"taken for {first}"
        return f"torn between {first} and '{self.second}' ({100 * self.second_probability:.0f} %)"


def suggest(
    model: str, graph_path: Path, *, count: int = 5, strategy: str = "spread", samples: int = SAMPLES, seed: int = 0
) -> list[Suggestion]:
    """The ``count`` unlabelled nodes of each graph in a file that ``strategy`` would have labelled next, the best first.

    ``model``: the folder of a trained model, or a predictor by name.
    """
    find_strategy(strategy)
    predictor, _ = find_predictor(model)
    known = predictor.config.class_names if isinstance(predictor, Model) else None
    own = load_graphs(graph_path, known or None)
    episode = Episode.from_graphs(own.graphs, num_classes=len(own.class_names))
    pool = episode.y == UNLABELLED
    if not pool.any():
        raise UserError(
            f"All {episode.num_nodes} nodes of {graph_path} are labelled, so there is nothing left to ask for; "
            "leave the label of those you are in doubt about empty."
        )
    prediction = predictor.predict(episode, samples=samples, seed=seed)
    nodes, scores = ask(strategy, episode, prediction, pool, count, seed=seed)
    likely = prediction.at(nodes).probabilities.topk(min(2, episode.num_classes))
    rows = zip(nodes.tolist(), scores.tolist(), likely.indices.tolist(), likely.values.tolist(), strict=True)
    suggestions = []
    for node, score, classes, shares in rows:
        graph = int(episode.batch[node])
        names = [own.class_names[c] if own.class_names else None for c in classes]
        suggestions.append(
            Suggestion(
                graph=graph,
                node=own.node_names[graph][node - int(episode.graph.ptr[graph])],
                score=score,
                label=names[0],
                probability=shares[0],
                second=names[1] if len(names) > 1 else None,
                second_probability=shares[1] if len(names) > 1 else None,
            )
        )
    return suggestions
