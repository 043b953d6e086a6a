"""The process in which inputs are tried, with bounds on memory and time: one JSON line in, one out.

A process that dies or hangs takes one input with it, and the campaign goes on in another.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from random import Random
from typing import Any

MEMORY = 3 * 2**30  # bytes beyond what the process has once everything is loaded
SECONDS = 20  # of the processor, for one input


class OutOfTime(BaseException):
    """Not an Exception: no reader may take it for a damaged file."""


def try_one(name: str, seed: int, number: int) -> dict[str, Any]:
    """The outcome of one input: 'accepted', 'refused' in a sentence, or 'failed' with the reason."""
    from mpnp.errors import UserError

    from .inputs import TRIALS

    rng = Random(f"{seed}/{name}/{number}")
    with tempfile.TemporaryDirectory() as folder:
        try:
            with _in_time(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                TRIALS[name][0](rng, Path(folder))
            return {"outcome": "accepted"}
        except UserError as error:
            said = str(error)
            if "\n" in said or "Traceback" in said or len(said) > 5000 or not said.strip():
                return {"outcome": "failed", "why": f"no sentence: {said[:300]!r}"}
            return {"outcome": "refused", "why": said[:300]}
        except (Exception, OutOfTime, KeyboardInterrupt, SystemExit) as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            return {"outcome": "failed", "why": text, "where": f"{Path(last.filename).name}:{last.lineno}"}


class _in_time:  # noqa: N801, a context manager used like a function
    def __enter__(self) -> None:
        def over(*_: object) -> None:
            raise OutOfTime(f"more than {SECONDS} s of the processor")

        signal.signal(signal.SIGPROF, over)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)


def bound_memory(more: int = MEMORY) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, resource.RLIM_INFINITY))


def main() -> None:
    """Answer on what was standard output at the start; whatever is printed meanwhile goes elsewhere."""
    import os

    import torch

    from . import sound

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    torch.set_num_threads(1)
    sound.model_files(), sound.run_files(), sound.result()
    import mpnp.cli.main
    import mpnp.reproduce.report  # noqa: F401

    bound_memory()
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(try_one(*json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
