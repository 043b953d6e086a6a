"""Neural processes on graphs: label a few nodes, predict the others, know how sure you are."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import studio
    from .active import replay, suggest
    from .episode import Episode, Sampling, sample_episode
    from .errors import UserError
    from .evaluation.calibrate import calibrate
    from .evaluation.evaluate import cross_fit, episodes, evaluate
    from .graphs import GraphSet
    from .models import find_predictor, from_pretrained
    from .own.predict import predict
    from .prediction import Prediction, Predictor
    from .tasks import get_task
    from .training.fit import fit

__version__ = "0.1.0"

__all__ = [
    "Episode",
    "GraphSet",
    "Prediction",
    "Predictor",
    "Sampling",
    "UserError",
    "calibrate",
    "cross_fit",
    "episodes",
    "evaluate",
    "find_predictor",
    "fit",
    "from_pretrained",
    "get_task",
    "predict",
    "replay",
    "sample_episode",
    "studio",
    "suggest",
]

# Where each name lives. Loaded on first use: torch and Lightning take seconds, and 'mpnp --help' needs neither.
_HOMES = {
    "active": ("replay", "suggest"),
    "evaluation.calibrate": ("calibrate",),
    "episode": ("Episode", "Sampling", "sample_episode"),
    "errors": ("UserError",),
    "evaluation.evaluate": ("cross_fit", "episodes", "evaluate"),
    "graphs": ("GraphSet",),
    "models": ("find_predictor", "from_pretrained"),
    "own.predict": ("predict",),
    "prediction": ("Prediction", "Predictor"),
    "tasks": ("get_task",),
    "training.fit": ("fit",),
}


def __getattr__(name: str) -> Any:
    if name == "studio":  # a room that can be called
        return import_module(".studio", __name__)
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f".{home}", __name__), name)
    raise AttributeError(f"module 'mpnp' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
