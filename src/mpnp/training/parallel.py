"""One training run in several processes: starting them, and the share of every batch that each works on."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from lightning.fabric.plugins.environments.lightning import LightningEnvironment, find_free_network_port
from lightning.pytorch.strategies import DDPStrategy

from ..episode import Episode
from ..errors import UserError
from ..models.base import LatentModel

T = TypeVar("T")
HELPER = "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); from mpnp.training.parallel import help_out; help_out()"


class Joined(DDPStrategy):
    """Lightning's data parallelism among processes that are there already.

    It would start them by running the whole script again, which a test, a notebook or a script with more to do than to
    train does not survive; forked ones may not use autograd if their parent did, spawned ones want a ``__main__`` guard.
    """

    def __init__(self) -> None:
        super().__init__(cluster_environment=LightningEnvironment(), process_group_backend="gloo")

    def _configure_launcher(self) -> None:
        """None."""


def check_processes(devices: int, nodes: int) -> None:
    """Raise a :class:`UserError` unless this machine can take its part in ``devices`` × ``nodes`` processes."""
    for name, value in (("devices", devices), ("nodes", nodes)):
        if value < 1:
            raise UserError(f"{name} = {value} was given, at least 1 is expected.")
    cores = os.cpu_count() or 1
    if devices > cores:
        raise UserError(f"{devices} devices (processes on one machine) were given, but this one has {cores} cores.")
    if devices * nodes == 1:
        return
    given = os.environ
    if "LOCAL_RANK" in given:
        started = int(given.get("WORLD_SIZE", devices * nodes))
        if started != devices * nodes:
            raise UserError(
                f"{started} processes were started, but {devices} devices on {nodes} nodes are {devices * nodes}; "
                "give the numbers that torchrun was given."
            )
    elif nodes > 1:
        missing = [name for name in ("MASTER_ADDR", "MASTER_PORT", "NODE_RANK") if name not in given]
        if missing:
            raise UserError(
                f"{nodes} nodes find each other by environment variables, but {', '.join(missing)} is not set; "
                "see 'On more than one machine' in docs/architecture.md."
            )


@contextmanager
def processes(devices: int, nodes: int, call: Callable[..., object], arguments: dict[str, Any]) -> Iterator[int]:
    """Join ``devices`` × ``nodes`` processes into one group; the rank of this one, 0 for the first.

    If no one did yet (as torchrun does), the others on this machine are started, to run ``call(**arguments)`` too, and end
    with the block. The cores are divided among them. Nothing is done for a single process.
    """
    if devices * nodes == 1:
        yield 0
        return
    before, threads, helpers = dict(os.environ), torch.get_num_threads(), list[subprocess.Popen[bytes]]()
    own_threads = arguments["threads"] or max(1, min(threads, (os.cpu_count() or 1) // devices))
    torch.set_num_threads(own_threads)
    local = int(before.get("LOCAL_RANK", 0))
    node = int(before.get("NODE_RANK", before.get("GROUP_RANK", 0))) if nodes > 1 else 0
    rank, world = node * devices + local, devices * nodes
    if "LOCAL_RANK" not in before and nodes == 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(find_free_network_port()))
    os.environ.update(NODE_RANK=str(node), LOCAL_RANK=str(local))
    try:
        if "LOCAL_RANK" not in before:
            for other in range(1, devices):
                helpers.append(_start(other, call, {**arguments, "threads": own_threads}))
        for helper in helpers:
            if not helper.stdout or not helper.stdout.readline():  # else everyone would wait for it half an hour
                raise RuntimeError("A training process could not be started; what it said stands above.")
        dist.init_process_group("gloo", rank=rank, world_size=world)
        yield rank
    except RuntimeError as error:
        if any(helper.poll() is not None for helper in helpers):
            raise UserError(
                "One of the training processes was killed; continue from the last epoch with the same command and --resume."
            ) from error
        raise
    finally:
        for helper in helpers:  # done, or waiting for a partner who after an error or Ctrl-C will not come
            helper.kill()
            helper.communicate()
        if dist.is_initialized():
            dist.destroy_process_group()
        torch.set_num_threads(threads)
        os.environ.clear()
        os.environ.update(before)


def _start(local_rank: int, call: Callable[..., object], arguments: dict[str, Any]) -> subprocess.Popen[bytes]:
    if type(arguments["task"]).__module__ == "__main__":
        kind = type(arguments["task"]).__name__
        raise UserError(
            f"Several processes must be able to import the task's class; put {kind} into a file of its own."
        )
    helper = subprocess.Popen(
        [sys.executable, "-c", HELPER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "LOCAL_RANK": str(local_rank)},
    )
    assert helper.stdin
    try:
        pickle.dump(sys.path, helper.stdin)
        pickle.dump((call, arguments), helper.stdin)
        helper.stdin.flush()
    except BrokenPipeError:  # it ended early, as is found out when it does not answer
        pass
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        helper.kill()
        raise UserError(f"The task cannot be handed to other processes ({error}); train in one.") from error
    return helper


def help_out() -> None:
    """What a started process does: the call it reads from standard input, in silence."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the first process, which ends this one
    warnings.filterwarnings("ignore")
    call, arguments = pickle.load(sys.stdin.buffer)
    print("ready", flush=True)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    call(**arguments)


def agreed(decide: Callable[[], T]) -> T:
    """What the first process decides, or the user's error it meets, in every process."""
    if not dist.is_initialized():
        return decide()
    said: list[Any] = [None]
    if dist.get_rank() == 0:
        try:
            said = [decide()]
        except UserError as error:
            said = [error]
    dist.broadcast_object_list(said)
    if isinstance(said[0], UserError):
        raise said[0]
    return said[0]


def share(model: LatentModel, episode: Episode, rank: int, world: int) -> tuple[Episode, float]:
    """The graphs of a batch that process ``rank`` of ``world`` works on, and the weight of their loss.

    The cuts are where they divide the nodes most evenly. The mean of the weighted losses over all processes is the loss of
    the batch, and so with the gradients: a loss is a sum over graphs divided by the number of scored nodes, which the
    weight puts right. A process without a graph takes one that is another's, with weight 0.
    """
    if world == 1:
        return episode, 1.0
    even = torch.arange(world + 1).unsqueeze(1) * episode.num_nodes / world
    first, last = (episode.graph.ptr - even).abs().argmin(1)[rank : rank + 2].tolist()
    if first == last:
        return replace(episode.part(0, 1), place=(0, episode.num_graphs)), 0.0
    part = replace(episode.part(first, last), place=(first, episode.num_graphs))
    scored, of = (max(model.scored(each).numel(), 1) for each in (part, episode))
    return part, world * scored / of
