"""``universal`` and its rivals on the graphs ``node/*``: measures, draws and writes results/node.

    MPNP_DATA=… python -m studies.nodes --model FOLDER [--graphs cora citeseer …] [--only public|few] [--contestants universal gcn …]

Takes one thread. What is measured is not measured again; without ``--model``, figures of ``universal`` stand as they are.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from tqdm import tqdm

from mpnp.errors import UserError, unknown_name
from mpnp.tasks.nodes import GRAPHS

from . import page, storing
from .arenas import FEW, PUBLIC, SETTINGS, Arena
from .contestants import contestants


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m studies.nodes", description="Measures 'universal' and its rivals.")
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS), help="names of node/*; by default all")
    parser.add_argument("--only", choices=("public", "few"), help="published splits, or a few labels per class")
    parser.add_argument("--model", type=Path, help="folder of a trained 'universal'")
    parser.add_argument("--contestants", nargs="+", help="only these; by default all")
    asked = parser.parse_args(arguments)
    for graph in asked.graphs:
        if graph not in GRAPHS:
            raise unknown_name("graph", graph, GRAPHS)
    torch.set_num_threads(1)
    everyone = contestants(asked.model)
    for name in asked.contestants or ():
        if name not in {one.name for one in everyone}:
            raise unknown_name("contestant", name, [one.name for one in everyone])
    everyone = [one for one in everyone if asked.contestants is None or one.name in asked.contestants]
    settings = {"public": (PUBLIC,), "few": tuple(FEW), None: SETTINGS}[asked.only]
    with tqdm(total=len(settings) * len(asked.graphs), desc="nodes") as bar:
        for graph in asked.graphs:
            arena = Arena.named(graph)
            for setting in settings:
                bar.set_postfix_str(f"{graph}, {setting}")
                if left := storing.pending(arena, setting, everyone):
                    storing.measure(arena, setting, left)
                bar.update()
    page.write()


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(f"error: {error}")
