"""``python -m benchmarks``: run everything, print it, write ``results/bench/README.md`` and ``results/bench/bench.json``."""

from __future__ import annotations

import warnings
from pathlib import Path

from mpnp.files import replacing, write_json
from mpnp.provenance import provenance
from mpnp.tasks import get_task

from . import automata, steps

OUT = Path(__file__).parent.parent / "results" / "bench"


def main() -> None:
    warnings.filterwarnings("ignore")
    made = provenance()
    step = steps.bench(get_task("ca/small-world").graphs("train"), 2)
    generation = automata.bench()
    lines = [
        "# Speed",
        "",
        f"`make bench`, version {made['version']}, {made['date']}, {made['machine']}, {made['threads']} threads.",
        "",
        "## A training step, 64 small-world graphs (h = 64, T = 2), forward and backward",
        "",
        "| way | ms | one graph at a time takes |",
        "|---|---|---|",
    ]
    slowest = step["one graph at a time"]
    lines += [f"| {name} | {ms:.1f} | {slowest / ms:.1f} × as long |" for name, ms in step.items()]
    lines += [
        "",
        "## Generating 2,700 automata",
        "",
        "| family | mpnp, s | NetworkX loop, s | ratio |",
        "|---|---|---|---|",
    ]
    for family, seconds in generation.items():
        ratio = seconds["NetworkX loop"] / seconds["mpnp"]
        lines.append(f"| {family} | {seconds['mpnp']:.2f} | {seconds['NetworkX loop']:.1f} | {ratio:.0f} × |")
    text = "\n".join(lines) + "\n"
    print(text)
    with replacing(OUT / "README.md") as temporary:
        temporary.write_text(text, encoding="utf-8")
    with replacing(OUT / "bench.json") as temporary:
        write_json(temporary, {"made": made, "step_ms": step, "generation_s": generation})


main()
