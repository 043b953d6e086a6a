"""Processes that belong together: none is left behind when the first one ends, however it ends."""

from __future__ import annotations

import os
import threading
import time

LOOK = 0.2  # seconds between two looks at the parent


def end_with(parent: int) -> None:
    """Let this process end as soon as it is no longer a child of ``parent``: killed, that one could not tell it to."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK)
        os._exit(1)  # nothing is half-written that a kill would not leave half-written too

    global _watched
    if _watched != parent:  # a pool gives one process many jobs
        _watched = parent
        threading.Thread(target=watch, daemon=True, name="end with the parent").start()


_watched: int | None = None
