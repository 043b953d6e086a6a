"""No process is left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mpnp.reproduce import processes

# A parent that starts a child, which would work for a minute; read from the file itself, as all of the package takes seconds.
PARENT = f"""
import os, runpy, subprocess, sys, time
child = "import runpy, sys, time; runpy.run_path({processes.__file__!r})['end_with'](int(sys.argv[1])); time.sleep(60)"
print(subprocess.Popen([sys.executable, "-c", child, str(os.getpid())]).pid, flush=True)
time.sleep(60)
"""


def alive(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up where Linux lists them")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_ends_with_its_parent(end: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert alive(child)
        parent.send_signal(end)
        deadline = time.monotonic() + 30
        while alive(child) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not alive(child)
