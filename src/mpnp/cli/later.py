"""Parts of libraries that few need, imported when they are first used and not with the rest.

``import torch_geometric`` imports its data sets, which bring language models and pandas. Here they become a module that loads
itself at the first look at what is in it (:class:`importlib.util.LazyLoader`), for whoever looks: nothing else changes.

It imports torch's compiler, too, as long as torch itself, for a function that asks whether a model is a compiled one. That
function says ``torch._dynamo``, which torch imports by itself when it is first said; so the import beforehand is left out.
(A module that loads itself will not do here: the compiler then meets parts of torch that are half imported.)

Commands alone do so: in the process of someone who imports mpnp, imports are not ours to arrange.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

COMPILER = "torch._dynamo"


class _WithoutCompiler(Loader):
    """Loads a module in which ``import torch._dynamo`` imports torch alone."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        stand_in = ModuleType(COMPILER)
        there = sys.modules.setdefault(COMPILER, stand_in)
        try:
            self.loader.exec_module(module)
        finally:
            if there is stand_in:
                del sys.modules[COMPILER]


LATER = {"torch_geometric.datasets": LazyLoader, "torch_geometric.isinstance": _WithoutCompiler}


class _Later(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in LATER:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = LATER[name](spec.loader)
        return spec


def import_later() -> None:
    """From now on; where one of them was imported before, it stays as it is."""
    if not any(isinstance(finder, _Later) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Later())
