"""At the borders of parts: which share of a model's uncertainty lies there."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import isnan

import mpnp
from mpnp import plots
from mpnp.evaluation.borders import BorderTable, border_shares
from mpnp.evaluation.provenance import provenance

from .kept import HERE, folder, kept, percent, predictor, table

MODELS = ("np", "mpnp", "gnn", "ampnp")
SHAPES = ("mug", "bag", "cap", "table")
RATES = (0.001, 0.01, 0.1)
TEXT = """## At the borders of parts

![Four mugs: true parts, and the uncertainty of np, mpnp and ampnp](gallery.png)

The paper says that an MPNP is unsure where parts meet, an NP on whole stretches of a shape, and shows pictures. Measured over
all test shapes: which share of a model's uncertainty, and of its mistakes, lies within two steps of a border (a point with a
neighbour of another part), and, to compare with, which share of the points. All in %; labels that are shown do not count.

{table}

On mugs the order is `np`, `mpnp`, `gnn`, `ampnp`; the step from `np` to `mpnp` is in the paper's direction and small. Neither of them
changes with more labels, as they hardly use them once the category is known; `ampnp` does, on all shapes: the more labels, the more of
its doubt and of its mistakes lies where parts meet.
"""


def section() -> str:
    tables = [found for shape in SHAPES for model in MODELS for found in _measured(f"shapenet/{shape}", model)]
    if not tables:
        return ""
    _gallery()
    rates = " / ".join(percent(rate) for rate in RATES)
    head = ["shapes", "nodes there", "model", f"uncertainty there at {rates}", "its epistemic part", "mistakes there", "accuracy"]  # fmt: skip
    return TEXT.format(table=table(head, [_row(found) for found in tables]))


def _measured(task: str, model: str) -> list[BorderTable]:
    def work() -> Iterator[BorderTable]:
        found = predictor(task, model)
        if found is not None:
            yield replace(border_shares(found, mpnp.get_task(task), RATES), made=provenance(folder(task, model)))

    return kept(BorderTable, f"borders/{task.partition('/')[2]}-{model}", [(task, model)], work)


def _row(found: BorderTable) -> list[str]:
    rows = list(found.rates.values())

    def shares(values: Iterable[float]) -> str:
        return " / ".join("–" if isnan(value) else f"{100 * value:.0f}" for value in values)

    return [
        found.task.partition("/")[2],
        f"{100 * rows[0].nodes:.0f}",
        f"`{found.model}`",
        shares(row.total for row in rows),
        shares(row.epistemic for row in rows),
        shares(row.mistakes for row in rows),
        " / ".join(f"{100 * row.accuracy:.1f}" for row in rows),
    ]


def _gallery() -> None:
    found = {name: predictor("shapenet/mug", name) for name in ("np", "mpnp", "ampnp")}
    models = {name: model for name, model in found.items() if model is not None}
    if len(models) == len(found):
        drawing = mpnp.plot(models, mpnp.get_task("shapenet/mug"), [0, 1, 2, 3], rate=0.01, kind="gallery")
        picture = replace(drawing, title="Mugs, one label in a hundred shown", class_names=()).save(
            HERE / "gallery.png"
        )
        plots.shrink(picture, picture)
