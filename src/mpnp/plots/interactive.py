"""Pictures as one HTML page that needs nothing else: move, turn and zoom them, point at a node to read about it."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ..episode import Episode
from ..files import replacing
from ..prediction import Prediction
from .graphs import DensityCanvas
from .panels import Panel, Row, figure_of
from .style import CLASS_COLOURS, UNCERTAIN, UNKNOWN, plain

STEPS = 64  # of the scale of uncertainty
MOST_TOLD = 6  # classes whose probability a page tells
# What the page paints with: no class, the classes, the scale.
PALETTE = (UNKNOWN, *CLASS_COLOURS, *(to_hex(c) for c in matplotlib.colormaps[UNCERTAIN](np.linspace(0, 1, STEPS))))


def save_page(rows: Sequence[Row], path: Path, title: str = "", class_names: Sequence[str] = ()) -> Path:
    """Write rows of panels as a page, never half of it. ``class_names``: what classes are called, else their numbers."""
    templates = Environment(loader=PackageLoader(__package__), autoescape=True, undefined=StrictUndefined)
    if any(isinstance(row.canvas, DensityCanvas) for row in rows):
        return _density(templates, figure_of(rows, title, class_names), path, title)
    scene = {
        "palette": PALETTE,
        "classes": list(class_names),
        "scale": {"first": 1 + len(CLASS_COLOURS), "steps": STEPS},
        "rows": [_row(row) for row in rows],
    }
    page = templates.get_template("viewer.html").render(title=title or "mpnp", scene=scene)
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return path


def _density(templates: Environment, figure: Figure, path: Path, title: str) -> Path:
    """Of very many nodes the picture alone: there are none to point at."""
    content = io.BytesIO()
    plain(figure).savefig(content, format="png", dpi=160, bbox_inches="tight")
    about = (
        "Every cell shows the commonest class of the nodes in it, pale where they are few, or their mean uncertainty."
    )
    picture = base64.b64encode(content.getvalue()).decode()
    page = templates.get_template("density.html").render(title=title or "mpnp", about=about, picture=picture)
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return path


def _row(row: Row) -> dict[str, Any]:
    points = row.canvas.points - (row.canvas.points.max(0) + row.canvas.points.min(0)) / 2
    return {
        "points": _short(points / max(np.linalg.norm(points, axis=1).max(), 1e-9), 4),
        "edges": row.canvas.edges.tolist(),
        "view": row.canvas.view,
        "names": None if row.names is None else list(row.names),
        "given": row.given,
        "truth": row.episode.y.tolist(),
        "shown": row.episode.context.int().tolist(),
        "panels": [_panel(panel, row.episode) for panel in row.panels],
    }


def _panel(panel: Panel, episode: Episode) -> dict[str, Any]:
    """``paint``: places in the palette; ``size``: 0 to 1; ``said``: what the hover text tells of a prediction."""
    if panel.classes is not None:
        paint = np.where(panel.classes < 0, 0, 1 + panel.classes % len(CLASS_COLOURS))
        strong = panel.strong if panel.strong is not None and (panel.classes < 0).any() else np.zeros(len(paint), bool)
        size = 0.3 * strong
    else:
        paint = 1 + len(CLASS_COLOURS) + (panel.share * (STEPS - 1)).round().astype(int)
        size = panel.share
    content: dict[str, Any] = {
        "title": panel.title,
        "paint": paint.tolist(),
        "size": _short(size, 2),
        "ringed": [] if panel.ringed is None else np.flatnonzero(panel.ringed).tolist(),
        "top": None if panel.amount is None else round(panel.top, 2),
    }
    said = panel.prediction
    if said is not None:
        content["said"] = {
            "label": said.label.tolist(),
            "top": _likeliest(said),
            "probability": _short(said.probabilities.max(1).values.numpy(), 3),
            "total": _short(said.total.numpy(), 3),
            "aleatoric": _short(said.aleatoric.numpy(), 3),
            "epistemic": _short(said.epistemic.numpy(), 3),
        }
    return content


def _likeliest(said: Prediction) -> list[list[tuple[int, int]]]:
    """Of every node the likeliest classes and their probabilities in thousandths, those of nothing left out."""
    top = said.probabilities.topk(min(MOST_TOLD, said.probabilities.size(1)), dim=1)
    shares = (1000 * top.values).round().long().tolist()
    return [
        [(label, share) for label, share in zip(*both, strict=True) if share > 0]
        for both in zip(top.indices.tolist(), shares, strict=True)
    ]


def _short(values: NDArray[Any], digits: int) -> list[Any]:
    """As numbers of few digits: half the size of the page."""
    return np.round(values.astype(np.float64), digits).tolist()
