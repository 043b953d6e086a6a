"""The one door to the models: a graph is opened once, then every labelling of it is answered.

:class:`Belief` is all that the rest of the studio knows of a model. A predictor that offers ``open(data)`` answers through
:class:`Incremental`, what depends on no label being computed once; any other is asked anew each time through :class:`Whole`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import torch
from torch import Tensor
from torch_geometric.data import Data

from ..active.strategies import STRATEGIES, ask, find_strategy
from ..defaults import SAMPLES
from ..episode import Episode
from ..errors import unknown_name
from ..experts.evidence import EXPERTS as EXPERT_NAMES
from ..graphs import UNLABELLED, plain_edges
from ..models import PREDICTORS, SHIPPED, find_predictor
from ..models.pretrained import shipped
from ..prediction import Prediction, Predictor
from ..progress import interruptible

__all__ = ["Belief", "Stale", "default_model", "known_classes", "open_graph", "strategies"]

FOLDS = 10
# The experts of ``universal`` by where their evidence comes from. Not among them are those that see all of it: 'cat', the
# stack and its echoes.
EXPERTS = {"x": "features", "x_rbf": "features", "x_clump": "features", "hx": "features", "h2x": "features",
           "amount": "features", "struct": "structure",
           "nbr": "neighbours", "nbr_rbf": "neighbours", "adj": "neighbours", "lp1": "neighbours", "lp2": "neighbours",
           "ax": "surroundings", "a2x": "surroundings", "pprx": "surroundings", "farx": "surroundings",
           "ax_rbf": "surroundings", "pprx_rbf": "surroundings", "a2x_clump": "surroundings", "pprx_clump": "surroundings",
           "lp8": "surroundings", "lp50": "surroundings"}  # fmt: skip


class Stale(Exception):  # noqa: N818  (not an error: the answer is no longer wanted)
    """The labels have changed while an answer was computed."""


class Belief(Protocol):
    """What a model makes of one graph. Labels ``y`` are [N], -1 where unknown; C classes, some perhaps without a label."""

    name: str

    def believe(self, y: Tensor, classes: int) -> Prediction:
        """Of all nodes, [N, C]."""
        ...

    def imagine(self, y: Tensor, classes: int, stale: Callable[[], bool]) -> Prediction:
        """The same of labels that nobody has given, until it is no longer wanted."""
        ...

    def left_out(self, y: Tensor, classes: int, stale: Callable[[], bool]) -> Tensor:
        """Class probabilities of the labelled nodes, in rising order, as if their own label were not known, [L, C]."""
        ...

    def evidence(self, y: Tensor, classes: int, node: int) -> dict[str, list[float]]:
        """Where the newest belief in a node comes from: for each source, what it alone speaks for, shares over the classes."""
        ...

    def questions(
        self,
        strategy: str,
        y: Tensor,
        prediction: Prediction,
        skipped: Tensor,
        count: int,
        stale: Callable[[], bool] = lambda: False,
    ) -> list[tuple[int, float]]:
        """The nodes to ask for next and their scores, the best first."""
        ...

    def near(self, y: Tensor, node: int) -> tuple[list[int], list[tuple[int, int]]]:
        """The neighbours of a node, and the labelled nodes fewest steps away as (node, steps)."""
        ...


def default_model() -> str:
    """``universal``, which answers any graph at once, where its weights have come with the package."""
    there = (shipped("universal") / "model.safetensors").is_file()
    return "universal" if there else "label-propagation"


def open_graph(model: str | Predictor, data: Data) -> Belief:
    """``model``: a predictor, the name of one, or the folder of a trained model."""
    predictor = find_predictor(model)[0] if isinstance(model, str) else model
    return Incremental(predictor, data) if hasattr(predictor, "open") else Whole(predictor, data)


def lasting_name(model: str) -> str:
    """The name of a predictor as it is; the folder of a trained model so that it is found from anywhere."""
    named = model in PREDICTORS or model in SHIPPED
    return str(Path(model).resolve()) if not named and Path(model).is_dir() else model


def known_classes(model: str | Predictor) -> list[str] | None:
    """The classes a trained model has names for, in its order; ``None`` of those that take any."""
    predictor = find_predictor(model)[0] if isinstance(model, str) else model
    return list(getattr(getattr(predictor, "config", None), "class_names", ())) or None


def strategies() -> dict[str, str]:
    """Names of the strategies and what they look for."""
    return {name: strategy.says for name, strategy in STRATEGIES.items()}


def check_strategy(name: str) -> None:
    if name not in STRATEGIES:
        raise unknown_name("strategy", name, STRATEGIES)


class _Opened:
    """What needs no model: the graph as an episode, and the questions of the strategies."""

    def __init__(self, predictor: Predictor, data: Data) -> None:
        self.predictor, self.name = predictor, predictor.name
        bare = Data(x=data.x, edge_index=plain_edges(data.edge_index))
        if data.get("edge_weight") is not None:
            bare.edge_weight = data.edge_weight
        self.data, self.blank = bare, Episode.from_graphs([bare], num_classes=1)
        source, target = plain_edges(bare.edge_index)
        both = torch.cat([torch.stack([source, target]), torch.stack([target, source])], 1)
        order = both[0].argsort(stable=True)
        self.neighbour = both[1][order]
        self.first = torch.zeros(bare.x.size(0) + 1, dtype=torch.long)
        self.first[1:] = torch.bincount(both[0], minlength=bare.x.size(0)).cumsum(0)

    def episode(self, y: Tensor, classes: int) -> Episode:
        return replace(self.blank, y=y, context=y != UNLABELLED, num_classes=classes)

    def questions(
        self,
        strategy: str,
        y: Tensor,
        prediction: Prediction,
        skipped: Tensor,
        count: int,
        stale: Callable[[], bool] = lambda: False,
    ) -> list[tuple[int, float]]:
        """Strategies that look ahead ask the model itself, unless it offers ``open``: see :meth:`Expected.asking`."""
        pool = (y == UNLABELLED) & ~skipped
        if not pool.any():
            return []
        episode = self.episode(y, prediction.probabilities.size(1))
        predictor = self.predictor if hasattr(self.predictor, "open") else Awaited(self.predictor, stale)
        with interruptible(_unless(stale)):
            nodes, scores = ask(find_strategy(strategy), episode, prediction, pool, count, predictor=predictor)
        return list(zip(nodes.tolist(), scores.tolist(), strict=True))

    def around(self, node: int) -> Tensor:
        """The neighbours of a node, whatever the direction of the edge, each once."""
        found = self.beside(torch.tensor([node])).unique()
        return found[found != node]

    def beside(self, nodes: Tensor) -> Tensor:
        """The other ends of all edges at ``nodes`` [m]."""
        start, many = self.first[nodes], self.first[nodes + 1] - self.first[nodes]
        place = torch.arange(int(many.sum())) - (many.cumsum(0) - many).repeat_interleave(many)
        return self.neighbour[start.repeat_interleave(many) + place]

    def near(self, y: Tensor, node: int, most: int = 3, reach: int = 6) -> tuple[list[int], list[tuple[int, int]]]:
        """One product of sets per step: a loop over nodes would hold up the belief, which is computed at the same time."""
        unseen = torch.ones(y.numel(), dtype=torch.bool)
        ring, found = torch.tensor([node]), list[tuple[int, int]]()
        for steps in range(1, reach + 1):
            unseen[ring] = False
            others = self.beside(ring)
            ring = others[unseen[others]].unique()
            labelled = ring[y[ring] != UNLABELLED][: most - len(found)]
            found += [(other, steps) for other in labelled.tolist()]
            if len(found) == most or not ring.numel():
                break
        return self.around(node).tolist(), found


class Awaited:
    """A predictor that gives up as soon as its answers are no longer wanted: a look ahead must not hold up a click."""

    def __init__(self, predictor: Predictor, stale: Callable[[], bool]) -> None:
        self.predictor, self.stale = predictor, stale
        self.name, self.sees_own_label = predictor.name, predictor.sees_own_label

    def predict(
        self, episode: Episode, *, samples: int = SAMPLES, seed: int = 0, nodes: Tensor | None = None
    ) -> Prediction:
        if self.stale():
            raise Stale
        return self.predictor.predict(episode, samples=samples, seed=seed, nodes=nodes)


class Whole(_Opened):
    """Any predictor, asked anew for every labelling; what it thinks of a labelled node is found in ten folds."""

    def __init__(self, predictor: Predictor, data: Data) -> None:
        super().__init__(predictor, data)
        self._looks: dict[str, Tensor] = {}

    def believe(self, y: Tensor, classes: int) -> Prediction:
        if not (y != UNLABELLED).any():
            return _ignorance(y.numel(), classes)
        return self.predictor.predict(self.episode(y, classes), samples=SAMPLES, seed=0)

    def imagine(self, y: Tensor, classes: int, stale: Callable[[], bool]) -> Prediction:
        if stale():
            raise Stale
        return self.believe(y, classes)

    def left_out(self, y: Tensor, classes: int, stale: Callable[[], bool]) -> Tensor:
        labelled = (y != UNLABELLED).nonzero().squeeze(1)
        out = torch.full((labelled.numel(), classes), 1 / classes)
        fold = torch.randperm(labelled.numel(), generator=torch.Generator().manual_seed(0)) % FOLDS
        for one in range(min(FOLDS, labelled.numel())):
            if stale():
                raise Stale
            hidden = labelled[fold == one]
            rest = y.clone()
            rest[hidden] = UNLABELLED
            if (rest != UNLABELLED).any():
                prediction = self.predictor.predict(self.episode(rest, classes), samples=SAMPLES, seed=0, nodes=hidden)
                out[fold == one] = prediction.probabilities
        return out

    def evidence(self, y: Tensor, classes: int, node: int) -> dict[str, list[float]]:
        """Labels of the neighbours; labelled nodes with like features; labelled nodes with like surroundings."""
        hidden = y.clone()
        hidden[node] = UNLABELLED
        near = hidden[self.around(node)]
        sources = {"neighbours": torch.bincount(near[near >= 0], minlength=classes).float()}
        labelled = (hidden != UNLABELLED).nonzero().squeeze(1)
        for name, looks in self.looks().items():
            apart = (looks[labelled] - looks[node]).square().mean(1)
            votes = torch.zeros(classes).index_add_(0, hidden[labelled], (-apart).exp())
            sources[name] = votes / torch.bincount(hidden[labelled], minlength=classes).clamp(min=1)
        return {name: shares(votes) for name, votes in sources.items()}

    def looks(self) -> dict[str, Tensor]:
        """Standardised columns by which nodes are alike, [N, ·] each, computed once: own features; degree and neighbours' degree."""
        if not self._looks:
            degree = self.first.diff().float()
            owner = torch.repeat_interleave(torch.arange(degree.numel()), self.first.diff())
            about = torch.zeros_like(degree).index_add_(0, owner, degree[self.neighbour]) / degree.clamp(min=1)
            self._looks["structure"] = _standard(torch.stack([degree.log1p(), about.log1p()], 1))
            if self.data.x.numel() and float(self.data.x.std(0, unbiased=False).max()) > 0:
                self._looks["features"] = _standard(self.data.x)
        return self._looks


class Incremental(_Opened):
    """A predictor with ``open(data)``, as ``universal``: a session that keeps all that depends on no label.

    The session's ``ask(y, classes)`` is what its experts say, ``answer`` the prediction that follows, labelled nodes being
    left out one by one.
    """

    def __init__(self, predictor: Any, data: Data) -> None:
        super().__init__(predictor, data)
        self.session = predictor.open(self.data)
        self._lock = Lock()  # the session is asked by one thread at a time
        self._last: tuple[Tensor, int, Any, Prediction] | None = None

    def _ask(self, y: Tensor, classes: int) -> tuple[Any, Prediction]:
        """What the experts say and what follows; the same labels need no second thought."""
        with self._lock:
            if self._last is None or self._last[1] != classes or not torch.equal(self._last[0], y):
                question = self.session.ask(y, classes)
                self._last = y.clone(), classes, question, self.session.answer(question)
            return self._last[2:]

    def believe(self, y: Tensor, classes: int) -> Prediction:
        return self._ask(y, classes)[1] if (y != UNLABELLED).any() else _ignorance(y.numel(), classes)

    def imagine(self, y: Tensor, classes: int, stale: Callable[[], bool]) -> Prediction:
        """Given up between two experts: a click waits for no more than one of them."""
        with self._lock, interruptible(_unless(stale)):
            return self.session.answer(self.session.ask(y, classes))

    def left_out(self, y: Tensor, classes: int, stale: Callable[[], bool]) -> Tensor:
        return self.believe(y, classes).probabilities[y != UNLABELLED]

    def evidence(self, y: Tensor, classes: int, node: int) -> dict[str, list[float]]:
        """What the experts of each kind say on average, those that were right about the labels weighing more."""
        if not (y != UNLABELLED).any():
            return {}
        found = (self._last[2] if self._last else self._ask(y, classes)[0]).evidence
        weight = found.present * (found.skill.clamp(min=0) + 0.01)
        votes: dict[str, Tensor] = {}
        for i, expert in enumerate(EXPERT_NAMES):
            if (source := EXPERTS.get(expert)) is not None:
                said = found.log_p[node, :, i].exp() * weight[i]
                votes[source] = votes.get(source, torch.zeros_like(said)) + said
        return {source: shares(said) for source, said in votes.items()}


def _unless(stale: Callable[[], bool]) -> Callable[[], None]:
    """What is looked at between two parts of a longer work: whether its end is still wanted."""

    def check() -> None:
        if stale():
            raise Stale

    return check


def shares(votes: Tensor) -> list[float]:
    """Votes [C] that sum to one, or all zero where there are none."""
    total = float(votes.sum())
    return (votes / total if total > 0 and math.isfinite(total) else torch.zeros_like(votes)).tolist()


def _ignorance(nodes: int, classes: int) -> Prediction:
    """No label at all: every class alike, and all of the doubt is one that labels would lift."""
    return Prediction(torch.full((nodes, classes), 1 / classes), torch.zeros(nodes))


def _standard(columns: Tensor) -> Tensor:
    return (columns - columns.mean(0)) / columns.std(0, unbiased=False).clamp(min=1e-6)
