"""Processes to be killed."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import pytest
from campaigns.nursery import Child, to_its_end

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks beside threads


def test_how_processes_end(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert to_its_end(lambda: print("done"), log).said == "done\n"
    assert to_its_end(lambda: sys.exit(2), log).status == 2
    fallen = to_its_end(lambda: 1 / 0, log)
    assert fallen.traced and fallen.sentence.startswith("ZeroDivisionError")


def test_how_processes_are_ended(tmp_path: Path) -> None:
    for how, status in ((signal.SIGKILL, -9), (signal.SIGTERM, -15), (signal.SIGINT, 130)):
        child = Child(lambda: time.sleep(60), tmp_path / "log")
        assert child.wait(0.3) is None
        assert child.end(how).status == status
