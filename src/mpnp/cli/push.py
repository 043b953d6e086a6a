"""``mpnp push``."""

from __future__ import annotations

import json
from pathlib import Path

from jsonargparse import ArgumentParser, Namespace

from ..errors import UserError
from .names import HUB

HELP = "bring a trained model to the Hugging Face hub, with a card that tells its figures"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", type=str, help="the folder of a trained model")
    parser.add_argument("name", type=str, help="what it is called there, as user/name")
    parser.add_argument("--private", action="store_true", help="for you alone")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(options: Namespace) -> None:
    folder, name = Path(options.run), options.name.removeprefix(HUB)
    if not folder.is_dir():
        raise UserError(f"There is no folder {folder}; give the one that 'mpnp train' wrote.")
    if name.count("/") != 1 or not all(name.split("/")):
        raise UserError(f"'{options.name}' was given; a model on the hub is called user/name.")

    from ..models import from_pretrained
    from ..models.hub import push

    from_pretrained(folder)  # what cannot be loaded is not pushed
    address = push(folder, name, private=options.private)
    if options.json:
        print(json.dumps({"address": address, "model": HUB + name}))
        return
    print(f"The model is at {address}; use it as {HUB}{name}.")
