"""Away from home: is a model less sure on graphs of another family?"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import mpnp
from mpnp import plots
from mpnp.evaluation.given import known_classes
from mpnp.evaluation.provenance import provenance
from mpnp.evaluation.shift import ShiftTable, mean_uncertainty
from mpnp.prediction import Predictor

from .kept import HERE, folder, kept, percent, predictor, table


class Journey(NamedTuple):
    home: str
    abroad: tuple[str, ...]
    models: tuple[str, ...]
    rates: tuple[float, ...]
    graphs: int
    seen: str


JOURNEYS = {
    "automata": Journey(
        "ca/small-world", ("ca/scale-free", "ca/voronoi", "ca/life-like"), ("ampnp", "mpnp-c"),
        (0, 0.01, 0.05, 0.1, 0.3, 0.6, 0.9), 60,
        "`ampnp` passes, by little, and little is right: rules are drawn alike in all families, and the small-world model predicts Voronoi "
        "graphs nearly as well as the model that is at home there. At 5 and 10 % context it is 25 and 14 % less sure of them than of small "
        "worlds, at 30 % no longer. `mpnp-c` is less sure abroad too, but more labels stop to help it from 10 % on. Life-like boards have 900 cells, "
        "the other graphs 100 to 200: at the same rate more labels are shown there.",
    ),
    "shapes": Journey(
        "shapenet/mug", ("shapenet/cap", "shapenet/bag", "shapenet/laptop", "shapenet/chair"), ("ampnp", "mpnp", "np"),
        (0, 0.001, 0.01, 0.1), 11,
        "Chairs have four parts and so up to twice the uncertainty; `np` and `mpnp`, trained on two, cannot be asked. `ampnp` passes at home "
        "against abroad: once a label is shown, its epistemic uncertainty is 1.7 to 3.4 times as high on bags as on mugs, 4 to 7 times on caps and laptops, more "
        "than 14 times on chairs. With none shown it is the same on all shapes of two parts: what is foreign it notices by the labels, not by "
        "the shape. On chairs and laptops, and on caps from 1 % on, it is also less sure than the model at home there; of bags it is surer than the model trained on them, "
        "which it should not be. `np` and `mpnp` do not pass: they are less sure of caps, but surer of bags and laptops than of mugs, while "
        "half of the laptops' points are wrong, and labels change nothing.",
    ),
}  # fmt: skip
TEXT = """## Away from home: {kind}

Mean epistemic uncertainty of the hidden nodes, nats, first {graphs} test graphs of each family. It should fall as more labels are shown,
and be higher on a family (in bold) that the model was not trained on: than at home, and than that of the model that is at home
there, where there is one, which tells a foreign family from a harder one.

![Uncertainty at home and abroad](shift-{kind}.png)

{table}

{seen}
"""


def section(kind: str) -> str:
    journey = JOURNEYS[kind]
    places = (journey.home, *journey.abroad)
    models = [(place, name) for place in places for name in journey.models]
    tables = kept(ShiftTable, f"shift-{kind}", models, lambda: _measured(journey))
    if not tables:
        return ""
    _draw(kind, tables)
    head = ["model", "trained on", "tested on", *map(percent, tables[0].rates), "accuracy"]
    rows = [_row(found, journey.home) for found in sorted(tables, key=lambda found: found.model)]
    return TEXT.format(kind=kind, graphs=journey.graphs, table=table(head, rows), seen=journey.seen)


def _measured(journey: Journey) -> Iterator[ShiftTable]:
    """Each model at home and abroad, and abroad also the model that is at home there."""
    if not any(predictor(journey.home, name) for name in journey.models):
        return
    for place in (journey.home, *journey.abroad):
        task = mpnp.get_task(place)
        for name in journey.models:
            for origin in dict.fromkeys((journey.home, place)):
                model = predictor(origin, name)
                if model is not None and _can_answer(model, task.num_classes):
                    found = mean_uncertainty(model, task, journey.rates, graphs=journey.graphs)
                    yield replace(found, trained_on=origin, made=provenance(folder(origin, name)))


def _can_answer(model: Predictor, classes: int) -> bool:
    return bool(getattr(model, "any_classes", False)) or known_classes(model) in (None, classes)


def _row(found: ShiftTable, home: str) -> list[str]:
    rows = found.rates.values()
    right = " / ".join(f"{100 * row.accuracy:.1f}" for row in rows)
    there = found.task if found.task == home else f"**{found.task}**"
    return [f"`{found.model}`", str(found.trained_on), there, *(f"{row.epistemic:.4f}" for row in rows), right]


def _draw(kind: str, tables: Sequence[ShiftTable]) -> None:
    home = JOURNEYS[kind].home
    own = [found for found in tables if found.trained_on == home]
    at_home = [found for found in own if found.task == home]
    # Uncertainty grows with the number of classes, so that only places with as many can be in one chart.
    alike = [found for found in own if found.task not in (home, "shapenet/chair")]
    plots.save(plots.shift_figure(at_home, alike), HERE / f"shift-{kind}.png")
