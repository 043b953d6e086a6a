"""``results/reliability/README.md`` from the JSON files beside it."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from mpnp.files import replacing

HERE = Path(__file__).parents[1] / "results" / "reliability"
HEAD = """# Reliability

What was tried to break `mpnp`, and what came of it. Written by `python -m campaigns page` from the JSON files here.
"""


def write(here: Path = HERE) -> None:
    """The page, of as many campaigns as there are counts of."""
    sections = [HEAD]
    for name, section in (("fuzz", _fuzz), ("chaos", _chaos), ("size", _size)):
        file = here / f"{name}.json"
        if file.exists():
            sections.append(section(json.loads(file.read_text(encoding="utf-8"))))
    with replacing(here / "README.md") as temporary:
        temporary.write_text("\n".join(sections), encoding="utf-8")


def _fuzz(found: dict[str, Any]) -> str:
    rows = [[name, sum(counts.values()), *counts.values()] for name, counts in found["formats"].items()]
    rows.append(["all", *(sum(row[i] for row in rows) for i in range(1, 5))])
    lines = [
        "## Malformed inputs",
        "",
        _wrapped(
            f"`make fuzz`, which is `{found['command']}`: sound inputs, damaged by a seeded generator, given to the reader a user "
            "would give them to, in a process with 3 GiB to itself and 20 s of the processor for each. *Accepted*: it was still "
            "sound, or was read as what it says, and what was read is finite and can be predicted. *Refused*: in a sentence. "
            "*Failed*: anything else, a traceback, a hang, too much memory."
        ),
        "",
        *_remark(found),
        *_table(["format", "inputs", "accepted", "refused", "failed"], rows),
    ]
    for one in found["findings"]:
        lines.append(_wrapped(f"- {one['format']} {one['number']}: {one['why'][:200]}"))
    return "\n".join([*lines, ""])


def _remark(found: dict[str, Any]) -> list[str]:
    """What a reader has to know of how the counts came about, where something was noted."""
    return [_wrapped(found["remark"]), ""] if "remark" in found else []


def _chaos(found: dict[str, Any]) -> str:
    kills = sum(sum(part.get("kills", {}).values()) for part in found["parts"].values())
    rows = []
    for name, part in found["parts"].items():
        counts = {key: value for key, value in part.items() if key not in ("failures", "cpu_seconds")}
        rows.append(
            [name, "; ".join(f"{key}: {_words(value)}" for key, value in counts.items()), len(part["failures"])]
        )
    lines = [
        "## Kills, disks, races",
        "",
        _wrapped(
            f"`make chaos`, which is `{found['command']}`: {kills} kills in all, at random moments of what a run takes undisturbed. "
            "A run is killed up to eight times, each time resumed, then let come to its end; *bit-equal*: weights, log and score, or "
            "the figures of a grid, are those of a run that was never killed."
        ),
        "",
        *_remark(found),
        *_table(["what", "counts", "failed"], rows),
    ]
    for name, part in found["parts"].items():
        lines += [_wrapped(f"- {name}: {text[:300]}") for text in part["failures"]]
    return "\n".join([*lines, ""])


def _size(found: dict[str, Any]) -> str:
    spent = ("seconds", "cpu_seconds", "peak_gigabytes", "load_before")
    rows = [[one.get(key, "") for key in ("what", "nodes", "classes", "labels", *spent)] for one in found["runs"]]
    commands = [[one.get(key, "") for key in ("what", "nodes", "graphs", *spent)] for one in found["commands"]]
    heads = ["seconds", "CPU seconds", "GB at most", "load before"]
    lines = [
        "## Very large",
        "",
        _wrapped(
            f"`mpnp predict` in a shell, from start to end, by `{found['command']}`: four features and classes, five edges per "
            f"node. *Load before*: the load average of the {found.get('processors', '')} processors when it began, over the minute before; "
            "beside others, seconds are longer than they need be."
        ),
        "",
        *_remark(found),
        *_table(["what", "nodes", "graphs", *heads], commands),
        "## Very many classes",
        "",
        f"`{found['command']}`, a graph with 64 features and five edges per node:",
        "",
    ]
    return "\n".join([*lines, *_table(["what", "nodes", "classes", "labels", *heads], rows), ""])


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(number)}" for name, number in value.items())
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    return f"{value:.1e}" if isinstance(value, float) and 0 < value < 0.01 else str(value)


def _table(head: list[str], rows: list[list[Any]]) -> list[str]:
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell).replace("|", "\\|") for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *cells)] + [""]


def main(given: list[str]) -> None:
    write()
