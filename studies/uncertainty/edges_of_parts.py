"""At the borders of parts: which share of a model's uncertainty lies there."""

import mpnp
from mpnp import plots
from mpnp.evaluation.borders import border_shares
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
    tables = [found for shape in SHAPES for model in MODELS if (found := _measured(f"shapenet/{shape}", model))]
    if not tables:
        return ""
    _gallery()
    rates = " / ".join(percent(rate) for rate in RATES)
    head = ["shapes", "nodes there", "model", f"uncertainty there at {rates}", "its epistemic part", "mistakes there", "accuracy"]  # fmt: skip
    return TEXT.format(table=table(head, [_row(found) for found in tables]))


def _measured(task: str, model: str) -> dict | None:
    def work() -> dict | None:
        found = predictor(task, model)
        if found is None:
            return None
        return border_shares(found, mpnp.get_task(task), RATES) | {"made": provenance(folder(task, model))}

    return kept(f"borders/{task.partition('/')[2]}-{model}", [(task, model)], work)


def _row(found: dict) -> list[str]:
    rows = found["rates"].values()

    def shares(key: str) -> str:
        return " / ".join("–" if row[key] is None else f"{100 * row[key]:.0f}" for row in rows)

    right = " / ".join(f"{100 * row['accuracy']:.1f}" for row in rows)
    nodes = f"{100 * next(iter(rows))['nodes']:.0f}"
    return [found["task"].partition("/")[2], nodes, f"`{found['model']}`", shares("total"), shares("epistemic"), shares("mistakes"), right]  # fmt: skip


def _gallery() -> None:
    models = {name: predictor("shapenet/mug", name) for name in ("np", "mpnp", "ampnp")}
    if all(models.values()):
        rows = plots.compare(models, mpnp.get_task("shapenet/mug"), [0, 1, 2, 3], rate=0.01, kind="gallery")
        picture = plots.save_rows(rows, HERE / "gallery.png", "Mugs, one label in a hundred shown")
        plots.shrink(picture, picture)
