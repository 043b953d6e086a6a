"""How a model is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..errors import UserError
from .objectives import TargetLabels


@dataclass(frozen=True)
class Recipe:
    """How a model is trained.

    ``batch_graphs`` graphs per step, fewer where they hold more than ``batch_nodes`` nodes; an epoch has
    at least ``epoch_steps`` steps, few graphs being gone through several times, each time with other contexts, and there
    are no more epochs than make ``most_steps`` steps (0: no bound); ``average``: the running mean of the weights, which keeps
    this share of itself at each step, is what is validated and kept (0: the weights as they are); ``context`` the range of
    context rates (``None``: the task's own); ``all_targets``: every labelled node is a target; ``augment``: use the
    symmetries of the task; ``patience`` in epochs; ``learn_from``: the task whose training graphs are learned from
    (``None``: its own; a model must answer any number of classes to learn from a task with another number).

    What the paper leaves open: ``standardise`` features by the training graphs (``None``: where the task says so); ``keep`` the
    weights of the epoch that validates best, or of the last; ``target_labels``: whether q(z | T) of the ELBO reads the targets'
    true labels or, as the paper's first figure draws it, those that the model predicts for them from the context.
    """

    name: Literal["default", "paper"] = "default"
    objective: Literal["elbo", "multi-sample", "importance-weighted"] = "elbo"
    samples: int = 1
    epochs: int = 30
    most_steps: int = 0
    learning_rate: float = 3e-3
    optimiser: Literal["adam", "adamw"] = "adamw"
    weight_decay: float = 0.01
    schedule: Literal["one-cycle", "constant"] = "one-cycle"
    clip: float | None = 1.0
    average: float = 0.0
    batch_graphs: int = 32
    batch_nodes: int = 8000
    epoch_steps: int = 20
    context: tuple[float, float] | None = None
    log_uniform: bool = True
    all_targets: bool = True
    augment: bool = True
    patience: int | None = None
    learn_from: str | None = None
    standardise: bool | None = None
    keep: Literal["best", "last"] = "best"
    target_labels: TargetLabels = "true"

    def __post_init__(self) -> None:
        if not 0 <= self.average < 1:
            raise UserError(
                f"average = {self.average} was given, a share from 0 up to but not including 1 is expected."
            )
