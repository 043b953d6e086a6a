"""What kind of task a task is: all that a default architecture or recipe may go by, the task's name not among it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .base import Task


@dataclass(frozen=True)
class Properties:
    """What is known of a task before any graph is read.

    ``graphs`` and ``nodes`` per graph are round numbers. ``labels``: a class means the same in every graph ('fixed'), is
    renamed in every graph ('arbitrary'), or follows from the features by a rule that is another in every graph ('by rule').
    ``places``: features are coordinates in a frame that all graphs share; ``amounts``: lengths, volumes, counts, a few of them
    many times as large as the others. ``transductive``: the nodes that are tested on were seen in training, with other labels
    shown. ``least_rate``: the sparsest context that is reported.
    """

    graphs: int
    nodes: int
    features: int
    classes: int
    labels: Literal["fixed", "arbitrary", "by rule"] = "fixed"
    places: bool = False
    amounts: bool = False
    transductive: bool = False
    least_rate: float = 0.05

    @classmethod
    def of(cls, task: Task) -> Properties:
        graphs, nodes = task.scale()
        return cls(
            graphs=graphs,
            nodes=nodes,
            features=task.num_features,
            classes=task.num_classes,
            labels="by rule" if task.by_rule else "arbitrary" if task.arbitrary else "fixed",
            places=task.places,
            amounts=task.amounts,
            transductive=task.transductive,
            least_rate=min(task.rates),
        )
