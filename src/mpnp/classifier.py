"""``NodeClassifier``: one graph, a few labels, in the words of scikit-learn."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .active import Suggestion, suggest
from .defaults import COVERAGE, READY, SAMPLES
from .episode import Episode
from .errors import UserError, extras
from .evaluation.given import as_predictor, reading_of
from .graphs import UNLABELLED
from .models.universal import Universal
from .own.named import OwnPrediction
from .own.predict import label_sets, predict_own
from .prediction import Predictor
from .tasks.own import OwnGraphs, as_graphs


class NodeClassifier:
    """Reads a graph on which some nodes are labelled, and answers for all of them.

    ``model``: the name of a model or predictor, a model's folder, or a predictor; ``coverage``: how often a set of labels
    has to hold the true one; ``samples`` of the latent variable; ``seed`` of their noise.

    After :meth:`fit`: ``classes_`` [C], ``node_names_`` [N], ``prediction_``, ``notes_`` on how the graph was read. Arrays
    follow the order of the nodes in the graph; several graphs follow one another.
    """

    own_: OwnGraphs
    episode_: Episode
    predictor_: Predictor
    prediction_: OwnPrediction

    def __init__(
        self,
        model: str | Path | Predictor = READY,
        *,
        coverage: float = COVERAGE,
        samples: int = SAMPLES,
        seed: int = 0,
    ) -> None:
        self.model, self.coverage, self.samples, self.seed = model, coverage, samples, seed

    def fit(self, graph: Any, labels: Any = None, **reading: Any) -> NodeClassifier:
        """Read a graph in any container that :func:`mpnp.as_graphs` takes, and its labels, here or in it.

        ``reading``: how it is read, in the words of :func:`mpnp.as_graphs`, as ``label_column="team"``.
        """
        predictor = as_predictor(self.model)
        own = as_graphs(graph, labels, **{**reading_of(predictor), **reading})
        if isinstance(predictor, Universal) and len(own.graphs) > 1:
            predictor = predictor.sharing()
        self.prediction_ = predict_own(predictor, own, None, self.coverage, samples=self.samples, seed=self.seed)
        assert self.prediction_.episode is not None
        self.own_, self.episode_, self.predictor_ = own, self.prediction_.episode, predictor
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes as they were given: whole numbers, or names."""
        names = self._fitted().prediction_.class_names
        whole = all(name.lstrip("-").isdecimal() and str(int(name)) == name for name in names)
        return np.array([int(name) for name in names] if whole else names)

    @property
    def node_names_(self) -> NDArray[np.str_]:
        return np.array([name for names in self._fitted().own_.node_names for name in names])

    @property
    def notes_(self) -> list[str]:
        """What was inferred, imputed and ignored when the graph was read."""
        return self._fitted().own_.notes

    def predict(self) -> NDArray[Any]:
        """The likeliest class of every node [N], labelled ones among them, none by its own label."""
        return self.classes_[self._fitted().prediction_.label.numpy()]

    def predict_proba(self) -> NDArray[np.float32]:
        """The probability of every class [N, C]."""
        return self._fitted().prediction_.probabilities.numpy()

    def predict_set(self, coverage: float | None = None) -> list[list[Any]]:
        """For every node the classes that may be true: the true one is among them as often as ``coverage`` says.

        Where too few labels are given for such a promise, every class is.
        """
        self._fitted()
        found = label_sets(self.predictor_, self.episode_, self.prediction_, coverage or self.coverage)
        if found is None:
            raise UserError(
                f"'{self.predictor_.name}' has no sets of labels before it is calibrated; use mpnp.calibrate, or '{READY}'."
            )
        return [self.classes_[row].tolist() for row in found[0].numpy()]

    def uncertainty(self) -> dict[str, NDArray[np.float32]]:
        """In nats, [N] each: 'total' doubt, its 'aleatoric' part, which no label would take away, and its 'epistemic' part."""
        said = self._fitted().prediction_
        return {part: getattr(said, part).numpy() for part in ("total", "aleatoric", "epistemic")}

    def suggest(self, count: int = 5, **options: Any) -> list[Suggestion]:
        """The nodes to label next, each with its reason; ``options`` as :func:`mpnp.suggest` has them."""
        own = self._fitted().own_
        return suggest(
            self.predictor_, own, count=count, class_names=own.class_names, node_names=own.node_names, **options
        )

    def score(self, truth: Any) -> float:
        """Accuracy over the nodes that were not labelled, by ``truth``: labels in any form that :meth:`fit` takes."""
        own = self._fitted().own_
        told = as_graphs(own, truth)
        y = torch.cat([graph.y for graph in told.graphs])
        asked = ((y != UNLABELLED) & ~self.episode_.context).nonzero().flatten()
        if not len(asked):
            raise UserError("The truth tells no label that was not given already; give labels of other nodes.")
        said = self.prediction_.label_names
        # A class of which no label was given cannot be found, and counts as missed.
        return sum(said[node] == told.class_names[y[node]] for node in asked.tolist()) / len(asked)

    def plot(self, path: str | Path, *, graph: int = 0, title: str = "") -> Path:
        """The labels given, what is predicted and where it is unsure: .png, .svg or .pdf, or .html, a page to zoom and point at."""
        with extras():
            from .plots.comparing import Drawing
            from .plots.own import row_of

        own = self._fitted().own_
        if not 0 <= graph < len(own.graphs):
            raise UserError(f"There is no graph {graph}: {own.where} has graphs 0 to {len(own.graphs) - 1}.")
        row = row_of(self.episode_, {self.predictor_.name: self.prediction_}, graph, own.node_names[graph])
        return Drawing([row], title, own.class_names).save(path)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _parameters(type(self))}

    def set_params(self, **given: Any) -> NodeClassifier:
        for name, value in given.items():
            if name not in _parameters(type(self)):
                known = ", ".join(_parameters(type(self)))
                raise UserError(f"NodeClassifier has no parameter '{name}'; it has {known}.")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of a classifier; nothing else calls it."""
        from sklearn.utils import ClassifierTags, Tags, TargetTags

        return Tags("classifier", TargetTags(required=False), classifier_tags=ClassifierTags())

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if v is not defaults[k].default]
        return f"NodeClassifier({', '.join(changed)})"

    def _fitted(self) -> NodeClassifier:
        if not hasattr(self, "prediction_"):
            raise UserError("This NodeClassifier has read no graph yet; call fit(graph, labels) first.")
        return self


def _parameters(kind: type) -> Sequence[str]:
    return list(inspect.signature(kind).parameters)
