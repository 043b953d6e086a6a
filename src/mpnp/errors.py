"""One kind of error for everything a user can get wrong, and one way to be asked to end."""

from __future__ import annotations

import difflib
import re
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NoReturn

# Control characters, which a terminal may obey, but for line and tab; and those that turn the direction of writing.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
NEAR = 0.7  # share of letters that two names have in common, from which one is taken for a slip of the other
MANY = 20  # names: more are not listed


def printable(text: str) -> str:
    """A text in which control characters are written out, as \\x1b, so that none reaches a terminal or a report."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class UserError(Exception):
    """Bad input, told in one sentence: what was given, what was expected, what to do.

    The command line prints the sentence and exits with status 2. What was given may be very long; the sentence is not. Names
    in it may be anyone's: none can write escapes to a terminal.
    """

    LONGEST = 2000

    def __str__(self) -> str:
        said, half = printable(super().__str__()), self.LONGEST // 2
        return said if len(said) <= self.LONGEST else f"{said[:half]} … {said[-half:]}"


class StoppedError(UserError):
    """Ctrl-C before there was anything to keep: nothing went wrong, but there is nothing to go on with either."""


# Packages that come with an extra, ``pip install 'mpnp[…]'``; ``mpnp`` alone reads graphs and predicts.
EXTRAS = {
    **dict.fromkeys(("lightning", "filelock", "joblib"), "train"),
    **dict.fromkeys(("matplotlib", "PIL", "jinja2"), "plot"),
    **dict.fromkeys(("starlette", "uvicorn", "websockets"), "studio"),
    **dict.fromkeys(("pandas", "pyarrow"), "tables"),
    "huggingface_hub": "hub",
    "ray": "ray",
}


@contextmanager
def extras() -> Iterator[None]:
    """A package of an extra that is missing within the block is told in one sentence, with the command that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise UserError(
            f"This needs {package}, which is not installed; run: pip install 'mpnp[{EXTRAS[package]}]'."
        ) from error


class Terminated(KeyboardInterrupt):
    """SIGTERM: whatever ends well on Ctrl-C ends as well on this."""


@contextmanager
def gently() -> Iterator[None]:
    """Take SIGTERM, by which schedulers and services end a process, for Ctrl-C within the block; who has a handler keeps it."""

    def stop(number: int, frame: object) -> NoReturn:
        raise Terminated

    # The main thread alone may say so.
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def unknown_name(kind: str, given: str, known: Iterable[str]) -> UserError:
    """The error for a name that is not in a registry, with the name that was meant, if one is near."""
    names = list(known)
    nearest = max(names, key=lambda name: _likeness(given, name), default="")
    if _likeness(given, nearest) >= NEAR:
        return UserError(f"There is no {kind} named '{given}': did you mean '{nearest}'?")
    if len(names) > MANY:
        shown = f"'mpnp {kind}s' lists all {len(names)}" if kind == "task" else f"{', '.join(names[:MANY])}, …"
        return UserError(f"There is no {kind} named '{given}'; {shown}.")
    return UserError(f"There is no {kind} named '{given}': choose one of: {', '.join(names)}.")


def untrained(model: str) -> UserError:
    """The error for the name of a model where one that was trained is asked for."""
    return UserError(
        f"'{model}' has to be trained first; 'mpnp train GRAPHS --model {model}', or mpnp.fit, leaves a folder: give that."
    )


def _likeness(given: str, name: str) -> float:
    """From 0 to 1; of names in families, as ``ca/voronoi``, the last parts have to be alike, too, or alone."""
    whole, last = (
        difflib.SequenceMatcher(None, one.lower(), two.lower()).ratio()
        for one, two in ((given, name), (given.rpartition("/")[2], name.rpartition("/")[2]))
    )
    return last if "/" not in given else min(whole, last)
