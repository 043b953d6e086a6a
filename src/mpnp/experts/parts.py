"""Work on many rows part by part: with very many classes, memory is bounded; with few, all is one part and nothing changes."""

from __future__ import annotations

from collections.abc import Iterator

PART = 2**21  # numbers in a tensor at once: they fit into memory that was used before, and mostly into the cache
BLOCK = 64  # rows of which a part is a multiple, so that products of whole blocks round alike


def parts(rows: int, width: int, most: int | None = None) -> Iterator[slice]:
    """Consecutive slices of ``rows`` that hold ``width`` numbers each, ``most`` in a slice (default: :data:`PART`); at least
    one slice, be it empty."""
    size = max(BLOCK, (PART if most is None else most) // max(width, 1) // BLOCK * BLOCK)
    for start in range(0, max(rows, 1), size):
        yield slice(start, min(start + size, rows))
