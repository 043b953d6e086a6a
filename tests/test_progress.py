"""One line that tells what is being done, on a terminal, once it takes a while."""

from __future__ import annotations

import io
import re
import time
from types import SimpleNamespace

import pytest

from mpnp import progress
from mpnp.progress import Stage, counted, interruptible, shown, stage


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    screen = Terminal()
    # Not sys itself, whose streams pytest sets anew when the test begins.
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=screen, modules={}))
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "OFTEN", 0.01)
    return screen


def test_what_is_done_how_far_and_how_long(terminal: Terminal) -> None:
    with shown(), stage("counting"):
        for _ in counted(range(4), 4):
            time.sleep(0.1)
    assert re.search(r"\rcounting … 0 s", terminal.getvalue())
    assert re.search(r"\rcounting: 50 %, 0 s, about 0 s left", terminal.getvalue())
    assert terminal.getvalue().endswith("\r\033[K"), "nothing stays"


def test_nothing_is_shown_of_what_is_quick(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 60)
    with shown(), stage("counting"):
        time.sleep(0.05)
    assert terminal.getvalue() == ""


def test_nothing_is_shown_where_no_one_is_watching(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "isatty", lambda: False)
    with shown(), stage("counting"):
        assert list(counted("abc", 3)) == ["a", "b", "c"]
        time.sleep(0.1)
    assert terminal.getvalue() == ""


def test_the_loop_outside_is_counted(terminal: Terminal) -> None:
    with shown(), stage("folds"):
        for _ in counted(range(2), 2):
            for _ in counted(range(10), 10):
                time.sleep(0.01)
    assert set(re.findall(r"(\d+) %", terminal.getvalue())) <= {"50"}


def test_the_time_left_goes_by_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    now = Stage("counting")
    now.began, now.counted_from = time.monotonic() - 12, time.monotonic() - 10
    now.done, now.total = 1, 4
    assert str(now) == "counting: 25 %, 12 s, about 30 s left"


def test_it_ends_with_an_error(terminal: Terminal) -> None:
    with pytest.raises(ValueError, match="no"), shown(), stage("counting"):
        time.sleep(0.1)
        raise ValueError("no")
    assert terminal.getvalue().endswith("\r\033[K")


def test_work_can_be_ended_between_two_parts_of_it() -> None:
    done: list[int] = []

    def check() -> None:
        if len(done) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), interruptible(check):
        for part in counted(range(10), 10):
            done.append(part)
    assert done == [0, 1, 2]
    assert list(counted(range(5), 5)) == [0, 1, 2, 3, 4]  # and only within the block
