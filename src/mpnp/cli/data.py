"""``mpnp data``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from jsonargparse import ArgumentParser, Namespace

HELP = "prepare published data that has no stable download from a local copy"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("action", type=Literal["prepare"], help="what to do")
    parser.add_argument("name", type=Literal["shapenet", "ppisp"], help="which data")
    parser.add_argument("--from", type=str, default=None, dest="source", help="folder of the upstream copy")
    parser.add_argument("--out", type=str, default=None, help="data folder (default: $MPNP_DATA, else the cache)")


def run(options: Namespace) -> None:
    from ..tasks.prepare import PREPARERS, instructions
    from ..tasks.sources import data_root

    if options.source is None:
        print(f"mpnp: --from is missing.\n{instructions(options.name)}", file=sys.stderr)
        sys.exit(2)
    written = PREPARERS[options.name](Path(options.source), Path(options.out) if options.out else data_root())
    files = written if isinstance(written, list) else [written]
    print(f"{len(files)} file(s) written to {files[0].parent}.")
