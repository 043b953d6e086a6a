"""The table of readings: what each gives after how many epochs, beside what the paper prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mpnp.files import replacing

HERE = Path(__file__).parents[2] / "results" / "paper-readings"
CONCLUSION = (
    "None of the readings with one graph a step is at its end: 200 epochs are 378,000 steps, 25 minutes of an undisturbed core for one\n"
    "reading, and what stands here after a few epochs is the population mode, from which nothing can be concluded yet. What is known:\n"
    "with 32 graphs a step and one mean the model is still at the mode after all 200 epochs, so that either the steps were more or the\n"
    "summaries by class. No reading is named the paper's until one has come to its end."
)
PRINTED = (88.14, 95.09, 97.33)  # the paper's MPNP on small-world at 10, 30 and 100 %
MODE = (68.4, 69.5, 70.1)  # and its population mode
WORDS = {
    "class-wise": "a mean per class over the whole context, σ a deviation, features as they are",
    "mean": "one mean for all classes",
    "variance": "as class-wise, σ a variance",
    "own-mean": "a mean per class over the class's own nodes",
    "standardised": "as class-wise, features standardised",
    "mean-messages": "as class-wise, mean in place of sum over neighbours",
}


def write(found: Sequence[dict[str, Any]]) -> None:
    ran = json.loads((HERE.parent / "ca" / "small-world" / "mpnp-paper-seed0.json").read_text(encoding="utf-8"))
    with replacing(HERE / "README.md") as temporary:
        temporary.write_text(text(found, {"test": ran}), encoding="utf-8")


def text(found: Sequence[dict[str, Any]], ran: dict[str, Any] | None = None) -> str:
    """``ran``: the run of `mean-32` that ``mpnp reproduce`` made, which is no part of this program."""
    lines = [
        "# Readings of the paper's recipe on small-world automata", "",
        "Written by `python -m studies.paper_readings --page`. The paper prints layers, widths, Adam at 1e-4 and 200 epochs, and leaves",
        "open how many graphs a step has, how the context is summarised and what σ is. Each line is one filling-in, one seed, trained by",
        "`python -m studies.paper_readings --together NAME …`, which goes on where it was stopped. Accuracy in % on hidden cells of 60",
        "validation graphs whose rules no other part has; at 90 % in place of 100 %, where nothing would be hidden. CPU seconds on a",
        "machine shared with other work.", "",
        f"The paper's MPNP on its test rules at 10 / 30 / 100 %: {_figures(PRINTED)}; its population mode: {_figures(MODE)}.", "",
        "| reading | graphs a step | epochs | steps | 10 % | 30 % | 90 % | CPU seconds | test at 10 / 30 / 100 % |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]  # fmt: skip
    for one in sorted(found, key=lambda one: -one["validation"][-1]["30"]):
        last = one["validation"][-1]
        lines.append(
            f"| {one['reading']} | {one['options']['graphs']} | {one['epochs']} of {one['of']} | {one['steps']:,} | "
            f"{last['10']:.1f} | {last['30']:.1f} | {last['90']:.1f} | {one['cpu_seconds']:,} | {_test(one)} |"
        )
    if ran is not None:
        lines.append(f"| mean-32, by `mpnp reproduce` | 32 | 200 of 200 | 12,000 | – | – | – | – | {_test(ran)} |")
    whole = [one["reading"] for one in found if one["epochs"] == one["of"]]
    lines += ["", CONCLUSION if not whole else f"At their end: {', '.join(whole)}."]
    kinds = dict.fromkeys(one["reading"].rstrip("0123456789").rstrip("-") for one in found)
    lines += ["", *(f"- `{kind}-N`: {WORDS[kind]}; N graphs a step." for kind in kinds if kind in WORDS)]
    lines += ["", "## On the way", "", "Validation accuracy at 30 % after so many epochs.", ""]
    lines += _curves(found)
    return "\n".join(lines) + "\n"


def _curves(found: Sequence[dict[str, Any]]) -> list[str]:
    most = max(one["epochs"] for one in found)
    epochs = [epoch for epoch in (5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 120, 140, 160, 180, 200) if epoch <= most]
    lines = ["| reading |" + "".join(f" {epoch} |" for epoch in epochs), "|---|" + "---:|" * len(epochs)]
    for one in found:
        curve = {point["epoch"]: point["30"] for point in one["validation"]}
        lines.append(f"| {one['reading']} |" + "".join(f" {curve[e]:.1f} |" if e in curve else " – |" for e in epochs))
    return lines


def _test(one: dict[str, Any]) -> str:
    """The library's own run has them; others once they came to their end."""
    if one["test"] is None:
        return "not at its end"
    return _figures([100 * one["test"]["rates"][rate]["accuracy"] for rate in ("0.1", "0.3", "1.0")])


def _figures(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.1f}" for value in values)
