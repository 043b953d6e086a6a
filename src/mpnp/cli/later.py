"""Parts of libraries that few need, imported when they are first used and not with the rest.

``import torch_geometric`` imports its data sets, which bring language models and pandas. Here they become a module that loads
itself at the first look at what is in it (:class:`importlib.util.LazyLoader`), for whoever looks: nothing else changes. Commands alone do so:
in the process of someone who imports mpnp, imports are not ours to arrange.
Torch's compiler, which it imports too, is left as it is: loaded late, it meets parts of torch that are half imported.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

LATER = ("torch_geometric.datasets",)


class _Later(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in LATER:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def import_later() -> None:
    """From now on; where one of them was imported before, it stays as it is."""
    if not any(isinstance(finder, _Later) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Later())
