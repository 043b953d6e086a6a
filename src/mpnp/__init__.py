"""Neural processes on graphs: label a few nodes, predict the others, know how sure you are."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import extras

if TYPE_CHECKING:
    from . import studio
    from .active import replay, sample, suggest
    from .classifier import NodeClassifier
    from .episode import Episode, Sampling, sample_episode
    from .errors import UserError
    from .evaluation.answers import Answers, cross_fit, episodes
    from .evaluation.calibrate import calibrate
    from .evaluation.evaluate import evaluate
    from .evaluation.reliability import check_calibration
    from .graphs import GraphSet
    from .models import find_predictor, from_pretrained
    from .models.base import LatentModel, ModelConfig, Network
    from .own.predict import predict
    from .plots import plot
    from .prediction import Prediction, Predictor
    from .tasks import OwnGraphs, as_graphs, get_task
    from .training.fit import fit
    from .training.recipe import Recipe

__version__ = "0.2.0.dev0"

__all__ = [
    "Answers",
    "Episode",
    "GraphSet",
    "LatentModel",
    "ModelConfig",
    "Network",
    "NodeClassifier",
    "OwnGraphs",
    "Prediction",
    "Predictor",
    "Recipe",
    "Sampling",
    "UserError",
    "as_graphs",
    "calibrate",
    "check_calibration",
    "cross_fit",
    "episodes",
    "evaluate",
    "find_predictor",
    "fit",
    "from_pretrained",
    "get_task",
    "plot",
    "predict",
    "replay",
    "sample",
    "sample_episode",
    "studio",
    "suggest",
]

# Where each name lives. Loaded on first use: torch and Lightning take seconds, and 'mpnp --help' needs neither.
_HOMES = {
    "active": ("replay", "sample", "suggest"),
    "classifier": ("NodeClassifier",),
    "episode": ("Episode", "Sampling", "sample_episode"),
    "errors": ("UserError",),
    "evaluation.answers": ("Answers", "cross_fit", "episodes"),
    "evaluation.calibrate": ("calibrate",),
    "evaluation.evaluate": ("evaluate",),
    "evaluation.reliability": ("check_calibration",),
    "graphs": ("GraphSet",),
    "models": ("find_predictor", "from_pretrained"),
    "models.base": ("LatentModel", "ModelConfig", "Network"),
    "own.predict": ("predict",),
    "plots": ("plot",),
    "prediction": ("Prediction", "Predictor"),
    "tasks": ("OwnGraphs", "as_graphs", "get_task"),
    "training.fit": ("fit",),
    "training.recipe": ("Recipe",),
}


def __getattr__(name: str) -> Any:
    with extras():
        if name == "studio":  # a room that can be called
            return import_module(".studio", __name__)
        for home, names in _HOMES.items():
            if name in names:
                return getattr(import_module(f".{home}", __name__), name)
    raise AttributeError(f"module 'mpnp' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
