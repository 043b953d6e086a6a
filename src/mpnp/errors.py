"""One kind of error for everything a user can get wrong."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Bad input, told in one sentence: what was given, what was expected, what to do.

    The command line prints the sentence and exits with status 2.
    """


def unknown_name(kind: str, given: str, known: Iterable[str]) -> UserError:
    """The error for a name that is not in a registry, with the nearest name that is."""
    names = list(known)
    near = difflib.get_close_matches(given, names, n=1, cutoff=0.4)
    hint = f"did you mean '{near[0]}'?" if near else f"choose one of: {', '.join(names)}."
    return UserError(f"There is no {kind} named '{given}': {hint}")
