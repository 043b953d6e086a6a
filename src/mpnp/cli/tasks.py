"""``mpnp tasks``."""

from __future__ import annotations

import json

from jsonargparse import ArgumentParser, Namespace

HELP = "every task: graphs, nodes, features, classes, data present or how to get it"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(options: Namespace) -> None:
    from ..tasks import describe

    rows = describe()
    if options.json:
        print(json.dumps({"tasks": rows}))
        return
    print(f"{'task':<22}{'graphs':>8}{'nodes':>9}{'features':>10}{'classes':>9}  data")
    for row in rows:
        sizes = [f"{row[key]:,}" if row[key] is not None else "?" for key in ("graphs", "nodes", "features", "classes")]
        print(f"{row['task']:<22}{sizes[0]:>8}{sizes[1]:>9}{sizes[2]:>10}{sizes[3]:>9}  {row['data']}")
