"""The studio: label a graph in the browser, see the belief change with every click, be told what to label next.

``mpnp studio`` on the command line; in a notebook this module itself is called, ``mpnp.studio(graph)``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import UserError

if TYPE_CHECKING:
    from .notebook import Studio

NEEDS = ("matplotlib", "starlette", "uvicorn", "websockets")


def missing(package: str) -> str:
    return f"The studio needs {package}, which is not installed; run: pip install 'mpnp[studio]'."


class _Door(ModuleType):
    """A module that can be called: ``mpnp.studio`` is a room of the package and the function that opens it."""

    def __call__(self, graph: Any, **options: Any) -> Studio:
        """See :class:`mpnp.studio.notebook.Studio`."""
        try:
            from .notebook import Studio
        except ModuleNotFoundError as error:
            if error.name not in NEEDS:
                raise
            raise UserError(missing(str(error.name))) from error
        return Studio(graph, **options)


sys.modules[__name__].__class__ = _Door
