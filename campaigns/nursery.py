"""Processes to be killed: each a fork of this one, which has loaded everything, so that a start costs milliseconds."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import sound


@dataclass(frozen=True)
class Ending:
    """How a process ended: ``status`` as a shell tells it (negative: by that signal), and what it ``said``."""

    status: int
    said: str

    @property
    def traced(self) -> bool:
        """Whether it printed a traceback, however it ended."""
        return "Traceback (most recent call last)" in self.said

    @property
    def sentence(self) -> str:
        return self.said.strip().splitlines()[-1] if self.said.strip() else ""


class Child:
    """``work`` in a process of its own; what it prints goes to ``log``."""

    def __init__(self, work: Callable[[], object], log: Path) -> None:
        self.log = log
        sound.run_files()  # once: it has trained, so everything is loaded
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._live(work)

    def _live(self, work: Callable[[], object]) -> None:
        status = 1
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
            out = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.dup2(out, 1)
            os.dup2(out, 2)
            sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
            work()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        except KeyboardInterrupt:
            status = 130
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def wait(self, seconds: float) -> Ending | None:
        """How it ended, or ``None`` if it lives on after so many seconds."""
        until = time.monotonic() + seconds
        while True:
            found, status = os.waitpid(self.pid, os.WNOHANG)
            if found:
                return Ending(os.waitstatus_to_exitcode(status), self.log.read_text(errors="replace"))
            if time.monotonic() >= until:
                return None
            time.sleep(0.002)

    def end(self, how: signal.Signals, patience: float = 60) -> Ending:
        """Send a signal, and wait; what does not end is killed, and has failed."""
        os.kill(self.pid, how)
        ending = self.wait(patience)
        if ending is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait(patience)
            return Ending(1, f"Traceback (most recent call last): none, but it did not end by {how.name}")
        return ending


def to_its_end(work: Callable[[], object], log: Path, patience: float = 600) -> Ending:
    ending = (child := Child(work, log)).wait(patience)
    return ending if ending is not None else child.end(signal.SIGKILL)
