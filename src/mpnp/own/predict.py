"""Predictions for a user's own graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch_geometric.data import Data

from ..defaults import SAMPLES
from ..episode import Episode
from ..evaluation.answers import cross_fit
from ..evaluation.given import as_list, check_predictor, known_classes
from ..prediction import Prediction, Predictor


def predict(
    predictor: Predictor,
    graphs: Data | Sequence[Data],
    *,
    num_classes: int | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Prediction:
    """Predict every node of PyG graphs whose labelled nodes (``y`` ≥ 0) are the context.

    Nodes that carry a label are predicted as if they did not, from nine tenths of the others, where the predictor could
    otherwise read their own: a labelled node whose prediction disagrees is worth a second look.
    """
    return predict_episode(predictor, episode_of(predictor, graphs, num_classes), samples=samples, seed=seed)


def predict_episode(predictor: Predictor, episode: Episode, *, samples: int = SAMPLES, seed: int = 0) -> Prediction:
    """Every node of an episode, none of them by its own label."""
    whole = predictor.predict(episode, samples=samples, seed=seed)
    if not (predictor.sees_own_label and episode.context.any()):
        return whole
    folds = torch.Generator().manual_seed(seed)
    return cross_fit(predictor, episode, folds, samples=samples, seed=seed).within(whole)


def episode_of(predictor: Predictor, graphs: Data | Sequence[Data], num_classes: int | None = None) -> Episode:
    """PyG graphs as an episode with all classes that the predictor knows, or with ``num_classes``."""
    check_predictor(predictor)
    known = known_classes(predictor) if num_classes is None else None
    fixed = known is not None and not getattr(predictor, "any_classes", False)
    episode = Episode.from_graphs(as_list(graphs), num_classes=known if fixed else num_classes)
    # A class of the model's stays one where no node is labelled with it.
    return replace(episode, num_classes=max(episode.num_classes, known or 1))


def label_sets(predictor: Predictor, episode: Episode, prediction: Prediction) -> Tensor | None:
    """Which labels are in each node's set, [N, C] bool, where the predictor was calibrated for a coverage, else ``None``."""
    calibration = getattr(predictor, "calibration", None)
    if calibration is None or calibration.conformal is None:
        return None
    return calibration.conformal.sets(prediction, episode.share_shown[episode.batch])
