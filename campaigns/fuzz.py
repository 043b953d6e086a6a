"""Malformed inputs in thousands: how many were accepted, refused in a sentence, or brought something down.

Counts are kept format by format; a campaign that was stopped goes on with those that are missing.
"""

from __future__ import annotations

import argparse
import json
import select
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from mpnp.files import replacing, write_json

from . import page
from .inputs import TRIALS

OUT = page.HERE / "fuzz.json"
PATIENCE = 180  # seconds without an answer, on a machine that others use too
START = 600  # seconds until everything is loaded


class Worker:
    """A process that tries inputs, and another one when it is gone."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def ask(self, name: str, seed: int, number: int) -> dict[str, Any]:
        process = self.process or self._start()
        assert process.stdin is not None
        process.stdin.write(json.dumps([name, seed, number]) + "\n")
        process.stdin.flush()
        answer = self._line(PATIENCE)
        if answer is None:
            status = process.poll()
            self.close()
            return {"outcome": "failed", "why": "no answer" if status is None else f"the process ended with {status}"}
        return json.loads(answer)

    def _start(self) -> subprocess.Popen[str]:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "campaigns.trial"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        if self._line(START) != "ready":
            raise SystemExit("The process that tries inputs does not start; run python -m campaigns.trial to see why.")
        return self.process

    def _line(self, seconds: float) -> str | None:
        assert self.process is not None and self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            return None
        return self.process.stdout.readline().strip() or None

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def run(seed: int, total: int, only: list[str], out: Path) -> int:
    """Try about ``total`` inputs of all formats, those that are not kept in ``out`` yet, or ``only`` some anew; how many failed."""
    kept = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    if (kept.get("seed"), kept.get("inputs")) != (seed, total):
        command = f"python -m campaigns fuzz --seed {seed} --inputs {total}"
        kept = {"command": command, "seed": seed, "inputs": total, "formats": {}, "findings": []}
    worker, whole = Worker(), sum(share for _, share in TRIALS.values())
    try:
        for name in only or [name for name in TRIALS if name not in kept["formats"]]:
            tried: Counter[str] = Counter()
            findings = [one for one in kept["findings"] if one["format"] != name]
            for number in range(-(-TRIALS[name][1] * total // whole)):
                answer = worker.ask(name, seed, number)
                tried[answer["outcome"]] += 1
                if answer["outcome"] == "failed":
                    findings.append({"format": name, "number": number, **answer})
                    print(f"  {name} {number}: {answer['why']} {answer.get('where', '')}", flush=True)
            counts = {**kept["formats"], name: {kind: tried[kind] for kind in ("accepted", "refused", "failed")}}
            kept["formats"] = {one: counts[one] for one in TRIALS if one in counts}
            kept["findings"] = findings
            print(f"{name}: {counts[name]}", flush=True)
            with replacing(out) as temporary:
                write_json(temporary, kept)
    finally:
        worker.close()
    if out == OUT:
        page.write()
    return len(kept["findings"])


def main(given: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m campaigns fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--inputs", type=int, default=10_000, help="in all, shared out over the formats")
    parser.add_argument("--only", nargs="+", default=[], choices=list(TRIALS), help="these formats, anew")
    parser.add_argument("--out", type=Path, default=OUT, help="where counts are kept; a stopped campaign goes on")
    parser.add_argument("--number", type=int, help="one input of one format, here and now, to look into")
    options = parser.parse_args(given)
    if options.number is not None:
        from .trial import try_one

        print(try_one(options.only[0], options.seed, options.number))
        return
    failed = run(options.seed, options.inputs, options.only, options.out)
    print(f"{failed} failed.")
    sys.exit(1 if failed else 0)
