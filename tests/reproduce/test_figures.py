"""Pictures: drawn from what is there, kept when their models are gone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.colors import to_hex

from mpnp.plots import MODEL_COLOURS
from mpnp.reproduce import compare, figures

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
        assert {line.get_color() for line in axis.lines} > {MODEL_COLOURS["ampnp"], MODEL_COLOURS["gnn"]}
        assert np.isclose(band[:, 1].min(), 49 - 1.96 * 0.2) and np.isclose(band[:, 1].max(), 89 + 1.96 * 0.2)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["ampnp", "gnn", "paper: MPNP", "paper: NP", "paper: GCN", "paper: labelprop"]
    front, picture = figures.charts(tmp_path, [found])
    assert front.section == figures.FRONT and front.path.exists() and "Figure 1" in front.shown
    assert "Figure 2" in picture.shown
    assert picture.section == "shapenet" and picture.path.exists() and picture.path.with_suffix(".svg").exists()


def test_bars_of_an_automaton() -> None:
    values = {"0.1": 0.7, "0.3": 0.8, "1.0": 0.9}
    rows = ("ampnp", "mpnp-paper", "mode", "rule-table", "rule-posterior")
    found = compare.sections([record("ca/voronoi", row, values) for row in rows])
    voronoi = next(c for s in found for c in s.comparisons if c.task == "ca/voronoi")
    figure = figures.automaton_figure(voronoi)
    assert figure is not None
    (axis,) = figure.axes
    legend = axis.get_legend()
    assert legend is not None
    assert [t.get_text() for t in legend.get_texts()] == [
        "ampnp", "mpnp-paper", "mode", "rule-posterior (limit)", "paper: MPNP", "paper: NP"
    ]  # fmt: skip
    assert to_hex(axis.patches[0].get_facecolor()).upper() == MODEL_COLOURS["ampnp"]
    assert [round(bar.get_height(), 2) for bar in axis.patches[:3]] == [70.0, 80.0, 90.0]  # type: ignore[attr-defined]


def test_a_run_that_was_not_scored_at_every_rate_has_no_bars() -> None:
    found = compare.sections([record("ca/voronoi", "ampnp", {"0.1": 0.7})])
    voronoi = next(c for s in found for c in s.comparisons if c.task == "ca/voronoi")
    assert figures.automaton_figure(voronoi) is None
