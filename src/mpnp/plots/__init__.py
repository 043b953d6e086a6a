"""Pictures of episodes, predictions and tables: colour-blind safe, readable in print."""

from .active import asked_figure, curves_figure
from .automata import board_figure, sphere_figure
from .calibration import honesty_figure, reliability_figure
from .clouds import cloud_figure
from .comparing import Drawing, canvas_of, compare
from .curves import accuracy_figure, bars_figure, shift_figure
from .graphs import episode_figure, layout
from .interactive import save_page
from .own import draw
from .panels import KINDS, Canvas, Panel, Row, figure_of
from .plotting import plot
from .samples import latent_figure, samples_figure
from .style import (
    CLASS_COLOURS,
    MODEL_COLOURS,
    PAPER_GREYS,
    UNCERTAIN,
    UNKNOWN,
    check_ending,
    class_colours,
    model_colours,
    save,
    shrink,
)

__all__ = [
    "CLASS_COLOURS",
    "KINDS",
    "MODEL_COLOURS",
    "PAPER_GREYS",
    "UNCERTAIN",
    "UNKNOWN",
    "Canvas",
    "Drawing",
    "Panel",
    "Row",
    "accuracy_figure",
    "asked_figure",
    "bars_figure",
    "board_figure",
    "canvas_of",
    "check_ending",
    "class_colours",
    "cloud_figure",
    "compare",
    "curves_figure",
    "draw",
    "episode_figure",
    "figure_of",
    "honesty_figure",
    "latent_figure",
    "layout",
    "model_colours",
    "plot",
    "reliability_figure",
    "samples_figure",
    "save",
    "save_page",
    "shift_figure",
    "shrink",
    "sphere_figure",
]
