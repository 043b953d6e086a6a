"""Colours and files: whole ones or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from mpnp.errors import UserError
from mpnp.plots import CLASS_COLOURS, UNKNOWN, class_colours, save


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_figure_is_written_as_its_ending_says(tmp_path: Path, ending: str, start: bytes) -> None:
    path = save(Figure(), tmp_path / "new" / f"picture.{ending}")
    assert path.read_bytes().startswith(start)
    assert list((tmp_path / "new").iterdir()) == [path]


def test_unknown_labels_are_grey_and_many_classes_begin_again() -> None:
    found = class_colours(np.array([-1, 0, 9]))
    assert [tuple(row) for row in found] == [to_rgba(c) for c in (UNKNOWN, CLASS_COLOURS[0], CLASS_COLOURS[1])]
    assert class_colours(np.array([], dtype=np.int64)).shape == (0, 4)


@pytest.mark.parametrize("earlier", [None, b"an earlier picture"])
def test_nothing_half_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, earlier: bytes | None) -> None:
    path = tmp_path / "picture.png"
    if earlier:
        path.write_bytes(earlier)

    def half(self: Figure, file: Path, **_: Any) -> None:
        Path(file).write_bytes(b"half")
        raise MemoryError

    monkeypatch.setattr(Figure, "savefig", half)
    with pytest.raises(MemoryError):
        save(Figure(), path)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == ([earlier] if earlier else [])


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UserError, match="Cannot write"):
        save(Figure(), tmp_path / "file" / "picture.png")
