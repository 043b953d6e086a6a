"""Kills, full disks, vanished folders, two at once: what is lost, what is half-written, what traces back. Counted.

Each part's counts are kept as soon as they are there; a campaign that was stopped goes on with the parts that are missing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from mpnp.files import replacing, write_json

from . import page

OUT = page.HERE / "chaos.json"
Counts = dict[str, Any]
Part = Callable[[Random, Path, int], Counts]


def parts() -> dict[str, tuple[Part, int]]:
    """By name: what is done, and how many times of 500 kills in all, or how many tries."""
    from . import disks, kills, steady

    return {
        "training killed": (kills.training, 300),
        "training killed, in two processes": (kills.parallel, 4),
        "grid killed": (kills.grid, 70),
        "grid of two processes killed": (kills.pool, 6),
        "studio killed while labels are given": (kills.studio, 100),
        "prediction killed while it is written": (kills.predicting, 24),
        "two trainings in one folder": (kills.two_trainings, 5),
        "two grids in one folder": (kills.two_grids, 3),
        "stale locks": (kills.stale_locks, 4),
        "training on a full disk": (disks.training, 12),
        "predictions on a full disk": (disks.predicting, 8),
        "a folder that may only be read": (disks.read_only, 4),
        "a folder that vanishes": (disks.vanished, 6),
        "names of folders and files": (disks.names, 8),
        "same bits": (steady.same_bits, 1),
        "one and two threads": (steady.threads, 1),
        "predictions in one process": (steady.long_running, 10_000),
    }


def _processor() -> float:
    """Seconds of the processor, of this process and of those that it waited for."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def main(given: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m campaigns chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=1.0, help="of all kills and tries, as 0.1 for a short campaign")
    parser.add_argument("--only", nargs="+", default=[], help="these parts, anew")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args(given)
    sys.exit(1 if run(options.seed, options.share, options.only, options.out) else 0)


def run(seed: int, share: float, only: list[str], out: Path) -> int:
    """Do the parts that are missing; how many of their tries failed."""
    import torch

    torch.set_num_threads(1)  # processes are forked from here
    kept: dict[str, Any] = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    if kept.get("seed") != seed or kept.get("share") != share:
        kept = {
            "command": f"python -m campaigns chaos --seed {seed} --share {share:g}",
            "seed": seed,
            "share": share,
            "parts": {},
        }
    for name, (part, times) in parts().items():
        if (only and name not in only) or (not only and name in kept["parts"]):
            continue
        started = _processor()
        with tempfile.TemporaryDirectory() as folder:
            found = part(Random(f"{seed}/{name}"), Path(folder), max(1, round(times * share)))
        kept["parts"][name] = {**found, "cpu_seconds": round(_processor() - started, 1)}
        print(f"{name}: {kept['parts'][name]}", flush=True)
        with replacing(out) as temporary:
            write_json(temporary, kept)
        if out == OUT:
            page.write()
    failed = sum(len(found.get("failures", [])) for found in kept["parts"].values())
    print(f"{failed} failures.")
    return failed
