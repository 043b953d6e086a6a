"""Caches of arrays: read as they were written, or made again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mpnp.tasks.caches import Arrays, kept, read_arrays


def made() -> Arrays:
    return {"a": np.arange(50), "b": np.linspace(0, 1, 20)}


def damaged(whole: bytes, count: int) -> list[bytes]:
    """Cut, emptied, something else, and with one bit turned at ``count`` places."""
    rng = np.random.default_rng(0)
    turned = []
    for place in rng.integers(len(whole), size=count):
        content = bytearray(whole)
        content[place] ^= 1 << int(rng.integers(8))
        turned.append(bytes(content))
    return [b"", b"hello", whole[: len(whole) // 2], whole[:-3], *turned]


def test_made_once(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "a.npz"
    kept(path, ("a", "b"), made)

    def never() -> Arrays:
        raise AssertionError("made again")

    np.testing.assert_equal(kept(path, ("a", "b"), never), made())
    with pytest.raises(AssertionError, match="made again"):
        kept(path, ("a", "c"), never)
    assert [file.name for file in path.parent.iterdir()] == ["a.npz"]


def test_a_damaged_cache_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    kept(path, ("a", "b"), made)
    whole = path.read_bytes()
    for content in damaged(whole, 60):
        path.write_bytes(content)
        np.testing.assert_equal(kept(path, ("a", "b"), made), made())
        np.testing.assert_equal(read_arrays(path), made())


def test_what_is_wrong_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, a=np.arange(3), words=np.array([{}], dtype=object))
    whole = path.read_bytes()
    for content in (*damaged(whole, 0), whole):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            read_arrays(path, ("a", "words"))
    with pytest.raises(ValueError, match="missing"):
        read_arrays(path, ("missing",))
    assert read_arrays(path, ("a",))["a"].tolist() == [0, 1, 2]
