"""Active learning: which nodes to label next, and what asking for these rather than others is worth."""

from .auto import Auto, rehearse
from .contract import Choice, Strategy
from .curves import Gain, Replay, ReplayTable
from .expected import Expected
from .forecast import Forecast, forecast
from .replay import replay
from .sampling import JointSamples, joint_log_likelihood, sample, vary_latent
from .strategies import STRATEGIES, ask, find_strategy
from .suggesting import Suggestion, suggest

__all__ = [
    "STRATEGIES",
    "Auto",
    "Choice",
    "Expected",
    "Forecast",
    "Gain",
    "JointSamples",
    "Replay",
    "ReplayTable",
    "Strategy",
    "Suggestion",
    "ask",
    "find_strategy",
    "forecast",
    "joint_log_likelihood",
    "rehearse",
    "replay",
    "sample",
    "suggest",
    "vary_latent",
]
