"""``python -m benchmarks part …``: measure, print, and write ``results/bench/README.md`` from all parts measured so far.

``make bench`` measures steps, trainer, automata, scale, one-graph, studio and asking; ``make bench-rivals`` rival and propagation, in an environment of
its own that holds the peers.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mpnp.evaluation.provenance import provenance
from mpnp.files import replacing, write_json

from . import asking, automata, one_graph, propagation, rival, scale, startup, steps, studio, trainer

OUT = Path(__file__).parent.parent / "results" / "bench"


def _scale_lines(table: dict[str, Any]) -> list[str]:
    scale.figure(table, OUT / "scale.png")
    return scale.lines(table)


# What measures a part, and what makes Markdown of it.
PARTS: dict[str, tuple[Callable[[], Any], Callable[[Any], list[str]]]] = {
    "steps": (steps.bench, lambda result: steps.lines(*result)),
    "trainer": (trainer.bench, trainer.lines),
    "rival": (rival.bench, rival.lines),
    "propagation": (propagation.bench, propagation.lines),
    "automata": (automata.bench, automata.lines),
    "scale": (scale.bench, _scale_lines),
    "one-graph": (one_graph.bench, one_graph.lines),
    "studio": (studio.bench, studio.lines),
    "startup": (startup.bench, startup.lines),
    "asking": (asking.bench, asking.lines),
}


def main(names: list[str]) -> None:
    warnings.filterwarnings("ignore")
    unknown = set(names) - set(PARTS)
    if unknown:
        raise SystemExit(f"There is no part {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}.")
    for name in names:
        measured = PARTS[name][0]()
        with replacing(OUT / f"{name}.json") as temporary:
            write_json(temporary, {"made": provenance(), "result": measured})
    text = [
        "# Speed",
        "",
        "Best of several alternating rounds in one process. Made by `make bench` and `make bench-rivals`.",
        "",
    ]
    for name, (_, lines) in PARTS.items():
        file = OUT / f"{name}.json"
        if file.exists():
            content = json.loads(file.read_text(encoding="utf-8"))
            made = content["made"]
            by = f"`python -m benchmarks {name}`, {made['date']}, {made['machine']}, {made['threads']} threads"
            text += [*lines(content["result"]), "", f"<sub>{by}</sub>", ""]
    page = "\n".join(text)
    print(page)
    with replacing(OUT / "README.md") as temporary:
        temporary.write_text(page, encoding="utf-8")


main(sys.argv[1:])
