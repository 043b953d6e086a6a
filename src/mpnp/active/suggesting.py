"""The nodes of a user's graphs to label next, each with the reason in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..defaults import SAMPLES, STRATEGY
from ..episode import Episode
from ..errors import UserError
from ..evaluation.given import asked, reading_of
from ..graphs import UNLABELLED
from ..own.predict import episode_of
from ..prediction import Predictor
from ..tasks.own import OwnGraphs, as_graphs
from .contract import Strategy
from .strategies import ask, find_strategy

SURE = 0.9  # from this probability on a node is not called torn


@dataclass(frozen=True)
class Suggestion:
    """One node to label: where and how it is called, why it was chosen, and what is believed of it now.

    ``graph`` and ``index`` are numbers, of the graph among those given and of the node within it.
    ``second`` is the next likeliest label, ``None`` where there is but one class, and ``label`` where no node is labelled.
    """

    graph: int
    index: int
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
    predictor: Any,
    graphs: Any = None,
    *,
    count: int = 5,
    strategy: str | Strategy = STRATEGY,
    samples: int = SAMPLES,
    seed: int = 0,
    class_names: Sequence[str] | None = None,
    node_names: Sequence[Sequence[str]] | None = None,
) -> list[Suggestion]:
    """The ``count`` unlabelled nodes (``y`` = -1) of each graph that ``strategy`` would have labelled next, the best first:
    ``suggest(graphs)`` or ``suggest(predictor, graphs)``, both as :func:`mpnp.predict` has them.

    ``strategy``: a name, or one of your own making, such as ``Expected(loss=costs)``, which asks for what helps most where
    some mistakes cost more than others. ``class_names`` and ``node_names``, these graph by graph, say how classes and nodes are called: by default as the model's
    configuration has it, and by their numbers.
    """
    if isinstance(strategy, str):
        find_strategy(strategy)
    predictor, graphs = asked(predictor, graphs)
    own = as_graphs(graphs, **reading_of(predictor))
    episode = episode_of(predictor, own, None if class_names is None else len(class_names))
    pool = episode.y == UNLABELLED
    if not pool.any():
        raise UserError(
            f"All {episode.num_nodes} nodes are labelled, so there is nothing left to ask for; "
            "leave the label of those you are in doubt about empty (-1)."
        )
    prediction = predictor.predict(episode, samples=samples, seed=seed)
    nodes, scores = ask(strategy, episode, prediction, pool, count, seed=seed, predictor=predictor, samples=samples)
    likely = prediction.at(nodes).probabilities.topk(min(2, episode.num_classes))
    rows = zip(nodes.tolist(), scores.tolist(), likely.indices.tolist(), likely.values.tolist(), strict=True)
    names = _class_names(predictor, episode, own) if class_names is None else class_names
    suggestions = []
    for node, score, classes, shares in rows:
        graph = int(episode.batch[node])
        index = node - int(episode.graph.ptr[graph])
        called = [names[c] if names else None for c in classes]
        suggestions.append(
            Suggestion(
                graph=graph,
                index=index,
                node=(own.node_names if node_names is None else node_names)[graph][index],
                score=score,
                label=called[0],
                probability=shares[0],
                second=called[1] if len(called) > 1 else None,
                second_probability=shares[1] if len(called) > 1 else None,
            )
        )
    return suggestions


def _class_names(predictor: Predictor, episode: Episode, own: OwnGraphs) -> list[str]:
    """As the graphs or a trained model call them, else by their numbers; none where no class is known at all."""
    if len(own.class_names) == episode.num_classes:
        return own.class_names
    config = getattr(predictor, "config", None)
    if config is None and not episode.context.any():
        return []
    known = list(getattr(config, "class_names", []))
    return known if len(known) == episode.num_classes else [str(c) for c in range(episode.num_classes)]
