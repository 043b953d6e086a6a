"""Errors that name what was meant, if that is near; a request to end, taken for Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from mpnp.errors import gently, unknown_name

TASKS = ["ca/small-world", "shapenet/pistol", "node/cora"]


@pytest.mark.parametrize(
    ("given", "meant"), [("ca/smal-world", "ca/small-world"), ("pistol", "shapenet/pistol"), ("node/coar", "node/cora")]
)
def test_a_near_name_is_suggested(given: str, meant: str) -> None:
    assert f"did you mean '{meant}'?" in str(unknown_name("task", given, TASKS))


@pytest.mark.parametrize("given", ["nonexist", "x", "", "universe"])
def test_a_far_one_is_not(given: str) -> None:
    said = str(unknown_name("task", given, TASKS))
    assert "did you mean" not in said and "choose one of: ca/small-world, shapenet/pistol, node/cora." in said


def test_long_lists_are_not_printed() -> None:
    names = [f"made/{number}" for number in range(100)]
    assert str(unknown_name("task", "zebra", names)) == "There is no task named 'zebra'; 'mpnp tasks' lists all 100."
    assert "made/19, …" in str(unknown_name("field", "zebra", names))


def test_a_request_to_end_is_taken_for_ctrl_c_and_only_within() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)  # whoever runs the tests may have one of their own
    try:
        with pytest.raises(KeyboardInterrupt), gently():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(10)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_grid_may_run_in_any_thread() -> None:
    done = []

    def work() -> None:
        with gently():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done
