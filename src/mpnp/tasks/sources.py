"""Where the data of published benchmarks lies."""

from __future__ import annotations

from pathlib import Path

from ..files import cache_folder, data_root


def find_data(relative: str) -> Path:
    """The file or folder ``relative`` under the data root, else its place in the cache, where downloads go."""
    path = data_root() / relative
    return path if path.exists() else cache_folder() / "data" / relative


__all__ = ["data_root", "find_data"]
