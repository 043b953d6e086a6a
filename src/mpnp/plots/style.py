"""What all pictures share: colours that colour-blind readers and grey print can tell apart, and files without halves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image  # comes with matplotlib

from ..errors import UserError
from ..files import replacing

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

# Okabe-Ito, from dark to light, so that two classes also differ in grey print.
CLASS_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#000000")
UNKNOWN = "#D9D9D9"
PAPER_GREYS = ("#666666", "#999999", "#C4C4C4")
PICTURES = (".png", ".svg", ".pdf")
UNCERTAIN = "viridis"  # dark: sure, yellow: unsure


def save(figure: Figure, path: Path) -> Path:
    """Write a figure (PNG, SVG or PDF by the ending), never half of it."""
    with replacing(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:], dpi=110, bbox_inches="tight")
    return path


def check_ending(path: Path, endings: Sequence[str] = PICTURES) -> None:
    if path.suffix not in endings:
        raise UserError(
            f"A picture cannot be written as '{path.name}'; give a name that ends in {', '.join(endings[:-1])} or {endings[-1]}."
        )


def shrink(source: Path, target: Path) -> Path:
    """A PNG in 128 colours, a third of the size: for pictures that lie in a repository."""
    with Image.open(source) as image:
        few = image.convert("RGB").quantize(128)
    with replacing(target) as temporary:
        few.save(temporary, format="PNG", optimize=True)
    return target


def class_colour(label: int) -> str:
    """The colour of a class; grey for -1, a label that is not known or not shown."""
    return CLASS_COLOURS[label % len(CLASS_COLOURS)] if label >= 0 else UNKNOWN


def class_colours(labels: Ints) -> Array:
    """The colours of labels [n] as red, green, blue and opacity, [n, 4]."""
    return np.array([to_rgba(class_colour(label)) for label in labels.tolist()]).reshape(-1, 4)
