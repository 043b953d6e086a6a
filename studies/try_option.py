"""Does an option help: folds of a task's training and validation graphs, its test graphs left alone.

    MPNP_DATA=… python -m studies.try_option tud/enzymes --set logs=false        a minute a fold; what is measured is not measured again
    MPNP_DATA=… python -m studies.try_option shapenet/bag --folds 3              three of the five folds

``ampnp`` by its default recipe with the options given, trained on four fifths of these graphs, a tenth of them for validation, and
scored on the fifth left out; five times. A few validation graphs alone would say little. Writes results/options.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from copy import copy
from pathlib import Path
from statistics import mean
from typing import Any

import torch
import yaml
from filelock import FileLock

from mpnp.evaluation.evaluate import evaluate
from mpnp.evaluation.provenance import provenance
from mpnp.files import replacing, write_json
from mpnp.graphs import GraphSet
from mpnp.tasks import get_task
from mpnp.tasks.base import Split, Task
from mpnp.training.fit import fit, quiet

OUT = Path(__file__).parents[1] / "results" / "options"
WORK = Path(__file__).parents[1] / "runs" / "options"
FOLDS, DRAWS = 5, 2
VALIDATION = 10  # one in so many of the graphs that are learned from
METRICS = {"accuracy": ("accuracy, %", 100, ".2f"), "miou": ("mIoU, %", 100, ".2f"), "nll": ("NLL", 1, ".3f")}

Run = dict[str, Any]


def fold_of(task: Task, fold: int) -> Task:
    """The same task with other splits: fold number ``fold`` of its training and validation graphs to be tested on."""
    store = joined(task, ("train", "val"))
    order = torch.randperm(len(store), generator=torch.Generator().manual_seed(1))
    size = len(store) // FOLDS
    held = torch.zeros(len(store), dtype=torch.bool)
    held[fold * size : (fold + 1) * size] = True
    test, learned = order[held], order[~held]
    val = len(learned) // VALIDATION
    other = copy(task)
    other.splits = {
        "train": store.subset(learned[val:]),
        "val": store.subset(learned[:val]),
        "test": store.subset(test),
    }
    return other


def joined(task: Task, splits: Sequence[Split]) -> GraphSet:
    """The graphs of several splits in one store."""
    stores = [task.graphs(split) for split in splits]
    return GraphSet.from_data_list([store.select(torch.tensor([i])) for store in stores for i in range(len(store))])


def measure(task: Task, fold: int, options: dict[str, Any]) -> Run:
    """Train and score on one fold; what was left unfinished goes on."""
    words = [f"{name}={value}" for name, value in sorted(options.items())] or ["default"]
    folder = WORK / "-".join([task.name.replace("/", "-"), *words, f"fold{fold}"])
    part = fold_of(task, fold)
    model = fit(part, "ampnp", out=folder, threads=1, resume=True, progress=False, options=options).model
    table = evaluate(model, part, draws=DRAWS)
    made = provenance(folder)
    shutil.rmtree(folder)
    rates = {
        str(rate): {name: value for name in METRICS if (value := getattr(scores, name)) is not None}
        for rate, scores in table
    }
    return {"task": task.name, "options": options, "fold": fold, "rates": rates, "made": made}


def page(runs: Sequence[Run]) -> str:
    """A row per task and options, the mean over folds; only folds that all rows of the task have."""
    lines = [
        "# Options, compared on folds of the training graphs",
        "",
        "Written by `python -m studies.try_option TASK --set OPTION=VALUE`: `ampnp`, seed 0, unlabelled nodes, two draws of the context, the",
        "mean over folds of the task's training and validation graphs. No test graph is used. Every fold is in runs.json, with machine,",
        "date and minutes.",
        "",
        f"| task | options | folds | at | {' | '.join(heading for heading, _, _ in METRICS.values())} |",
        "|---|---|---|---|---|---|---|",
    ]
    rows: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        words = ", ".join(f"{name} = {str(value).lower()}" for name, value in run["options"].items())
        rows.setdefault((run["task"], words or "the default"), []).append(run)
    for (task, words), some in sorted(rows.items()):
        others = [{run["fold"] for run in there} for (name, _), there in rows.items() if name == task]
        common = set.intersection(*others)
        some = [run for run in some if run["fold"] in common]
        if some:
            rates = list(some[0]["rates"])
            cells = [
                " / ".join(f"{factor * mean(run['rates'][rate][key] for run in some):{form}}" for rate in rates)
                if key in some[0]["rates"][rates[0]]
                else "–"
                for key, (_, factor, form) in METRICS.items()
            ]
            at = " / ".join(f"{100 * float(rate):g}" for rate in rates)
            lines.append(f"| {task} | {words} | {len(some)} | {at} % | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None, out: Path = OUT) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task")
    parser.add_argument("--folds", type=int, default=FOLDS, metavar="N", help="so many of the folds")
    parser.add_argument("--set", nargs="+", default=[], metavar="OPTION=VALUE")
    given = parser.parse_args(arguments)
    options = {name: yaml.safe_load(value) for name, _, value in (pair.partition("=") for pair in given.set)}
    torch.set_num_threads(1)
    quiet()
    file, task = out / "runs.json", get_task(given.task)
    for fold in range(min(given.folds, FOLDS)):
        if not any((run["task"], run["options"], run["fold"]) == (task.name, options, fold) for run in stored(file)):
            run = measure(task, fold, options)
            print(run, flush=True)
            keep(run, file)


def stored(file: Path) -> list[Run]:
    return json.loads(file.read_text()) if file.exists() else []


def keep(run: Run, file: Path) -> None:
    """Beside what others at work have stored meanwhile."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(file.with_suffix(".lock")):
        runs = [*stored(file), run]
        with replacing(file) as temporary:
            write_json(temporary, runs)
        with replacing(file.with_name("README.md")) as temporary:
            temporary.write_text(page(runs), encoding="utf-8")


if __name__ == "__main__":
    main()
