"""Active learning: which nodes to label next, and what asking for these rather than others is worth."""

from .replay import Gain, Replay, replay
from .strategies import STRATEGIES, Choice, Strategy, ask, find_strategy
from .suggesting import Suggestion, suggest

__all__ = [
    "STRATEGIES",
    "Choice",
    "Gain",
    "Replay",
    "Strategy",
    "Suggestion",
    "ask",
    "find_strategy",
    "replay",
    "suggest",
]
