"""Pictures: drawn from what is there, kept when their models are gone."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from mpnp.models import configs, pretrained
from mpnp.reproduce import compare, figures
from mpnp.tasks import get_task
from mpnp.tasks.cellular_automata import CellularAutomaton

from .made_up import record

RATES = {"0.001": 0.5, "0.01": 0.6, "0.05": 0.7, "0.1": 0.8, "0.3": 0.9}


def test_a_panel_per_category_with_ours_and_the_papers(tmp_path: Path) -> None:
    records = [record(f"shapenet/{name}", row, RATES) for name in ("bag", "cap") for row in ("ampnp", "gnn")]
    found = next(s for s in compare.sections(records) if s.name == "shapenet")
    measured = [c for c in found.comparisons if c.ours]
    figure = figures.miou_figure(measured)
    assert [axis.get_title() for axis in figure.axes] == ["bag", "cap"]
    for axis in figure.axes:
        assert axis.get_xscale() == "log" and len(axis.lines) == 2 + 4
        band = axis.collections[0].get_paths()[0].vertices
        assert np.isclose(band[:, 1].min(), 50 - 1.96 * 0.2) and np.isclose(band[:, 1].max(), 90 + 1.96 * 0.2)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["ampnp", "gnn", "paper: MPNP", "paper: NP", "paper: GCN", "paper: labelprop"]
    (picture,) = figures.charts(tmp_path, [found])
    assert picture.section == "shapenet" and picture.path.exists() and picture.path.with_suffix(".svg").exists()


def test_bars_of_an_automaton() -> None:
    values = {"0.1": 0.7, "0.3": 0.8, "1.0": 0.9}
    rows = ("ampnp", "mode", "rule-table", "rule-posterior")
    found = compare.sections([record("ca/voronoi", row, values) for row in rows])
    voronoi = next(c for s in found for c in s.comparisons if c.task == "ca/voronoi")
    figure = figures.automaton_figure(voronoi)
    assert figure is not None
    (axis,) = figure.axes
    legend = axis.get_legend()
    assert legend is not None
    assert [t.get_text() for t in legend.get_texts()] == [
        "ampnp", "rule-posterior (limit)", "paper: MPNP", "paper: NP"
    ]  # fmt: skip
    assert [round(bar.get_height(), 2) for bar in axis.patches[:3]] == [70.0, 80.0, 90.0]  # type: ignore[attr-defined]


def test_a_run_that_was_not_scored_at_every_rate_has_no_bars() -> None:
    found = compare.sections([record("ca/voronoi", "ampnp", {"0.1": 0.7})])
    voronoi = next(c for s in found for c in s.comparisons if c.task == "ca/voronoi")
    assert figures.automaton_figure(voronoi) is None


@pytest.fixture
def few_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "get_task", lambda name: CellularAutomaton(name.partition("/")[2], graphs_total=20))


@pytest.mark.usefixtures("few_graphs")
def test_pictures_of_models_are_drawn_once_and_kept(tmp_path: Path) -> None:
    assert figures.with_models(tmp_path) == []
    task = get_task("ca/spherical-voronoi")
    place = tmp_path / "runs" / "ca-spherical-voronoi-ampnp-seed0"
    place.mkdir(parents=True)
    model = configs.build(configs.config("ampnp", task))
    pretrained.save(model, place, {"finished": False})
    assert figures.with_models(tmp_path) == []  # its training was interrupted
    pretrained.save(model, place, {"finished": True})
    (picture,) = figures.with_models(tmp_path)
    assert (picture.name, picture.section) == ("sphere", "cellular-automata")
    assert picture.path.read_bytes().startswith(b"\x89PNG")

    picture.path.write_bytes(b"as it was")
    later = (place / "metrics.json").stat().st_mtime + 10
    os.utime(picture.path, (later, later))
    assert figures.with_models(tmp_path) == [picture] and picture.path.read_bytes() == b"as it was"
    os.utime(place / "metrics.json", (later + 10, later + 10))  # trained again
    figures.with_models(tmp_path)
    assert picture.path.read_bytes().startswith(b"\x89PNG")
    shutil.rmtree(place)
    assert figures.with_models(tmp_path) == [picture]


def test_a_shape_and_active_sampling_of_the_category_with_the_most_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Few(CellularAutomaton):
        """An automaton under the name of a category."""

        name = "shapenet/cap"  # type: ignore[assignment]

    task = Few("voronoi", graphs_total=20)
    monkeypatch.setattr(figures, "get_task", lambda name: task)
    monkeypatch.setattr(figures.plots, "cloud_figure", lambda episode, predictions, title: _titles(predictions))
    drawn = []
    monkeypatch.setattr(figures.plots, "curves_figure", lambda played: drawn.append(played) or Figure())
    for category, rows in {"cap": ("ampnp", "np"), "bag": ("ampnp",), "mug": ("np", "mpnp")}.items():
        for row in rows:
            model = configs.build(configs.config(row, task))
            pretrained.save(model, tmp_path / "runs" / f"shapenet-{category}-{row}-seed0", {"finished": True})
    pictures = figures.with_models(tmp_path)
    assert [picture.name for picture in pictures] == ["cloud", "active"]
    assert all(picture.section == "shapenet" and picture.path.exists() for picture in pictures)
    (played,) = drawn
    assert played.task == "shapenet/cap" and played.model == "ampnp"
    assert list(played.curves) == ["random", "deviation", "entropy", "spread"]


def _titles(predictions: dict[str, object]) -> Figure:
    assert list(predictions) == ["np", "ampnp"]
    return Figure()
