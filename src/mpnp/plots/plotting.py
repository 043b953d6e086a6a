"""``mpnp.plot``: predictors on the graphs of a task, or on a person's own graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..defaults import SAMPLES
from ..errors import UserError
from ..evaluation.given import as_predictor, as_task, asked, reading_of
from ..prediction import Predictor
from ..tasks import TASKS, get_task
from ..tasks.base import Split, Task
from ..tasks.own import as_graphs
from .comparing import Drawing, compare
from .own import draw
from .panels import check_kind

GALLERY = 5  # graphs, as many as in the paper's appendix
LABELS = {"shapes": 0.01}  # shown by default, of tasks with such a metric; of others a tenth


def plot(
    predictors: Any,
    task: Any = None,
    graphs: Sequence[int] | None = None,
    *,
    rate: float | None = None,
    kind: str = "auto",
    samples: int = SAMPLES,
    seed: int = 0,
    split: Split = "test",
) -> Drawing:
    """Draw what predictors make of the same graphs with the same labels shown, side by side, a row per graph:
    ``plot(graphs)`` or ``plot(predictors, task)``.

    ``predictors``: one, a list, or a dict by name; each as it is, by name or by folder. Without any, the model that comes with
    the package. ``task``: a task, of which ``graphs`` of a split are drawn by number, by default the first (of a 'gallery' the
    first five); or graphs of your own in any container, drawn with all their labels unless ``rate`` or ``kind`` is given.
    ``rate``: the share of labels that is shown, by default a tenth, of shapes a hundredth. ``kind``: one of
    :data:`mpnp.plots.KINDS`.
    """
    check_kind(kind)
    if task is None:
        predictors, task = asked(predictors, None)
    named = _named(predictors)
    task = get_task(task) if isinstance(task, str) and task in TASKS else task
    own = not isinstance(task, Task)
    if own and rate is None and kind == "auto":
        return draw(named, as_graphs(task, **reading_of(*named.values())), graphs, samples=samples, seed=seed)
    task = as_task(task, *named.values())
    _check_features(named, task)
    if rate is None:
        rate = 1.0 if own else next((LABELS[metric] for metric in task.metrics if metric in LABELS), 0.1)
    if graphs is None:
        graphs = range(min(GALLERY, len(task.graphs(split)))) if kind == "gallery" else [0]
    rows = compare(named, task, graphs, rate=rate, kind=kind, samples=samples, seed=seed, split=split)
    which = f"{split} graph{'s' if len(graphs) > 1 else ''} {', '.join(str(graph) for graph in graphs)}"
    # Numbers for names need no legend, and where labels are arbitrary names mean nothing.
    names = [] if task.arbitrary or all(name.isdigit() for name in task.class_names) else task.class_names
    return Drawing(rows, f"{task.name}, {which}, {100 * rate:g} % of the labels shown", names, which)


def _named(predictors: Any) -> dict[str, Predictor]:
    """By the names they get in the picture: their own, numbered where several share one."""
    if isinstance(predictors, Mapping):
        return {name: as_predictor(one) for name, one in predictors.items()}
    listed = [as_predictor(one) for one in (predictors if isinstance(predictors, list | tuple) else [predictors])]
    shared, seen = Counter(one.name for one in listed), Counter[str]()
    names = {}
    for one in listed:
        seen[one.name] += 1
        names[one.name if shared[one.name] == 1 else f"{one.name} {seen[one.name]}"] = one
    return names


def _check_features(predictors: Mapping[str, Predictor], task: Task) -> None:
    """Before the graphs are loaded, and with names: a model would only say that the graph does not fit."""
    for name, predictor in predictors.items():
        known = getattr(getattr(predictor, "config", None), "num_features", 0)  # 0: it reads any
        if known and known != task.num_features:
            raise UserError(
                f"'{name}' was trained on graphs with {known} features per node, {task.name} has "
                f"{task.num_features}; compare models that read the same features."
            )
