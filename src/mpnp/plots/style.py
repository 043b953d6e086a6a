"""What all pictures share: colours that colour-blind readers and grey print can tell apart, and files without halves."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from itertools import cycle
from pathlib import Path

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import NDArray
from PIL import Image  # comes with matplotlib

from ..errors import UserError
from ..files import replacing
from ..progress import stage

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

# Okabe-Ito without black, then the same hues of another lightness: told apart by colour-blind readers, on dark and light. A
# class has the same colour in every picture and in the studio.
CLASS_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442",
                 "#7B5EA7", "#8C6D1F", "#5FD3B3", "#9E3D6E", "#F2A98A", "#1F4E79", "#B8B200")  # fmt: skip
# So has a model in every picture that compares some.
MODEL_COLOURS = {"universal": "#D55E00", "ampnp": "#0072B2", "anp": "#56B4E9", "mpnp-c": "#E69F00", "mpnp": "#8C6D1F",
                 "r-mpnp": "#F2A98A", "np-c": "#CC79A7", "np": "#9E3D6E", "gnn": "#009E73", "r-gcn": "#5FD3B3",
                 "unimp": "#B8B200", "label-propagation": "#7B5EA7"}  # fmt: skip
UNKNOWN = "#D9D9D9"
PAPER_GREYS = ("#666666", "#999999", "#C4C4C4")
PICTURES = (".png", ".svg", ".pdf")
UNCERTAIN = "viridis"  # dark: sure, yellow: unsure


def save(figure: Figure, path: Path) -> Path:
    """Write a figure (PNG, SVG or PDF by the ending), never half of it."""
    with stage(f"drawing {path}"), replacing(path) as temporary, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # a box stands for it
        plain(figure).savefig(temporary, format=path.suffix[1:], dpi=110, bbox_inches="tight")
    return path


def plain(figure: Figure) -> Figure:
    """No name is taken for a formula: '$' is a letter like others, but in the numbers along axes."""
    numbers = {id(text) for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for text in axis.findobj(Text)}
    for text in figure.findobj(Text):
        if id(text) not in numbers:
            text.set_parse_math(False)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            axis.label.set_parse_math(False)
    return figure


def legend_name(name: str, most: int = 40) -> str:
    """A name as a legend can show it: not too long, and not hidden, as those that begin with '_' would be."""
    short = name if len(name) <= most else name[: most - 1] + "…"
    return f"\u200b{short}" if short.startswith("_") else short


def check_ending(path: Path, endings: Sequence[str] = PICTURES) -> None:
    if path.suffix not in endings:
        raise UserError(
            f"A picture cannot be written as '{path.name}'; give a name that ends in {', '.join(endings[:-1])} or {endings[-1]}."
        )


def shrink(source: Path, target: Path) -> Path:
    """A PNG in 256 colours, a fifth of the size, rare ones among them: for pictures that lie in a repository."""
    with Image.open(source) as image:
        few = image.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE)
    with replacing(target) as temporary:
        few.save(temporary, format="PNG", optimize=True)
    return target


def class_colour(label: int) -> str:
    """The colour of a class; grey for -1, a label that is not known or not shown."""
    return CLASS_COLOURS[label % len(CLASS_COLOURS)] if label >= 0 else UNKNOWN


def model_colours(names: Iterable[str]) -> dict[str, str]:
    """The colours of models in one picture: those of the package always have their own, others what is left, in order."""
    named = list(dict.fromkeys(names))
    taken = {MODEL_COLOURS[name] for name in named if name in MODEL_COLOURS}
    free = cycle([colour for colour in CLASS_COLOURS if colour not in taken] or CLASS_COLOURS)
    return {name: MODEL_COLOURS.get(name) or next(free) for name in named}


def class_colours(labels: Ints) -> Array:
    """The colours of labels [n] as red, green, blue and opacity, [n, 4]."""
    table = np.array([to_rgba(UNKNOWN), *(to_rgba(colour) for colour in CLASS_COLOURS)])
    return table[np.where(labels < 0, 0, 1 + labels % len(CLASS_COLOURS))].reshape(-1, 4)
