"""Predictions for a user's own graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from ..defaults import COVERAGE, SAMPLES
from ..episode import Episode
from ..errors import UserError
from ..evaluation.answers import FOLDS, cross_fit
from ..evaluation.given import asked, check_predictor, known_classes, reading_of
from ..models.calibration import check_coverage
from ..models.universal import Universal
from ..prediction import Prediction, Predictor
from ..progress import stage
from ..tasks.own import OwnGraphs, as_graphs
from .named import OwnPrediction
from .sets import sets_from_context

LARGE = 20_000  # nodes from which on two folds have to do: no more work than one pass over all nodes


def predict(
    predictor: Any,
    graphs: Any = None,
    *,
    labels: Any = None,
    num_classes: int | None = None,
    coverage: float = COVERAGE,
    samples: int = SAMPLES,
    seed: int = 0,
    **reading: Any,
) -> OwnPrediction:
    """Predict every node of graphs whose labelled nodes (``y`` ≥ 0) are the context: ``predict(graphs)`` or
    ``predict(predictor, graphs)``.

    Without a predictor the model that comes with the package answers, without training; others are given as they are, by name
    or by folder. ``graphs``: whatever :func:`mpnp.as_graphs` takes: PyG, NetworkX, SciPy, pandas, a path; ``labels`` in place
    of those in it; ``reading``: how it is read, as ``label_column="team"``. A trained model takes features and classes by
    their names.

    What is returned knows the names of nodes and classes, and, where the predictor has them, sets of labels that hold the
    true one as often as ``coverage`` says.

    Nodes that carry a label are predicted as if they did not, from the others, where the predictor could otherwise read
    their own: a labelled node whose prediction disagrees is worth a second look.
    """
    predictor, graphs = asked(predictor, graphs)
    check_coverage(coverage)
    own = as_graphs(graphs, labels, **{**reading_of(predictor), **reading})
    return predict_own(predictor, own, num_classes, coverage, samples=samples, seed=seed)


def predict_own(
    predictor: Predictor,
    own: OwnGraphs,
    num_classes: int | None = None,
    coverage: float = COVERAGE,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
) -> OwnPrediction:
    """Every node of graphs that were read before, in the names they were read with."""
    if not own.class_names and num_classes is None and known_classes(predictor) is None:
        raise UserError(
            f"No node of {own.where} has a label, and '{predictor.name}' knows no classes of its own; label at least one node "
            "of every class, or name the column that holds the labels."
        )
    if num_classes is None and getattr(getattr(predictor, "config", None), "class_names", None):
        num_classes = len(own.class_names) or None  # which may be others than the model's
    episode = episode_of(predictor, own, num_classes)
    said = predict_episode(predictor, episode, samples=samples, seed=seed)
    if not said.probabilities.isfinite().all():
        raise UserError(
            f"'{predictor.name}' gave no finite answer for {own.where}; look for huge values among the features."
        )
    sets = label_sets(predictor, episode, said, coverage)
    inside, promise = (None, None) if sets is None else sets
    return OwnPrediction(said.probabilities, said.aleatoric, said.deviation, own, episode, inside, promise)


def predict_episode(predictor: Predictor, episode: Episode, *, samples: int = SAMPLES, seed: int = 0) -> Prediction:
    """Every node of an episode, none of them by its own label; labels mean the same in all its graphs."""
    if isinstance(predictor, Universal) and episode.num_graphs > 1:
        predictor = predictor.sharing()
    with stage(f"predicting {episode.num_nodes:,} nodes"):
        whole = predictor.predict(episode, samples=samples, seed=seed)
    if not (predictor.sees_own_label and episode.context.any()):
        return whole
    generator = torch.Generator().manual_seed(seed)
    folds = FOLDS if episode.num_nodes <= LARGE else 2
    with stage("predicting labelled nodes from the others"):
        return cross_fit(predictor, episode, generator, samples=samples, seed=seed, folds=folds, of=folds).within(whole)


def episode_of(predictor: Predictor, graphs: Any, num_classes: int | None = None) -> Episode:
    """Graphs as an episode with all classes that the predictor knows, or with ``num_classes``."""
    check_predictor(predictor)
    known = known_classes(predictor) if num_classes is None else None
    fixed = known is not None and not getattr(predictor, "any_classes", False)
    episode = Episode.from_graphs(as_graphs(graphs).graphs, num_classes=known if fixed else num_classes)
    # A class of the model's stays one where no node is labelled with it.
    return replace(episode, num_classes=max(episode.num_classes, known or 1))


def label_sets(
    predictor: Predictor, episode: Episode, prediction: Prediction, coverage: float = COVERAGE
) -> tuple[Tensor, str] | None:
    """Which labels are in each node's set, [N, C] bool, and what that promises, in a sentence.

    A predictor that was calibrated for a coverage keeps to it; one that predicts context nodes leave-one-out needs no
    calibration, and takes ``coverage``; others have no sets.
    """
    calibration = getattr(predictor, "calibration", None)
    if calibration is not None and calibration.conformal is not None:
        conformal = calibration.conformal
        promise = f"The sets hold the true label {100 * conformal.coverage:g} % of the time on graphs like those it was calibrated on."
        return conformal.sets(prediction, episode.share_shown[episode.batch]), promise
    if getattr(predictor, "leaves_one_out", False):
        sets = sets_from_context(prediction, episode, coverage)
        return sets.inside, sets.promise
    return None
