"""Commands on a graph of six nodes: how long it takes until a command has begun, or has said what is wrong.

CPU seconds of the whole process, the least of several runs: other work on the machine counts for nothing.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

RUNS = 3
COMMANDS = {
    "mpnp": 0,
    "mpnp --version": 0,
    "mpnp predict --help": 0,
    "mpnp trian": 2,
    "mpnp predict nowhere": 2,
    "mpnp train ca/nowhere": 2,
    "mpnp tasks": 0,
    "mpnp check .": 0,
    "mpnp predict .": 0,
    "mpnp suggest .": 0,
    "mpnp evaluate label-propagation --task ring --draws 1": 0,
}
PARTS = {
    "import torch": "import torch",
    "import mpnp": "import mpnp",
    "what predicting imports": "import mpnp.own.predict",
}


def bench() -> dict[str, Any]:
    """CPU seconds by command, and of what they import; ``first``: of 'mpnp tasks' before its table is kept."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _write(folder, range(6), {0: "a", 5: "b"})
        (folder / "ring").mkdir()
        _write(folder / "ring", range(40), {node: "ab"[node % 2] for node in range(40)})
        environment = {**os.environ, "MPNP_CACHE": str(folder / "cache")}
        first = _seconds(["tasks"], folder, environment)
        commands = {
            command: min(_seconds(command.split()[1:], folder, environment, status) for _ in range(RUNS))
            for command, status in COMMANDS.items()
        }
        parts = {
            name: min(_seconds_of(["-c", code], folder, environment) for _ in range(RUNS))
            for name, code in PARTS.items()
        }
    return {"first": first, "commands": commands, "parts": parts}


def _write(folder: Path, nodes: range, labels: dict[int, str]) -> None:
    rows = "".join(f"{node},{labels.get(node, '')}\n" for node in nodes)
    (folder / "nodes.csv").write_text("id,label\n" + rows, encoding="utf-8")
    edges = "".join(f"{node},{(node + 1) % len(nodes)}\n" for node in nodes)
    (folder / "edges.csv").write_text("source,target\n" + edges, encoding="utf-8")


def _seconds(arguments: list[str], folder: Path, environment: dict[str, str], status: int = 0) -> float:
    return _seconds_of(["-c", "from mpnp.cli import main; main()", *arguments], folder, environment, status)


def _seconds_of(arguments: list[str], folder: Path, environment: dict[str, str], status: int = 0) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != status:
        raise SystemExit(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def lines(result: dict[str, Any]) -> list[str]:
    """The table as Markdown."""
    text = [
        "## Starting a command, CPU seconds",
        "",
        (__doc__ or "").partition("\n\n")[0]
        + " The least of several runs, on a machine that was busy with other work.",
        "",
        "| command | s |",
        "|---|---|",
    ]
    text += [f"| `{name}` | {seconds:.2f} |" for name, seconds in result["commands"].items()]
    text += [f"| `mpnp tasks`, the first time | {result['first']:.2f} |"]
    return text + [f"| {name} | {seconds:.2f} |" for name, seconds in result["parts"].items()]
