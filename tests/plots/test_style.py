"""Colours and files: whole ones or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from PIL import Image

from mpnp.errors import UserError
from mpnp.plots import CLASS_COLOURS, MODEL_COLOURS, UNKNOWN, class_colours, model_colours, save, shrink
from mpnp.plots.style import legend_name


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_figure_is_written_as_its_ending_says(tmp_path: Path, ending: str, start: bytes) -> None:
    path = save(Figure(), tmp_path / "new" / f"picture.{ending}")
    assert path.read_bytes().startswith(start)
    assert list((tmp_path / "new").iterdir()) == [path]


def test_unknown_labels_are_grey_and_many_classes_begin_again() -> None:
    found = class_colours(np.array([-1, 0, len(CLASS_COLOURS) + 1]))
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


def test_any_name_can_be_drawn(tmp_path: Path) -> None:
    """'$…$' would be a formula, a legend would leave out what begins with '_'; the numbers of a log axis are formulas."""
    figure = Figure()
    axis = figure.subplots()
    axis.plot([1, 1000], [1, 2], label=legend_name("_hidden"))
    axis.set(xscale="log", title=r"runs/$\nothing$", xlabel="$_$", ylabel="a$b$")
    figure.suptitle("$")
    axis.legend()
    text = save(figure, tmp_path / "names.svg").read_text(encoding="utf-8")
    assert r"runs/$\nothing$" in text and "_hidden" in text
    assert all(text.get_parse_math() for text in axis.get_xticklabels())
    assert legend_name("x" * 99) == "x" * 39 + "…"


def test_a_model_has_one_colour() -> None:
    assert model_colours(["mine", "ampnp"])["ampnp"] == model_colours(["ampnp", "gnn"])["ampnp"]
    assert len(set(model_colours(["a", "ampnp", "b", "universal"]).values())) == 4
    assert len(set(MODEL_COLOURS.values())) == len(MODEL_COLOURS)


def test_a_small_picture_keeps_its_rare_colours(tmp_path: Path) -> None:
    """The light end of a colour bar, a few pixels, beside much of an orange like it: it had become orange."""
    generator = np.random.default_rng(0)
    paler = generator.random((256, 256, 1))  # as the rims of points are
    pixels = 255 * colormaps["viridis"](generator.beta(1, 6, (256, 256)))[..., :3]
    pixels[:100] = (230, 159, 0)
    pixels = (paler * pixels + (1 - paler) * 255).astype(np.uint8)
    pixels[-2:, -5:] = (253, 231, 37)
    Image.fromarray(pixels).save(tmp_path / "large.png")
    small = shrink(tmp_path / "large.png", tmp_path / "small.png")
    with Image.open(small) as image:
        assert image.mode == "P"  # a byte a pixel
        found = np.asarray(image.convert("RGB")).astype(int)
    assert np.abs(found - pixels)[-2:, -5:].max() <= 25
