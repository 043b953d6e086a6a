"""Processes killed at random moments, and what is found afterwards."""

from __future__ import annotations

import csv
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

from . import sound
from .nursery import Child, Ending, to_its_end

Counts = dict[str, Any]
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
MOST_KILLS = 8  # of one run, which is then let come to its end
SETTINGS = ["width=8", "z_width=4", "heads=1", "head_width=4", "values=4", "epoch_steps=3", "samples=1"]


def command(*words: object) -> Callable[[], None]:
    """``mpnp …`` as a shell would run it."""

    def work() -> None:
        from mpnp.cli import main

        torch.manual_seed(int(time.time_ns()) % 2**31)  # a shell starts with any state
        main([str(word) for word in words])

    return work


def graphs(folder: Path) -> Path:
    path = folder / "graphs.pt"
    path.write_bytes(sound.packed(sound.trainable()))
    return path


def train(given: Path, out: Path, *more: object, epochs: int = 6) -> Callable[[], None]:
    resume = ["--resume"] if (out / "run.json").exists() else []
    return command("train", given, "--out", out, "--epochs", epochs, "--threads", 1, *resume, *more, "--set", *SETTINGS)


@dataclass
class Pace:
    """Seconds that a run takes undisturbed; learnt anew from every one that was not killed, as others use the machine too."""

    lasting: float


def killed_until_done(
    rng: Random, log: Path, start: Callable[[], Callable[[], object]], pace: Pace
) -> tuple[Counter[str], Ending]:
    """Start again and again, and kill at a random moment of what it takes undisturbed; kills by signal, and the last ending."""
    sent: Counter[str] = Counter()
    while sent.total() < MOST_KILLS:
        started, child = time.monotonic(), Child(start(), log)
        ending = child.wait(rng.uniform(0, pace.lasting))
        if ending is None:
            how = rng.choice(SIGNALS)
            ending = child.end(how)
            sent[how.name] += 1
            if not ending.traced:
                continue
        elif not sent:
            pace.lasting = time.monotonic() - started
        return sent, ending
    return sent, to_its_end(start(), log)


def training(rng: Random, folder: Path, times: int) -> Counts:
    """Runs killed again and again end with the bits of one that never was."""
    given, whole, log = graphs(folder), folder / "whole", folder / "log.txt"
    started = time.monotonic()
    assert to_its_end(train(given, whole), log).status == 0, log.read_text()
    pace = Pace(time.monotonic() - started)
    sent: Counter[str] = Counter()
    chains, failures = 0, []
    while sent.total() < times:
        out = folder / f"chain{chains}"
        chains += 1
        more, ending = killed_until_done(rng, log, lambda out=out: train(given, out), pace)  # type: ignore[misc]
        sent += more
        if ending.status != 0 or ending.traced or traits(out) != traits(whole):
            failures.append(f"chain {chains}: {ending.status} {ending.sentence}")
    return {"kills": dict(sent), "runs": chains, "bit-equal": chains - len(failures), "failures": failures}


def traits(out: Path) -> Any:
    """What a run must have left: weights, log, score."""
    log = [tuple(row.values()) for row in csv.DictReader((out / "log" / "metrics.csv").open())]
    metrics = json.loads((out / "metrics.json").read_text())
    left = sorted(path.name for path in out.iterdir())
    return (out / "model.safetensors").read_bytes(), log, metrics["val_nll"], metrics["finished"], left


def parallel(rng: Random, folder: Path, times: int) -> Counts:
    """A run of two processes, of which Lightning starts the second anew: the first is killed, then it goes on."""
    given, whole, log = graphs(folder), folder / "whole", folder / "log.txt"

    def run(out: Path, *more: str, until: Path | None = None) -> None:
        words = [
            sys_mpnp(),
            "train",
            str(given),
            "--epochs",
            "6",
            "--threads",
            "1",
            "--devices",
            "2",
            "--out",
            str(out),
        ]
        _shell([*words, *more, "--set", *SETTINGS], log, until)

    run(whole)
    failures = []
    for number in range(times):
        out = folder / f"chain{number}"
        run(out, until=out / "checkpoints" / "last.ckpt")
        run(out, "--resume")
        if not (out / "metrics.json").exists() or traits(out)[:2] != traits(whole)[:2]:
            failures.append(f"chain {number}: {log.read_text()[-300:]}")
    return {"kills": {"SIGKILL": times}, "runs": times, "bit-equal": times - len(failures), "failures": failures}


def sys_mpnp() -> str:
    import sys

    return str(Path(sys.executable).parent / "mpnp")


def _shell(words: list[str], log: Path, until: Path | None) -> None:
    """Run a command to its end, or until there is such a file."""
    import subprocess

    with log.open("w") as out, subprocess.Popen(words, stdout=out, stderr=out, start_new_session=True) as process:
        while until is not None and process.poll() is None and not until.exists():
            time.sleep(0.05)
        if until is not None:
            process.kill()
        process.wait()


def _jobs(seeds: int = 1) -> list[Any]:
    """On graphs of one's own: a run takes a second, on a task of the paper ten."""
    from mpnp.reproduce.plan import Job

    tiny = {"epochs": 4, "samples": 1, "epoch_steps": 3, "z_width": 4, "r_width": 4}
    trained = [Job("graphs.pt", "np-c", seed, changes=tiny, draws=1) for seed in range(seeds)]
    return [*trained, Job("graphs.pt", "mode", draws=1)]


def _grid(out: Path, workers: int = 1) -> Callable[[], None]:
    def work() -> None:
        from mpnp.reproduce import grid

        os.chdir(out.parent)  # where graphs.pt is
        summary = grid.run(_jobs(workers), out, workers=workers, progress=False)
        assert not summary.failed, summary.failed

    return work


def _figures(out: Path) -> Any:
    found = {file.name: json.loads(file.read_text())["rates"] for file in (out / "graphs.pt").glob("*.json")}
    assert len(found) > 1
    return found


def grid(rng: Random, folder: Path, times: int, workers: int = 1) -> Counts:
    """Grids killed again and again give the figures of one that never was, and leave no process behind."""
    graphs(folder)
    log = folder / "log.txt"
    started = time.monotonic()
    ending = to_its_end(_grid(folder / "whole", workers), log)
    assert ending.status == 0, ending.said
    pace, wanted = Pace(time.monotonic() - started), _figures(folder / "whole")
    sent: Counter[str] = Counter()
    chains, failures = 0, []
    while sent.total() < times:
        out = folder / f"chain{chains}"
        chains += 1
        more, ending = killed_until_done(rng, log, lambda out=out: _grid(out, workers), pace)  # type: ignore[misc]
        sent += more
        left = [note.name for note in out.rglob("*.at-work") if _alive(int(note.read_text() or 0))]
        if ending.status != 0 or ending.traced or _figures(out) != wanted or left:
            failures.append(f"chain {chains}: {ending.status} {ending.sentence} {left}")
    return {"kills": dict(sent), "runs": chains, "bit-equal": chains - len(failures), "failures": failures}


def pool(rng: Random, folder: Path, times: int) -> Counts:
    return grid(rng, folder, times, workers=2)


def _alive(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def studio(rng: Random, folder: Path, times: int) -> Counts:
    """Labels given one after the other: every one that was acknowledged is there after the kill."""
    from mpnp.studio.journal import Journal

    nodes, failures, acknowledged = 200, [], 0
    names = [f"n{i}" for i in range(nodes)]
    for number in range(times):
        file, told = folder / f"labels{number}.csv", folder / f"told{number}.txt"

        def work(file: Path = file, told: Path = told, number: int = number) -> None:
            journal, own = Journal(file, names, "graph"), Random(number)
            labelling = journal.open(np.full(nodes, -1), ["a", "b", "c"])
            with told.open("w") as said:
                while True:
                    journal.perform(labelling, _step(own, nodes))
                    print(" ".join(map(str, labelling.labels)), file=said, flush=True)

        child = Child(work, folder / "log.txt")
        child.wait(rng.uniform(0, 0.5))
        ending = child.end(rng.choice(SIGNALS))
        lines = told.read_text().splitlines() if told.exists() else []
        acknowledged += len(lines)
        found = Journal(file, names, "graph").open(np.full(nodes, -1), ["a", "b", "c"]).labels.tolist()
        last = [int(label) for label in lines[-1].split()] if lines and len(lines[-1].split()) == nodes else None
        # One step more than was acknowledged may have been kept.
        if last is not None and found != last and found != _next(number, nodes, len(lines)):
            failures.append(f"{number}: labels lost after {len(lines)} steps ({ending.sentence})")
    return {"kills": {"any": times}, "steps": acknowledged, "labels lost": len(failures), "failures": failures}


def _step(own: Random, nodes: int) -> dict[str, Any]:
    paint: dict[str, Any] = {"do": "paint", "nodes": own.sample(range(nodes), 3), "label": own.randrange(-1, 3)}
    return own.choice((paint, paint, paint, {"do": "undo"}, {"do": "redo"}))


def _next(number: int, nodes: int, steps: int) -> list[int]:
    """The labels after one step more, done again without a journal."""
    from mpnp.studio.labelling import Labelling

    labelling, own = Labelling.start(np.full(nodes, -1), ["a", "b", "c"]), Random(number)
    for _ in range(steps + 1):
        labelling.perform(_step(own, nodes))
    return labelling.labels.tolist()


def predicting(rng: Random, folder: Path, times: int) -> Counts:
    """A table is the old one or the new one, whenever the process is killed."""
    given, out, log = graphs(folder), folder / "p.csv", folder / "log.txt"
    ask = command("predict", "label-propagation", given, "--out", out)
    started = time.monotonic()
    assert to_its_end(ask, log).status == 0, log.read_text()
    lasting, whole, failures = time.monotonic() - started, out.read_bytes(), []
    for number in range(times):
        old = b"what was there before\n"
        out.write_bytes(old)
        child = Child(ask, log)
        how = rng.choice(SIGNALS)
        ending = child.wait(rng.uniform(0, lasting)) or child.end(how)
        rest = [path.name for path in folder.iterdir() if path.name.endswith(".tmp")]
        if out.read_bytes() not in (old, whole) or (rest and ending.status != -9) or ending.traced:
            failures.append(f"{number}: {how.name} {rest} {ending.sentence}")
        for name in rest:
            (folder / name).unlink()
    return {"kills": {"any": times}, "halves": len(failures), "failures": failures}


def two_trainings(rng: Random, folder: Path, times: int) -> Counts:
    """Of two that are started in one folder at the same time one goes on, the other is refused."""
    given, failures = graphs(folder), []
    whole = folder / "whole"
    to_its_end(train(given, whole, epochs=12), folder / "log.txt")
    for number in range(times):
        out = folder / f"both{number}"
        pair = [Child(train(given, out, epochs=12), folder / f"log{i}.txt") for i in (0, 1)]
        ends = [child.wait(300) or child.end(signal.SIGKILL) for child in pair]
        fine = sorted(end.status for end in ends) == [0, 2] and not any(end.traced for end in ends)
        if not fine or traits(out) != traits(whole):
            failures.append(f"{number}: {[(end.status, end.sentence) for end in ends]}")
    return {"tries": times, "failures": failures}


def two_grids(rng: Random, folder: Path, times: int) -> Counts:
    """A second grid, and a report, beside one at work: the grid is refused, the report reports."""
    graphs(folder)
    failures = []
    for number in range(times):
        out = folder / f"both{number}"
        first = Child(_grid(out), folder / "log0.txt")
        while not (out / ".lock").exists():
            time.sleep(0.01)
        report = to_its_end(command("reproduce", "--report-only", "--out", out), folder / "log1.txt")
        second = to_its_end(_grid(out), folder / "log2.txt")
        end = first.wait(300) or first.end(signal.SIGKILL)
        refused = "at work" in second.said or second.status == 0  # the first may have been done
        if end.status != 0 or report.status != 0 or not refused:
            failures.append(f"{number}: {end.status} {report.sentence} {second.sentence}")
    return {"tries": times, "failures": failures}


def stale_locks(rng: Random, folder: Path, times: int) -> Counts:
    """Lock files that a killed process left, with whatever in them, keep no one out."""
    given, failures = graphs(folder), []
    for number in range(times):
        out, results = folder / f"run{number}", folder / f"grid{number}"
        child = Child(train(given, out), folder / "log.txt")
        while not (out / "run.json").exists() and child.wait(0) is None:
            time.sleep(0.01)
        child.end(signal.SIGKILL) if child_lives(child) else None
        results.mkdir()
        (results / ".lock").write_text(rng.choice(("", "12345", "\0")))
        ends = [to_its_end(train(given, out), folder / "log.txt")]
        ends.append(to_its_end(command("reproduce", "--report-only", "--out", results), folder / "log.txt"))
        if any(end.status != 0 for end in ends):
            failures.append(f"{number}: {[end.sentence for end in ends]}")
    return {"tries": times, "failures": failures}


def child_lives(child: Child) -> bool:
    try:
        os.kill(child.pid, 0)
    except ProcessLookupError:
        return False
    return _alive(child.pid)
