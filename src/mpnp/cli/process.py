"""What a command asks of its own process. In the process of someone who imports mpnp, none of it is ours to set."""

from __future__ import annotations

import ctypes
import gc
import os
from contextlib import suppress

TRIM, MAP = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc's mallopt
KEPT, MAPPED = 2**29, 2**25  # bytes


def settle() -> None:
    """To be called before torch is loaded.

    Threads that wait for each other sleep, not spin: beside other work on the machine spinning takes several times as long.
    Python looks less often for what can be thrown away, as nearly all that is made stays to the end. And memory that is free
    again stays at hand, as the next tensor is of the same size: to give it back and ask anew takes a twentieth of the time.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    gc.set_threshold(50_000)
    with suppress(OSError, TypeError, AttributeError):  # glibc alone has it
        allocator = ctypes.CDLL(None)
        allocator.mallopt(TRIM, KEPT)
        allocator.mallopt(MAP, MAPPED)
