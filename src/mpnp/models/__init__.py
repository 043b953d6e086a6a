"""Predictors: the neural processes and what they are compared with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..errors import unknown_name, untrained
from ..prediction import Predictor
from . import mode
from .configs import MODELS
from .hub import HUB
from .label_propagation import LabelPropagation
from .pretrained import SHIPPED, from_pretrained

PREDICTORS: dict[str, Callable[[], Predictor]] = {**mode.PREDICTORS, LabelPropagation.name: LabelPropagation}


def find_predictor(name: str) -> tuple[Predictor, str | None]:
    """The trained model in the folder ``name`` or, as ``hf:user/name``, on the hub, or the predictor of that name; and the task it
    was trained on."""
    if name in PREDICTORS:
        return PREDICTORS[name](), None
    if name in SHIPPED:
        return from_pretrained(name), None
    if name in MODELS:
        raise untrained(name)
    if not (Path(name).exists() or "/" in name or name.startswith(HUB)):
        raise unknown_name("predictor or model folder", name, (*PREDICTORS, *SHIPPED))
    model = from_pretrained(name)
    return model, model.config.task or None


__all__ = ["MODELS", "PREDICTORS", "SHIPPED", "find_predictor", "from_pretrained"]
