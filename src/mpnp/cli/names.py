"""Names that help texts list, taken from where they are registered, and only when a help text is shown.

A help text writes ``{models}`` where it wants the names of all models. Registries import torch, which takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable


def _models() -> Iterable[str]:
    from ..models import MODELS

    return MODELS


def _predictors() -> Iterable[str]:
    from ..models import PREDICTORS, SHIPPED

    return (*SHIPPED, *PREDICTORS)


def _strategies() -> Iterable[str]:
    from ..active import STRATEGIES

    return STRATEGIES


def _kinds() -> Iterable[str]:
    from ..plots import KINDS

    return KINDS


def _tables() -> Iterable[str]:
    from ..reproduce.plan import TABLES

    return TABLES


def _files() -> Iterable[str]:
    from ..tasks.formats.files import KINDS

    return [KINDS]


NAMES: dict[str, Callable[[], Iterable[str]]] = {
    "models": _models,
    "predictors": _predictors,
    "strategies": _strategies,
    "kinds": _kinds,
    "tables": _tables,
    "files": _files,
}


def filled_in(text: str) -> str:
    """A help text with the names in their places."""
    for place, names in NAMES.items():
        if f"{{{place}}}" in text:
            text = text.replace(f"{{{place}}}", ", ".join(names()))
    return text
