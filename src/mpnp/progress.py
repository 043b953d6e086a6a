"""What is being done and how much longer it will take: one line, where someone is watching and only if it takes a while."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 2.0  # seconds before anything is shown
OFTEN = 0.5  # seconds between two looks


class Line:
    """The line that is shown, by a thread of its own, while work goes on; ``work``: stages, the innermost last."""

    def __init__(self) -> None:
        self.work: list[Stage] = []
        self._there = False  # on the screen
        self._lock, self._end = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._keep_showing, daemon=True)
        self._thread.start()

    def begin(self, stage: Stage) -> None:
        with self._lock:
            self.work.append(stage)

    def end(self) -> None:
        """The innermost stage is over; what is printed next stands on a line of its own."""
        with self._lock:
            self.work.pop()
            if self._there:
                print("\r\033[K", end="", file=sys.stderr, flush=True)
                self._there = False

    def close(self) -> None:
        self._end.set()
        self._thread.join()

    def _keep_showing(self) -> None:
        while not self._end.wait(OFTEN):
            with self._lock:
                if self.work and time.monotonic() - self.work[0].began > PATIENCE and not _bar_open():
                    print(f"\r{self.work[-1]}\033[K", end="", file=sys.stderr, flush=True)
                    self._there = True


class Stage:
    """Something that is being done: what, since when and, where it has parts, how many of them are done."""

    def __init__(self, what: str) -> None:
        self.what, self.done, self.total = what, 0, 0
        self.began = self.counted_from = time.monotonic()

    def __str__(self) -> str:
        passed = time.monotonic() - self.began
        if not self.done:
            return f"{self.what} … {passed:.0f} s"
        left = (time.monotonic() - self.counted_from) / self.done * (self.total - self.done)
        return f"{self.what}: {100 * self.done // self.total} %, {passed:.0f} s, about {left:.0f} s left"


_line: Line | None = None
_here = threading.local()  # ``check``: what this thread asks between two parts of its work


def _bar_open() -> bool:
    """Whether a progress bar of tqdm's is on the screen, which tells more than we do."""
    tqdm = sys.modules.get("tqdm")
    return tqdm is not None and any(not bar.disable for bar in list(getattr(tqdm.tqdm, "_instances", ())))


@contextmanager
def shown() -> Iterator[None]:
    """Show what is being done within the block, if standard error is a terminal."""
    global _line
    if _line is not None or not sys.stderr.isatty():
        yield
        return
    _line = Line()
    try:
        yield
    finally:
        line, _line = _line, None
        line.close()


@contextmanager
def stage(what: str) -> Iterator[None]:
    """Say that ``what`` is being done within the block."""
    line = _line
    if line is None:
        yield
        return
    line.begin(Stage(what))
    try:
        yield
    finally:
        line.end()


@contextmanager
def interruptible(check: Callable[[], None]) -> Iterator[None]:
    """Call ``check`` before every counted part of the work that this thread does within the block; it may raise to end it."""
    before, _here.check = getattr(_here, "check", None), check
    try:
        yield
    finally:
        _here.check = before


def counted(items: Iterable[T], total: int) -> Iterator[T]:
    """The same items; how many of ``total`` are done is shown, unless those of a loop around this one are counted already."""
    if (check := getattr(_here, "check", None)) is not None:
        items = _checked(items, check)
    now = _line.work[-1] if _line is not None and _line.work else None
    if now is None or now.total or total < 2:
        yield from items
        return
    now.total, now.counted_from = total, time.monotonic()
    try:
        for item in items:
            yield item
            now.done = min(now.done + 1, total)
    finally:
        now.total = now.done = 0


def _checked(items: Iterable[T], check: Callable[[], None]) -> Iterator[T]:
    check()
    for item in items:
        yield item
        check()
