"""Disks that are full, folders that may only be read or are gone, names that are odd.

Small disks are mounted in memory, which root alone may do; elsewhere these parts are left out, and say so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from .kills import command, graphs, train, traits
from .nursery import Child, Ending, to_its_end

Counts = dict[str, Any]
LEFT_OUT: Counts = {"left out": "only root may mount a disk", "failures": []}


@contextmanager
def disk(place: Path, kilobytes: int) -> Iterator[Path]:
    """A disk of that size at ``place``."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def resized(place: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(place)], check=True)


def told(ending: Ending) -> bool:
    """Whether it was refused in a sentence."""
    return ending.status in (1, 2) and not ending.traced and ending.sentence.startswith("mpnp: ")


def training(rng: Random, folder: Path, times: int) -> Counts:
    """The disk is full at one write or another: a sentence; with more room the run goes on to the same bits."""
    if os.geteuid():
        return LEFT_OUT
    given, log = graphs(folder), folder / "log.txt"
    to_its_end(train(given, folder / "whole"), log)
    used = sum(file.stat().st_size for file in (folder / "whole").rglob("*") if file.is_file()) // 1024
    failures, full = [], 0
    for number in range(times):
        with disk(folder / f"disk{number}", max(4, used * (number + 1) // times)) as place:
            ending = to_its_end(train(given, place / "run"), log)
            if ending.status != 0:
                full += 1
                halves = [f.name for f in place.rglob("*.tmp")]
                if not told(ending) or halves:
                    failures.append(f"{number}: {ending.sentence} {halves}")
            resized(place, f"size={20 * used}k")
            again = to_its_end(train(given, place / "run"), log)
            if again.status != 0 or traits(place / "run")[0] != traits(folder / "whole")[0]:
                failures.append(f"{number}, with more room: {again.sentence}")
    return {"disks": times, "full": full, "failures": failures}


def predicting(rng: Random, folder: Path, times: int) -> Counts:
    """The table does not fit: a sentence, and the old one is still there."""
    if os.geteuid():
        return LEFT_OUT
    given, log, failures, full = graphs(folder), folder / "log.txt", [], 0
    for number in range(times):
        with disk(folder / f"disk{number}", 8) as place:
            out = place / "p.csv"
            out.write_text("old")
            (place / "rest").write_bytes(b"\0" * 4096 * rng.choice((0, 1, 1)))
            ending = to_its_end(command("predict", "label-propagation", given, "--out", out), log)
            full += ending.status != 0
            if ending.status == 0:
                fine = out.read_text().startswith("graph,node")
            else:
                fine = told(ending) and out.read_text() == "old" and not list(place.glob(".*.tmp"))
            if not fine:
                failures.append(f"{number}: {ending.sentence}")
    return {"disks": times, "full": full, "failures": failures}


def read_only(rng: Random, folder: Path, times: int) -> Counts:
    if os.geteuid():
        return LEFT_OUT
    given, log, failures = graphs(folder), folder / "log.txt", []
    for number in range(times):
        with disk(folder / f"disk{number}", 64) as place:
            (place / "p.csv").write_text("old")
            resized(place, "ro")
            for work in (
                train(given, place / "run"),
                command("predict", "label-propagation", given, "--out", place / "p.csv"),
                command("reproduce", "--tasks", "ca/small-world", "--models", "mode", "--out", place / "grid"),
            ):
                ending = to_its_end(work, log)
                if not told(ending):
                    failures.append(f"{number}: {ending.status} {ending.sentence}")
            if (place / "p.csv").read_text() != "old":
                failures.append(f"{number}: the old table is gone")
    return {"tries": 3 * times, "failures": failures}


def vanished(rng: Random, folder: Path, times: int) -> Counts:
    """Someone deletes the folder of a run at work: a sentence, or a run that made it again."""
    given, log, failures = graphs(folder), folder / "log.txt", []
    for number in range(times):
        out = folder / f"run{number}"
        child = Child(train(given, out, epochs=40), log)
        while not (out / "checkpoints" / "last.ckpt").exists() and child.wait(0) is None:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.3))
        shutil.rmtree(out, ignore_errors=True)
        ending = child.wait(300)
        if ending is None or ending.traced or (ending.status != 0 and not told(ending)):
            failures.append(f"{number}: {ending and ending.sentence}")
    return {"tries": times, "failures": failures}


NAMES = ("with a space", "ünï→図", "-x", "$a$ _b", "x" * 200, "日" * 60, "a'b\"c", "50%{x}")


def names(rng: Random, folder: Path, times: int) -> Counts:
    """Train, predict and check under names that are odd."""
    failures, tried = [], 0
    for name in NAMES[:times]:
        place = folder / name
        place.mkdir()
        given = graphs(place)
        for work in (
            train(given, place / "run", epochs=1),
            command("predict", place / "run", given, "--out", place / f"{name}.csv"),
            command("check", given),
        ):
            tried += 1
            ending = to_its_end(work, folder / "log.txt")
            if ending.status != 0:
                failures.append(f"{name}: {ending.sentence}")
    return {"tries": tried, "failures": failures}
