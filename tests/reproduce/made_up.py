"""Results that nobody measured, as files and as records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mpnp.evaluation.tables import Scores, ScoreTable
from mpnp.reproduce.records import Record

MADE = {"version": "9.9", "torch": "2.8", "date": "2026-01-02", "machine": "A <b>&</b> Z | 1", "threads": 1}


def record(task: str, row: str, values: Mapping[str, float], *, seed: int = 0, **more: Any) -> Record:
    """A result with ``values`` by rate, as fractions, in every metric; one hundredth less in the ways of counting beside."""
    scores = {
        rate: Scores(
            accuracy=value,
            nll=0.25,
            brier=0.1,
            ece=0.03,
            accuracy_paper=value - 0.01,
            f1=value,
            mcc=value,
            f1_argmax=value - 0.01,
            mcc_argmax=value - 0.01,
            miou=value - 0.01,
            miou_paper=value,
        )
        for rate, value in values.items()
    }
    spread = Scores(*[0.002] * 12)
    rates = {rate: replace(row, spread=spread) for rate, row in scores.items()}
    made = {**MADE, "training": {"epochs": 7, "minutes": 1.5, "seed": seed, "threads": 1, "recipe": "default"}}
    identity = more.pop("identity", None)
    table = ScoreTable(task, "somewhere", row, "test", 3, seed, rates, made)
    return Record(task, row, seed, replace(table, **more), identity)


def write(folder: Path, *records: Record) -> None:
    for one in records:
        path = folder / one.task / f"{one.row}-seed{one.seed}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(one.table.to_dict() | {"identity": one.identity}))
