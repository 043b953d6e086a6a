"""Predictions as a CSV file: one row per node, in the user's own names."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import compress
from pathlib import Path

import torch
from torch import Tensor

from ..episode import Episode
from ..files import replacing
from ..graphs import UNLABELLED
from ..prediction import Prediction
from ..tasks.own import OwnGraphs

ROWS = 10_000  # made into text at a time: memory stays bounded


def write_csv(path: Path, own: OwnGraphs, episode: Episode, prediction: Prediction, sets: Tensor | None = None) -> None:
    """Write what is predicted for every node of ``own``, whose graphs are those of ``episode``, never half of it.

    The last column, if there are ``sets`` [N, C] bool, holds the labels of a node's set, joined by '|'.
    """
    header = ["graph", "node", "given", "label", *(f"p_{name}" for name in own.class_names)]
    header += ["total", "aleatoric", "epistemic", *(["set"] if sets is not None else [])]
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(header)
        table.writerows(_rows(own, episode, prediction, sets))


def _rows(own: OwnGraphs, episode: Episode, prediction: Prediction, sets: Tensor | None) -> Iterator[list[object]]:
    nodes, names = [name for graph in own.node_names for name in graph], own.class_names
    given = {UNLABELLED: "", **dict(enumerate(names))}
    for start in range(0, episode.num_nodes, ROWS):
        part = torch.arange(start, min(start + ROWS, episode.num_nodes))
        said = prediction.at(part)
        doubt = torch.stack([said.total, said.aleatoric, said.epistemic], 1)
        columns = (
            episode.batch[part].tolist(),
            nodes[start : start + ROWS],
            episode.y[part].tolist(),
            said.label.tolist(),
            torch.cat([said.probabilities, doubt], 1).tolist(),
            [[]] * len(part) if sets is None else [["|".join(compress(names, row))] for row in sets[part].tolist()],
        )
        for graph, node, y, label, values, inside in zip(*columns, strict=True):
            yield [graph, node, given[y], names[label], *(f"{value:.6f}" for value in values), *inside]
