"""Charts: they show the figures of their tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mpnp.evaluation.shift import ShiftTable, Uncertainty
from mpnp.evaluation.tables import Scores, ScoreTable
from mpnp.plots import accuracy_figure, shift_figure


def test_accuracy_bars_are_the_figures_of_the_tables() -> None:
    row = Scores(0.8, 0.5, 0.3, 0.1, 0.8)
    row = replace(row, spread=replace(row, accuracy=0.01))
    table = ScoreTable("ca/voronoi", "generated", "mode", "test", 2, 0, {"0.1": row, "0.3": row})
    (axis,) = accuracy_figure([table, table], {"MPNP": (88.0, 95.0)}).axes
    assert [bar.get_height() for bar in axis.patches] == pytest.approx([80] * 4 + [88, 95])  # type: ignore[attr-defined]
    names = [text.get_text() for text in axis.get_legend().get_texts()]  # type: ignore[union-attr]
    assert names == ["mode", "mode", "paper: MPNP"]


def test_uncertainty_abroad_is_a_broken_line_of_the_models_colour() -> None:
    def table(model: str, task: str, epistemic: float) -> ShiftTable:
        rates = {rate: Uncertainty(0.9, 0.5, 0.4, epistemic) for rate in ("0.0", "0.1")}
        return ShiftTable(task, model, "test", 32, 0, rates)

    home = [table("a", "here", 0.1), table("b", "here", 0.2)]
    figure = shift_figure(home, [table("a", "there", 0.3)])
    assert [axis.get_title().split()[0] for axis in figure.axes] == ["total", "aleatoric", "epistemic"]
    lines = figure.axes[2].lines
    assert [list(line.get_ydata()) for line in lines] == [[0.1] * 2, [0.2] * 2, [0.3] * 2]  # type: ignore[arg-type]
    assert [line.get_linestyle() for line in lines] == ["-", "-", "--"]
    assert lines[0].get_color() == lines[2].get_color() != lines[1].get_color()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a on here", "b on here", "a on there"]
