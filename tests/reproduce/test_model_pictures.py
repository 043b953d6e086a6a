"""Pictures of models: drawn when their models are new, kept when these are gone."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from mpnp.active import replay
from mpnp.models import configs, pretrained
from mpnp.models.mode import Mode, StateMode
from mpnp.reproduce import model_pictures
from mpnp.tasks import get_task
from mpnp.tasks.cellular_automata import CellularAutomaton


@pytest.fixture
def few_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        model_pictures, "get_task", lambda name: CellularAutomaton(name.partition("/")[2], graphs_total=20)
    )


@pytest.mark.usefixtures("few_graphs")
def test_pictures_of_models_are_drawn_once_and_kept(tmp_path: Path) -> None:
    assert model_pictures.with_models(tmp_path) == []
    task = get_task("ca/spherical-voronoi")
    place = tmp_path / "runs" / "ca-spherical-voronoi-ampnp-seed0"
    place.mkdir(parents=True)
    model = configs.build(configs.config("ampnp", task))
    pretrained.save(model, place, {"finished": False})
    assert model_pictures.with_models(tmp_path) == []  # its training was interrupted
    pretrained.save(model, place, {"finished": True})
    (picture,) = model_pictures.with_models(tmp_path)
    assert (picture.name, picture.section) == ("sphere", "cellular-automata")
    assert picture.path.read_bytes().startswith(b"\x89PNG")

    picture.path.write_bytes(b"as it was")
    later = (place / "metrics.json").stat().st_mtime + 10
    os.utime(picture.path, (later, later))
    assert model_pictures.with_models(tmp_path) == [picture] and picture.path.read_bytes() == b"as it was"
    os.utime(place / "metrics.json", (later + 10, later + 10))  # trained again
    model_pictures.with_models(tmp_path)
    assert picture.path.read_bytes().startswith(b"\x89PNG")
    shutil.rmtree(place)
    assert model_pictures.with_models(tmp_path) == [picture]


def test_a_shape_and_active_sampling_of_the_category_with_the_most_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Few(CellularAutomaton):
        """An automaton under the name of a category."""

        name = "shapenet/cap"  # type: ignore[assignment]

    task = Few("voronoi", graphs_total=20)
    monkeypatch.setattr(model_pictures, "get_task", lambda name: task)
    monkeypatch.setattr(model_pictures.plots, "cloud_figure", lambda episode, predictions, title: _titles(predictions))
    drawn = []
    monkeypatch.setattr(model_pictures, "asking_figure", lambda played: drawn.append(played) or Figure())
    for category, rows in {"cap": ("ampnp", "np"), "bag": ("ampnp",), "mug": ("np", "mpnp")}.items():
        for row in rows:
            model = configs.build(configs.config(row, task))
            pretrained.save(model, tmp_path / "runs" / f"shapenet-{category}-{row}-seed0", {"finished": True})
    pictures = model_pictures.with_models(tmp_path)
    assert [picture.name for picture in pictures] == ["cloud", "active"]
    assert all(picture.section == "shapenet" and picture.path.exists() for picture in pictures)
    ((first, second),) = drawn
    assert first.task == "shapenet/cap" and (first.model, second.model) == ("np", "ampnp")
    assert list(first.curves) == ["random", "deviation"]


def test_active_sampling_of_several_models_in_one_picture() -> None:
    task = CellularAutomaton("small-world", graphs_total=10)
    played = [replay(predictor, task, ("entropy",), 3, graphs=2, draws=1) for predictor in (Mode(), StateMode())]
    (axis,) = model_pictures.asking_figure(played).axes
    assert len(axis.lines) == 4
    assert [text.get_text() for text in axis.get_legend().get_texts()] == [
        "mode, at random", "mode, entropy", "state-mode, at random", "state-mode, entropy",
    ]  # type: ignore[union-attr]  # fmt: skip


def _titles(predictions: dict[str, object]) -> Figure:
    assert list(predictions) == ["np", "ampnp"]
    return Figure()
