"""Where the data of published benchmarks lies."""

from __future__ import annotations

import os
from pathlib import Path

from .base import cache_folder


def data_root() -> Path:
    """The folder of data that is only ever read: ``$MPNP_DATA``, else ``data`` in the cache folder."""
    return Path(os.environ.get("MPNP_DATA") or cache_folder() / "data")


def find_data(relative: str) -> Path:
    """The file or folder ``relative`` under the data root, else its place in the cache, where downloads go."""
    path = data_root() / relative
    return path if path.exists() else cache_folder() / "data" / relative
