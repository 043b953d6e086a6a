"""What to compute on. Models take their device from their own weights; everything else stays where it is."""

from __future__ import annotations

import torch

from ..errors import UserError


def find_device(name: str) -> torch.device:
    """The device ``name``: auto, cpu, cuda or mps, possibly with a number, as cuda:1.

    ``auto`` is an Nvidia GPU if there is one, else the processor; Apple's GPUs, which have no double precision, are taken
    only where they are asked for.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UserError(f"The device '{name}' was given; auto, cpu, cuda or mps is expected.") from error
    count = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    if device.type not in count:
        raise UserError(f"The device '{name}' was given; auto, cpu, cuda or mps is expected.")
    if (device.index or 0) >= count[device.type]:
        here = ", ".join(kind if number == 1 else f"{number} of {kind}" for kind, number in count.items() if number)
        raise UserError(f"The device '{name}' is not on this machine, which has {here}; choose cpu, or auto.")
    return device
