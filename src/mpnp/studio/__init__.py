"""The studio: label a graph in the browser, see the belief change with every click, be told what to label next.

``mpnp studio`` on the command line; in a notebook this module itself is called, ``mpnp.studio(graph)``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .notebook import Studio


class _Door(ModuleType):
    """A module that can be called: ``mpnp.studio`` is a room of the package and the function that opens it."""

    def __call__(self, graph: Any, **options: Any) -> Studio:
        """See :class:`mpnp.studio.notebook.Studio`."""
        from .notebook import Studio

        return Studio(graph, **options)


sys.modules[__name__].__class__ = _Door
