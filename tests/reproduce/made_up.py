"""Results that nobody measured, as files and as records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mpnp.reproduce.records import Record

MADE = {"version": "9.9", "torch": "2.8", "date": "2026-01-02", "machine": "A <b>&</b> Z | 1", "threads": 1}


def record(task: str, row: str, values: Mapping[str, float], *, seed: int = 0, **more: Any) -> Record:
    """A result with ``values`` by rate, as fractions, in every metric; one hundredth less in the ways of counting beside."""
    headline, beside = ("accuracy", "miou_paper", "f1", "mcc"), ("accuracy_paper", "miou", "f1_argmax", "mcc_argmax")
    rates = {
        rate: {
            **dict.fromkeys(headline, value),
            **dict.fromkeys(beside, value - 0.01),
            **{f"{key}_std": 0.002 for key in (*headline, *beside, "nll", "ece")},
            "nll": 0.25,
            "ece": 0.03,
        }
        for rate, value in values.items()
    }
    made = {**MADE, "training": {"epochs": 7, "minutes": 1.5, "seed": seed, "threads": 1, "recipe": "default"}}
    table = {"task": task, "data": "somewhere", "model": row, "draws": 3, "seed": seed, "rates": rates, "made": made}
    return Record(task, row, seed, {**table, **more})


def write(folder: Path, *records: Record) -> None:
    for one in records:
        path = folder / one.task / f"{one.row}-seed{one.seed}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(one.table))
