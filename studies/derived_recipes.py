"""What the default costs that is derived from a task's properties, against what the published figures are made with.

    MPNP_DATA=… python -m studies.derived_recipes [TASK …]     hours on one core; resumes, and measures nothing twice

Measured on validation graphs, as training itself does it: negative log-likelihood and accuracy of the nodes without a shown
label, over the context rates that the task reports, after the best epoch. The same runs are scored on the test graphs, for the
rows ``ampnp`` and ``ampnp-default`` of the report.
"""

import csv
import json
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch

from mpnp.defaults import DRAWS
from mpnp.errors import UserError
from mpnp.evaluation.provenance import provenance
from mpnp.files import write_json
from mpnp.models import configs
from mpnp.models.base import ModelConfig
from mpnp.reproduce import grid, plan, records
from mpnp.tasks import get_task
from mpnp.training import recipes
from mpnp.training.fit import quiet
from mpnp.training.recipe import Recipe

HERE = Path(__file__).parents[1] / "results" / "recipes"
SIDES = ("derived", "published")


ROWS = {"derived": "ampnp-default", "published": "ampnp"}
SEEDS = 3
WORK = Path(__file__).parents[1] / "runs" / "recipes"  # trained models, kept until all is measured
RESULTS = HERE.parent
WORDS = """Every shape but tables, which await a run of the newest `ampnp`, is trained as the default has it: what guitars and
lamps had needed beyond it turned out to be a property, many shapes, and is derived now (docs/experiments.md). Protein
interfaces lose a little likelihood and no accuracy by one layer less. Few-shot Cora is where the default costs more
than noise, three points of accuracy with two ways and likelihood with eleven: tasks of three or five classes teach
more than those that are asked, and no property of a task can say so. Its runs are of `ampnp` before it regressed
labels on representations; results/cora has the test figures since."""


def settings(task: str, model: str, side: str) -> tuple[Recipe, ModelConfig]:
    if side == "published":
        return plan.Job(task, model).settings()
    configuration = configs.config(model, get_task(task))
    return recipes.recipe("default", configuration, get_task(task)), configuration


def differences() -> Iterator[tuple[str, str, dict[str, tuple[Any, Any]]]]:
    """Of every run of the tables: task, model, and the fields that are others (derived, published)."""
    for task, model in dict.fromkeys((job.task, job.model) for job in plan.jobs() if job.trains):
        sides = [settings(task, model, side) for side in SIDES]
        derived, published = ({**asdict(recipe), **asdict(configuration)} for recipe, configuration in sides)
        yield task, model, {k: (derived[k], published[k]) for k in derived if derived[k] != published[k]}


def compared() -> list[str]:
    """Every task on which the two differ for ampnp."""
    return [task for task, model, fields in differences() if model == "ampnp" and fields]


def measure(task: str, side: str, seed: int) -> dict[str, Any]:
    """Train, or go on training, and score; what no result has yet becomes one."""
    draws = 1 if task in plan.LARGE else DRAWS
    job = plan.Job(task, ROWS[side], seed, draws=draws)
    outcome = grid.work(job, WORK, 1)
    if outcome.error:
        raise UserError(f"{job.name}: {outcome.error}")
    if not records.is_done(RESULTS, job):
        (RESULTS / task).mkdir(parents=True, exist_ok=True)
        shutil.copy(records.path_of(WORK, job), records.path_of(RESULTS, job))
    folder = WORK / "runs" / job.name
    with (folder / "log" / "metrics.csv").open() as file:
        epochs = [row for row in csv.DictReader(file) if row["val_nll"]]
    best = min(epochs, key=lambda row: float(row["val_nll"]))
    told = {"task": task, "side": side, "seed": seed, "epochs": len(epochs)}
    scores = {name: float(best[name]) for name in ("val_nll", "val_accuracy")}
    return {**told, **scores, "made": provenance(folder)}


def measured(tasks: Sequence[str]) -> list[dict[str, Any]]:
    path = HERE / "runs.json"
    runs: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
    done = {(run["task"], run["side"], run["seed"]) for run in runs}
    for task in tasks:
        for seed in range(SEEDS):
            for side in SIDES:
                if (task, side, seed) not in done and get_task(task).missing() is None:
                    runs.append(measure(task, side, seed))
                    write_json(path, runs)
    return runs


def page(runs: list[dict[str, Any]]) -> str:
    found: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        found[run["task"]][run["side"]].append(run)
    missing = [task for task in compared() if any(len(found[task][side]) < SEEDS for side in SIDES)]
    every = list(differences())
    other = [(task, model, fields) for task, model, fields in every if fields]
    lines = [
        "# What the derived default costs",
        "",
        "Written by `python -m studies.derived_recipes`. The default recipe and architecture follow from what a task is",
        "(`training/recipes.py`, `models/configs.py`); what published figures need beyond it is in `reproduce/recipes.yaml`.",
        "",
        f"Of the {len(every)} pairs of task and trained model in the tables, the derived default is the published recipe, field by",
        f"field, for {len(every) - len(other)}: there it costs nothing. The other {len(other)}:",
        "",
        "| task | model | field | derived | published |",
        "|---|---|---|---|---|",
        *(
            f"| {task} | `{model}` | {name} | {derived} | {published} |"
            for task, model, fields in other
            for name, (derived, published) in fields.items()
        ),
        "",
        "`ampnp` on validation graphs, after the best epoch: mean and, where there are several, standard deviation over seeds.",
        "Machine, date and minutes of every run are in [runs.json](runs.json).",
        "",
        "| task | seeds | epochs | NLL, derived | NLL, published | accuracy in %, derived | accuracy in %, published |",
        "|---|---|---|---|---|---|---|",
        *(_row(task, sides) for task, sides in found.items() if all(sides[side] for side in SIDES)),
        "",
        *([f"Not all of these seeds were run yet: {', '.join(missing)}.", ""] if missing else []),
        WORDS,
        "",
    ]
    return "\n".join(lines)


def _row(task: str, sides: dict[str, list[dict[str, Any]]]) -> str:
    seeds = min(len(sides[side]) for side in SIDES)
    sides = {side: sides[side][:seeds] for side in SIDES}  # the same seeds on both
    epochs = " and ".join(str(sides[side][0]["epochs"]) for side in SIDES)
    cells = [_spread([run["val_nll"] for run in sides[side]], 1, 3) for side in SIDES]
    cells += [_spread([run["val_accuracy"] for run in sides[side]], 100, 1) for side in SIDES]
    return f"| {task} | {seeds} | {epochs} | {' | '.join(cells)} |"


def _spread(values: list[float], factor: float, digits: int) -> str:
    middle = f"{factor * mean(values):.{digits}f}"
    return f"{middle} ± {factor * stdev(values):.{digits}f}" if len(values) > 1 else middle


def main() -> None:
    torch.set_num_threads(1)
    quiet()
    text = page(measured(sys.argv[1:] or compared()))
    (HERE / "README.md").write_text(text)


if __name__ == "__main__":
    main()
