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
    print(f"{'task':<22}{'graphs':>10}{'nodes':>9}{'features':>10}{'classes':>9}  data")
    for row in rows:
        sizes = [_size(row[key]) for key in ("graphs", "nodes", "features", "classes")]
        print(f"{row['task']:<22}{sizes[0]:>10}{sizes[1]:>9}{sizes[2]:>10}{sizes[3]:>9}  {row['data']}")


def _size(number: object) -> str:
    return "?" if number is None else f"{number:,}" if number else "any"
