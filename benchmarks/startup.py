"""Commands on a graph of six nodes, from the prompt to the next prompt: what they take to start, or to say what is wrong.

The least of several runs. CPU seconds are what the command itself takes; seconds on the clock are about the same where the
machine has nothing else to do, and more beside other work.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
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
    """Seconds by command, and of what they import, [CPU, clock]; ``first``: of 'mpnp tasks' before its table is kept."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _write(folder, range(6), {0: "a", 5: "b"})
        (folder / "ring").mkdir()
        _write(folder / "ring", range(40), {node: "ab"[node % 2] for node in range(40)})
        environment = {**os.environ, "MPNP_CACHE": str(folder / "cache")}
        first = _seconds(["tasks"], folder, environment)
        commands = {
            command: _least([_seconds(command.split()[1:], folder, environment, status) for _ in range(RUNS)])
            for command, status in COMMANDS.items()
        }
        parts = {
            name: _least([_seconds_of(["-c", code], folder, environment) for _ in range(RUNS)])
            for name, code in PARTS.items()
        }
    return {"first": first, "commands": commands, "parts": parts}


def _write(folder: Path, nodes: range, labels: dict[int, str]) -> None:
    rows = "".join(f"{node},{labels.get(node, '')}\n" for node in nodes)
    (folder / "nodes.csv").write_text("id,label\n" + rows, encoding="utf-8")
    edges = "".join(f"{node},{(node + 1) % len(nodes)}\n" for node in nodes)
    (folder / "edges.csv").write_text("source,target\n" + edges, encoding="utf-8")


def _least(runs: list[tuple[float, float]]) -> tuple[float, float]:
    return min(cpu for cpu, _ in runs), min(clock for _, clock in runs)


def _seconds(arguments: list[str], folder: Path, environment: dict[str, str], status: int = 0) -> tuple[float, float]:
    return _seconds_of(["-c", "from mpnp.cli import main; main()", *arguments], folder, environment, status)


def _seconds_of(
    arguments: list[str], folder: Path, environment: dict[str, str], status: int = 0
) -> tuple[float, float]:
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != status:
        raise SystemExit(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, took


def lines(result: dict[str, Any]) -> list[str]:
    """The table as Markdown."""
    rows = {f"`{name}`": seconds for name, seconds in result["commands"].items()}
    rows |= {"`mpnp tasks`, the first time": result["first"], **result["parts"]}
    text = ["## Starting a command, seconds", "", " ".join((__doc__ or "").split()), ""]
    text += ["| command | CPU | clock |", "|---|---|---|"]
    return text + [f"| {name} | {cpu:.2f} | {clock:.2f} |" for name, (cpu, clock) in rows.items()]
