"""Which model to use for a user's graphs, and why."""

from __future__ import annotations

from dataclasses import dataclass

from ..defaults import MODEL, READY
from ..graphs import UNLABELLED
from ..tasks.own import OwnGraphs

MANY_GRAPHS = 50  # with labels, from which on a model of one's own is worth its training
MANY_LABELS = 2_000


@dataclass(frozen=True)
class Advice:
    """``model``: what to use; ``why``: in a sentence; ``command``: to begin with."""

    model: str
    why: str
    command: str


def advice(own: OwnGraphs) -> Advice:
    """The model that needs no training, unless there is much to learn from, or nothing to go by."""
    labelled = [int((graph.y != UNLABELLED).sum()) for graph in own.graphs]
    labels, graphs = sum(labelled), sum(count > 1 for count in labelled)
    if labels == 0:
        why = f"No node is labelled yet: label one of every class; '{READY}' says which to label first."
        return Advice(READY, why, f"mpnp suggest {own.where}")
    if graphs >= MANY_GRAPHS and labels >= MANY_LABELS:
        why = f"{graphs:,} graphs with {labels:,} labels are enough to train '{MODEL}' on; '{READY}' answers at once."
        return Advice(MODEL, why, f"mpnp train {own.where} --model {MODEL}")
    why = f"'{READY}' needs no training, which {labels:,} labels on {len(own.graphs):,} graph(s) would hardly be enough for."
    return Advice(READY, why, f"mpnp predict {own.where}")
