"""A Ray cluster, found or started here."""

from __future__ import annotations

import logging
import os
import socket
from typing import Any

from ..errors import UserError


def installed_ray() -> Any:
    """The module, or a sentence on how to get it."""
    try:
        import ray
    except ImportError as error:
        raise UserError("--engine ray was given, but Ray is not installed; run: pip install 'mpnp[ray]'.") from error
    return ray


def join(address: str | None, workers: int) -> Any:
    """Ray on the cluster at ``address``, or on one started here with as many processors as ``workers``."""
    ray = installed_ray()
    if not ray.is_initialized():
        _reachable(address)
        ray.init(
            address=address,
            num_cpus=None if address else workers,
            include_dashboard=False if address is None else None,
            log_to_driver=False,
            logging_level=logging.ERROR,
            runtime_env={"env_vars": {k: v for k, v in os.environ.items() if k.startswith("MPNP_")}},
        )
    return ray


def _reachable(address: str | None) -> None:
    """Ray itself waits for a minute, then ends the process."""
    host, colon, port = (address or "auto").removeprefix("ray://").rpartition(":")
    if not colon:  # 'auto', or none: Ray looks for a cluster here, or starts one
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, ValueError, OverflowError) as error:
        raise UserError(
            f"There is no Ray cluster at '{address}'; start one with 'ray start --head' and give its HOST:PORT."
        ) from error
