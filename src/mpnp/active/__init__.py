"""Active learning: which nodes to label next, and what asking for these rather than others is worth."""

from .curves import Gain, Replay, ReplayTable
from .replay import replay
from .strategies import STRATEGIES, Choice, Strategy, ask, find_strategy
from .suggesting import Suggestion, suggest

__all__ = [
    "STRATEGIES",
    "Choice",
    "Gain",
    "Replay",
    "ReplayTable",
    "Strategy",
    "Suggestion",
    "ask",
    "find_strategy",
    "replay",
    "suggest",
]
