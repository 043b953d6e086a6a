"""What a command asks of its own process, looked at in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

LOOK = "import gc, os; from mpnp.cli.process import settle; settle(); print(os.environ['OMP_WAIT_POLICY'], gc.get_threshold()[0])"


@pytest.mark.parametrize(("before", "after"), [({}, "PASSIVE 50000"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE 50000")])
def test_what_the_user_has_set_stands(before: dict[str, str], after: str) -> None:
    kept = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, env=kept | before)
    assert done.stdout.strip() == after


def test_without_glibc_the_rest_is_set_all_the_same() -> None:
    program = f"import ctypes; ctypes.CDLL = lambda name: object(); {LOOK}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.strip().endswith("50000"), done.stderr
