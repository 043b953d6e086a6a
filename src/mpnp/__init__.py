"""Neural processes on graphs: label a few nodes, predict the others, know how sure you are."""

from .episode import Episode, Sampling, sample_episode
from .errors import UserError
from .evaluation import cross_fit, evaluate
from .graphs import GraphSet
from .models import find_predictor, from_pretrained
from .predicting import predict
from .prediction import Prediction, Predictor
from .tasks import get_task
from .training import fit

__version__ = "0.1.0"

__all__ = [
    "Episode",
    "GraphSet",
    "Prediction",
    "Predictor",
    "Sampling",
    "UserError",
    "cross_fit",
    "evaluate",
    "find_predictor",
    "fit",
    "from_pretrained",
    "get_task",
    "predict",
    "sample_episode",
]
