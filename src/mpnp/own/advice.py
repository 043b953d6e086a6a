"""Which model to use for a user's graphs, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from shlex import quote

import numpy as np
import torch

from ..defaults import MODEL, READY
from ..graphs import UNLABELLED
from ..models.universal import Universal
from ..prediction import Predictor
from ..tasks.own import OwnGraphs, OwnTask

MANY_GRAPHS = 50  # with labels, from which on a model of one's own is worth its training
MANY_LABELS = 2_000
CHANCE = 0.01  # with which some column may tell all labels by accident, without a word said


@dataclass(frozen=True)
class Advice:
    """``model``: what to use; ``why``: in a sentence; ``command``: to begin with."""

    model: str
    why: str
    command: str


def advice(own: OwnGraphs, path: str | None = None) -> Advice:
    """The model that needs no training, unless there is much to learn from, or nothing to go by; ``path``: of the graphs, as
    the command has it."""
    place = quote(path or own.where)
    labelled = [int((graph.y != UNLABELLED).sum()) for graph in own.graphs]
    labels, graphs = sum(labelled), sum(count > 1 for count in labelled)
    if labels == 0:
        why = f"No node is labelled yet: label one of every class; '{READY}' says which to label first."
        return Advice(READY, why, f"mpnp suggest {place}")
    if graphs >= MANY_GRAPHS and labels >= MANY_LABELS:
        why = f"{graphs:,} graphs with {labels:,} labels are enough to train '{MODEL}' on; '{READY}' answers at once."
        return Advice(MODEL, why, f"mpnp train {place} --model {MODEL}")
    why = f"'{READY}' needs no training, which {labels:,} labels on {len(own.graphs):,} graph(s) would hardly be enough for."
    return Advice(READY, why, f"mpnp predict {place}")


def division(own: OwnGraphs) -> str:
    """How the labels would be divided to score a model and to train one, in a sentence."""
    task = OwnTask(own)
    labels = sum(int((graph.y != UNLABELLED).sum()) for graph in own.graphs)
    if labels < 2:
        return "Too few labels to score a model by; 'mpnp evaluate' needs two."
    if not task.transductive:
        usable = sum(int((graph.y != UNLABELLED).sum()) > 1 for graph in own.graphs)
        return f"Whole graphs would be held out: of {usable:,} with two labels or more, 70 % to train on, 10 % to stop by, 20 % to test."
    folds = f"Scored by cross-validation: each of {labels:,} labelled nodes is predicted in one of {min(labels, 10)} folds, the others shown"
    parts = [int(task.part(split).sum()) for split in ("train", "val", "test")]
    if min(parts) < 2:
        return f"{folds}. To train a model, label at least 15 nodes."
    return (
        f"{folds}. To train a model, {parts[0] + parts[1]:,} labels are learned from and {parts[2]:,} kept to test it."
    )


def telling(own: OwnGraphs) -> list[str]:
    r"""Columns that tell every given label, and not by chance, a sentence each.

    A column of V values tells n labels of C classes by chance with a probability of at most
    :math:`C^V \prod_c n_c! / n!`: there are so many ways to give a class to every value, and one order of the labels fits each.
    """
    y = torch.cat([graph.y for graph in own.graphs])
    told = (y != UNLABELLED).nonzero().flatten()
    y = y[told]
    counts = torch.bincount(y).double()
    if int((counts > 0).sum()) < 2:
        return []
    x = torch.cat([graph.x for graph in own.graphs])[told].numpy()
    columns: dict[str, list[int]] = {}
    for i, (name, kind) in enumerate(zip(own.feature_names, own.feature_kinds, strict=True)):
        if kind not in ("missing", "constant"):
            columns.setdefault(name.partition("=")[0] if kind == "category" else name, []).append(i)
    orders = float(torch.lgamma(counts.sum() + 1) - torch.lgamma(counts + 1).sum())  # of the labels, their logarithm
    found = []
    for name, places in columns.items():
        values, value = np.unique(x[:, places], axis=0, return_inverse=True)
        chance = len(values) * math.log(int((counts > 0).sum())) - orders + math.log(len(columns))
        if chance < math.log(CHANCE) and len(np.unique(value.ravel() * len(counts) + y.numpy())) == len(values):
            found.append(
                f"Column '{name}' tells the label of every labelled node; if it is not known beforehand, leave it out with "
                f"--ignore {quote(name)}."
            )
    return found


def unused(predictor: Predictor, own: OwnGraphs) -> list[str]:
    """What of the edges a predictor makes no use of, a sentence each."""
    name, sentences = predictor.name, []
    if any(graph.get("edge_weight") is not None for graph in own.graphs) and not isinstance(predictor, Universal):
        sentences.append(f"'{name}' makes no use of edge weights; '{READY}' does.")
    if own.edge_type_names and not name.startswith("r-"):
        sentences.append(f"'{name}' makes no use of edge types; 'r-mpnp' and 'r-gcn', once trained, do.")
    return sentences
