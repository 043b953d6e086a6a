"""Arrays kept in ``.npz`` files: read whole or not at all, and a damaged cache is made again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files import replacing

Arrays = dict[str, NDArray[Any]]


def read_arrays(path: Path, names: Sequence[str] | None = None) -> Arrays:
    """The arrays ``names`` of a file, or all; a :class:`ValueError` of one line says what is wrong with it.

    Every entry of the archive has a checksum, so what comes back is what was written.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in (stored.files if names is None else names)}
    except Exception as error:  # a damaged archive can provoke any
        raise ValueError(" ".join(str(error).split()) or type(error).__name__) from error


def kept(path: Path, names: Sequence[str], make: Callable[[], Arrays]) -> Arrays:
    """What ``make`` once gave, from ``path``; made and written there if the file is missing, damaged or lacks one of ``names``."""
    if path.exists():
        try:
            arrays = read_arrays(path)
            if arrays.keys() >= set(names):
                return arrays
        except ValueError:
            pass  # it is but a copy of what can be made again
    arrays = make()
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
    return arrays
