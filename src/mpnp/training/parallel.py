"""One training run in several processes: whether they can start, and the share of every batch that each works on.

Lightning starts them, or torchrun did: each runs the whole command, or the user's whole script, up to ``fit`` and beyond.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import torch

from ..episode import Episode
from ..errors import UserError
from ..models.base import Model
from .objectives import Place


def check_processes(devices: int, machines: int) -> None:
    """Raise a :class:`UserError` unless this machine can take its part in ``devices`` × ``machines`` processes."""
    for name, value in (("devices", devices), ("machines", machines)):
        if value < 1:
            raise UserError(f"{name} = {value} was given, at least 1 is expected.")
    cores = os.cpu_count() or 1
    if devices > cores:
        raise UserError(f"{devices} devices (processes on one machine) were given, but this one has {cores} cores.")
    if devices * machines == 1:
        return
    given = os.environ
    if "LOCAL_RANK" in given:
        started = int(given.get("WORLD_SIZE", devices * machines))
        if started != devices * machines:
            raise UserError(
                f"{started} processes were started, but {devices} devices on {machines} machines are {devices * machines}; "
                "give the numbers that torchrun was given."
            )
        return
    if machines > 1:
        missing = [name for name in ("MASTER_ADDR", "MASTER_PORT", "NODE_RANK") if name not in given]
        if missing:
            raise UserError(
                f"{machines} machines find each other by environment variables, but {', '.join(missing)} is not set; "
                "see 'On more than one machine' in docs/architecture.md."
            )
    if getattr(sys.modules["__main__"], "__spec__", None) is None and not Path(sys.argv[0]).is_file():
        raise UserError(
            "Several processes each run the script again, and an interactive session has none; "
            "run 'mpnp train --devices', or put the training into a file."
        )


def is_first() -> bool:
    """Whether this is the first, or the only, of the processes of a training: the one that tells."""
    from lightning.pytorch.utilities import rank_zero_only

    return int(getattr(rank_zero_only, "rank", 0) or 0) == 0


def share(model: Model, episode: Episode, rank: int, world: int) -> tuple[Episode, Place | None, float]:
    """The graphs of a batch that process ``rank`` of ``world`` works on, their place in it, and the weight of their loss.

    The cuts are where they divide the nodes most evenly. The mean of the weighted losses over all processes is the loss of
    the batch, and so with the gradients: a loss is a sum over graphs divided by the number of scored nodes, which the
    weight puts right. A process without a graph takes one that is another's, with weight 0.
    """
    if world == 1:
        return episode, None, 1.0
    graphs = episode.num_graphs
    even = torch.arange(world + 1).unsqueeze(1) * episode.num_nodes / world
    first, last = (episode.graph.ptr - even).abs().argmin(1)[rank : rank + 2].tolist()
    if first == last:
        return episode.part(0, 1), Place(0, graphs), 0.0
    part = episode.part(first, last)
    scored, of = (max(model.scored(each).numel(), 1) for each in (part, episode))
    return part, Place(first, graphs), world * scored / of
