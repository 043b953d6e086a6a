"""Pages: one file, nothing from outside, everything that is told about a node in it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mpnp.episode import Episode
from mpnp.plots import CLASS_COLOURS, Row, canvas_of, save_page
from mpnp.plots.panels import panels_of

from .drawn import board, cloud, lines, sphere, sure


def page(episode: Episode, tmp_path: Path, **more: Any) -> tuple[str, dict[str, Any]]:
    """The page of an episode, and the scene in it."""
    row = Row(canvas_of(episode), panels_of(episode, {"it": sure(episode, wrong=(6,))}, "auto"), episode)
    text = save_page([row], tmp_path / "page.html", **more).read_text(encoding="utf-8")
    found = re.search(r"^const scene = (.*);$", text, re.MULTILINE)
    assert found
    return text, json.loads(found[1])


def flat() -> Episode:
    return Episode.from_graphs([lines(8)], num_classes=2)


@pytest.mark.parametrize("episode", [cloud(), sphere(), board(), flat()], ids=["cloud", "sphere", "board", "graph"])
def test_nothing_comes_from_outside_and_everything_fits_in(tmp_path: Path, episode: Episode) -> None:
    text, scene = page(episode, tmp_path)
    assert not re.search(r"https?://|src=|href=|import |fetch\(", text)
    (row,) = scene["rows"]
    assert len(row["points"]) == episode.num_nodes
    assert all(sum(c * c for c in point) <= 1.001 for point in row["points"])
    assert row["truth"] == episode.y.tolist() and row["shown"] == episode.context.int().tolist()
    for panel in row["panels"]:
        assert len(panel["paint"]) == len(panel["size"]) == episode.num_nodes
        assert min(panel["paint"]) >= 0 and max(panel["paint"]) < len(scene["palette"])


def test_what_a_page_tells_of_a_node(tmp_path: Path) -> None:
    _, scene = page(cloud(), tmp_path)
    shown, true, predicted, doubt = scene["rows"][0]["panels"]
    assert "said" not in shown and "said" not in true
    assert predicted["said"]["label"][5:8] == [0, 1, 0] and predicted["said"]["probability"][6] == 1
    assert set(doubt["said"]) == {"label", "top", "probability", "total", "aleatoric", "epistemic"}
    assert predicted["ringed"] == [6]
    assert predicted["said"]["top"][6] == [[1, 1000]]
    assert [scene["palette"][paint] for paint in true["paint"][14:16]] == list(CLASS_COLOURS[:2])
    assert [scene["palette"][paint] for paint in shown["paint"][2:4]] == [CLASS_COLOURS[0], "#D9D9D9"]
    assert doubt["top"] == 0.69 and predicted["top"] is None


def test_edges_are_drawn_in_graphs_and_not_in_clouds(tmp_path: Path) -> None:
    assert page(flat(), tmp_path)[1]["rows"][0]["edges"] == [[i, i + 1] for i in range(7)]
    assert page(cloud(), tmp_path)[1]["rows"][0]["edges"] == []


def test_names_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    text, scene = page(flat(), tmp_path, title=evil, class_names=[evil, "b"])
    assert text.count("<script>") == 1 and scene["classes"] == [evil, "b"]


def test_very_many_nodes_are_one_picture_in_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mpnp.plots.graphs.MANY", 5)
    row = Row(canvas_of(flat()), panels_of(flat(), {"it": sure(flat())}, "auto"), flat())
    text = save_page([row], tmp_path / "page.html", "<i>").read_text(encoding="utf-8")
    assert 'src="data:image/png;base64,iVBOR' in text and "<i>" not in text and "const scene" not in text
