"""Predictions for a user's own graphs: in Python, and as a table with one row per node."""

from __future__ import annotations

import csv
from dataclasses import replace
from itertools import compress
from pathlib import Path

import torch
from torch_geometric.data import Data

from ..defaults import SAMPLES
from ..episode import Episode
from ..evaluation.evaluate import cross_fit
from ..files import replacing
from ..graphs import UNLABELLED
from ..models.base import Model
from ..models.pretrained import from_pretrained
from ..prediction import Prediction, Predictor
from ..tasks.own import load_graphs


def predict(
    predictor: Predictor,
    graphs: Data | list[Data],
    *,
    num_classes: int | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Prediction:
    """Predict every node of PyG graphs whose labelled nodes (``y`` ≥ 0) are the context.

    Nodes that carry a label are predicted as if they did not, from nine tenths of the others, where the predictor could
    otherwise read their own: a labelled node whose prediction disagrees is worth a second look.
    """
    listed = [graphs] if isinstance(graphs, Data) else graphs
    trained = predictor if num_classes is None and isinstance(predictor, Model) else None
    if trained and not trained.any_classes:
        num_classes = trained.config.num_classes
    episode = Episode.from_graphs(listed, num_classes=num_classes)
    if trained:  # a class of the model's stays one where no node is labelled with it
        episode = replace(episode, num_classes=max(episode.num_classes, trained.config.num_classes))
    return _predict(predictor, episode, samples, seed)


def _predict(predictor: Predictor, episode: Episode, samples: int, seed: int) -> Prediction:
    whole = predictor.predict(episode, samples=samples, seed=seed)
    if not (predictor.sees_own_label and episode.context.any()):
        return whole
    folds = torch.Generator().manual_seed(seed)
    fitted, nodes = cross_fit(predictor, episode, folds, samples=samples, seed=seed)
    back = torch.zeros_like(episode.y)
    back[nodes] = torch.arange(nodes.numel())
    return fitted.at(back).where(episode.context, whole)


def predict_file(model_folder: Path, graph_path: Path, out: Path, *, samples: int = SAMPLES, seed: int = 0) -> str:
    """Predict the graphs in a file and write ``out``: one row per node; returns a sentence on what was done.

    The last column, where the model has been calibrated, is the set of labels that holds the true one with the coverage
    asked for, joined by '|'.
    """
    model = from_pretrained(model_folder)
    names = model.config.class_names
    own = load_graphs(graph_path, names or None)
    episode = Episode.from_graphs(own.graphs, num_classes=len(own.class_names))
    prediction = _predict(model, episode, samples, seed)
    node_names = [name for graph in own.node_names for name in graph]
    given = ["" if y == UNLABELLED else own.class_names[y] for y in episode.y.tolist()]
    header = [
        "graph",
        "node",
        "given",
        "label",
        *[f"p_{c}" for c in own.class_names],
        "total",
        "aleatoric",
        "epistemic",
    ]
    numbers = torch.cat(
        [prediction.probabilities, torch.stack([prediction.total, prediction.aleatoric, prediction.epistemic], 1)], 1
    )
    conformal = None if model.calibration is None else model.calibration.conformal
    sets: list[list[str]] = [[] for _ in given]  # one more column, or none
    if conformal is not None:
        header.append("set")
        inside = conformal.sets(prediction, episode.share_shown[episode.batch])
        sets = [["|".join(compress(own.class_names, row))] for row in inside.tolist()]
    with replacing(out) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(header)
        for i, values in enumerate(numbers.tolist()):
            label = own.class_names[int(prediction.label[i])]
            written = [f"{v:.6f}" for v in values]
            rows.writerow([int(episode.batch[i]), node_names[i], given[i], label, *written, *sets[i]])
    shown = int(episode.context.sum())
    return (
        f"{episode.num_nodes} nodes of {episode.num_graphs} graph(s), {shown} of them labelled, predicted: see {out}."
    )
