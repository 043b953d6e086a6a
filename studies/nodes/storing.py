"""What was measured, one file per setting, graph and contestant; what is there of the same identity is not measured again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, pstdev
from time import process_time
from typing import Any

from torch import Tensor

from mpnp.defaults import FIGURES
from mpnp.evaluation.provenance import provenance
from mpnp.evaluation.scores import Score
from mpnp.files import replacing, write_json
from mpnp.own.sets import sets_from_context
from mpnp.prediction import Prediction

from .arenas import Arena, Case
from .contestants import Contestant

HERE = Path(__file__).parents[2] / "results" / "node"
METRICS = ("accuracy", "nll", "ece", "seconds")
COVERAGES = (0.9, 0.92)  # that conformal sets are asked for


@dataclass(frozen=True)
class Record:
    """``rows``: the metrics of every case. ``opening``: CPU seconds for what the experts see without labels, once per graph."""

    graph: str
    contestant: str
    setting: str
    identity: dict[str, Any]
    rows: list[dict[str, float]]
    opening: float
    made: dict[str, Any]

    def mean(self, metric: str) -> float:
        return fmean(row[metric] for row in self.rows)

    def spread(self, metric: str) -> float:
        """The standard deviation over cases."""
        return pstdev(row[metric] for row in self.rows)


@dataclass(frozen=True)
class Judged:
    prediction: Prediction
    y: Tensor


def path(graph: str, contestant: str, setting: str) -> Path:
    return HERE / setting / f"{graph}-{contestant}.json"


def stored(graph: str, contestant: str, setting: str) -> Record | None:
    place = path(graph, contestant, setting)
    return Record(**json.loads(place.read_text(encoding="utf-8"))) if place.exists() else None


def identity(arena: Arena, contestant: Contestant, setting: str) -> dict[str, Any]:
    """What a result depends on besides the code; of another identity it is measured again."""
    return {"figures": FIGURES, "cases": arena.number_of_cases(setting), **contestant.options}


def pending(arena: Arena, setting: str, contestants: list[Contestant]) -> list[Contestant]:
    def done(one: Contestant) -> bool:
        found = stored(arena.key, one.name, setting)
        return found is not None and found.identity == identity(arena, one, setting)

    nodes = arena.y.numel()
    return [one for one in contestants if setting in one.settings and nodes <= one.most_nodes and not done(one)]


def measure(arena: Arena, setting: str, contestants: list[Contestant]) -> None:
    """Put every case of a setting to the ``contestants``, and keep what they score."""
    rows: dict[str, list[dict[str, float]]] = {one.name: [] for one in contestants}
    for case in arena.cases(setting):
        for one in contestants:
            rows[one.name].append(row(one, case))
    for one in contestants:
        opening = arena.opened[1] if one.asks else 0.0
        record = Record(
            arena.key, one.name, setting, identity(arena, one, setting), rows[one.name], opening, provenance(one.folder)
        )
        with replacing(path(arena.key, one.name, setting)) as temporary:
            write_json(temporary, asdict(record))


def row(contestant: Contestant, case: Case) -> dict[str, float]:
    """One case's metrics; the seconds are of CPU, the experts' among them where their evidence is read."""
    waiting = case.asked[1] if contestant.asks else 0.0
    start = process_time()
    prediction = contestant.predict(case)
    seconds = waiting + process_time() - start
    score = Score()
    score.add(Judged(prediction.at(case.test), case.arena.y[case.test]))
    found = score.compute() | {"seconds": seconds, "labels": float(case.context.numel())}
    return {name: round(found[name], 5) for name in (*METRICS, "labels")} | sets(contestant, case, prediction)


def sets(contestant: Contestant, case: Case, prediction: Prediction) -> dict[str, float]:
    """The share of test nodes whose set holds the true label, and the mean size of their sets, where a promise can be made."""
    found = {}
    for coverage in COVERAGES if contestant.leaves_out else ():
        made = sets_from_context(prediction, case.episode, coverage)
        if made.kept:
            inside, y = made.inside[case.test], case.arena.y[case.test]
            found[f"covered {coverage:g}"] = round(float(inside.gather(1, y.unsqueeze(1)).double().mean()), 5)
            found[f"size {coverage:g}"] = round(float(inside.sum(1).double().mean()), 5)
    return found
