"""``mpnp reproduce``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Literal

from jsonargparse import ArgumentParser, Namespace

from ..errors import UserError, unknown_name
from .common import add_computing, at_least, set_up
from .names import TABLES, TASKS

HELP = "run what is missing of the paper's tables and write a report: ours beside the paper's"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "tables",
        type=str,
        nargs="*",
        default=[],
        help="{tables} (default: all)",
    )
    parser.add_argument("--tasks", type=str, nargs="+", default=[], help="only these, by name ('mpnp tasks')")
    parser.add_argument("--models", type=str, nargs="+", default=[], help="only these, of {models}, {baselines}")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each model, with seeds 0, 1, …")
    parser.add_argument(
        "--budget",
        type=Literal["quick", "default", "paper"],
        default="default",
        help="quick: minutes per table; paper: the paper's recipes and epochs for its models",
    )
    parser.add_argument(
        "--out", type=str, default=None, help="folder for results and report (default: reproduce-BUDGET)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, one thread each (1: all threads for one)")
    parser.add_argument("--engine", type=Literal["local", "ray"], default="local", help="where the runs take place")
    parser.add_argument("--address", type=str, default=None, help="of a Ray cluster (default: one is started here)")
    parser.add_argument(
        "--markdown", type=str, default=None, help="the report as Markdown too (default: OUT/report.md)"
    )
    add_computing(parser, seed=False, device=False)  # figures are those of a processor
    parser.add_argument("--report-only", action="store_true", help="run nothing, write the report of what is there")
    parser.add_argument(
        "--status", action="store_true", help="run nothing, say which printed rows are run and which not"
    )


def run(options: Namespace) -> None:
    at_least(options, seeds=1, jobs=1, threads=1)
    if options.address and options.engine != "ray":
        raise UserError("--address is that of a Ray cluster; give --engine ray with it.")
    for given, known, kind in ((options.tables, TABLES, "table"), (options.tasks, TASKS, "task")):
        for name in given:
            if name not in known:
                raise unknown_name(kind, name, known)

    from ..reproduce import grid, plan, report

    set_up(options)
    jobs = plan.jobs(
        options.tables, tasks=options.tasks, rows=options.models, seeds=options.seeds, budget=options.budget
    )
    folder = Path(options.out or f"reproduce-{options.budget}")
    if options.report_only and not folder.is_dir():
        raise UserError(f"There is no folder {folder} to report on; leave out --report-only to make the runs.")
    if options.status:
        _print_status(folder, options)
        return
    failed, summary = [], None
    if not options.report_only:
        summary = grid.run(jobs, folder, workers=options.jobs, engine=options.engine, address=options.address)
        failed = summary.failed
        if not options.json:
            print(f"{summary.done} runs done now, {summary.before} before, {len(failed)} failed.")
        for task, text in {outcome.job.task: outcome.error for outcome in summary.missing}.items():
            print(f"{task} was left out: {text}", file=sys.stderr)
        for outcome in failed:
            print(f"{outcome.job.name} failed: {outcome.error} (folder {folder / 'errors'})", file=sys.stderr)
    page = folder / "report.html"
    report.write(
        folder,
        page,
        Path(options.markdown) if options.markdown else folder / "report.md",
        sizes=not options.tables and not options.tasks,  # to measure the data of all tasks takes a while
    )
    if options.json:
        counts = {"now": summary.done, "before": summary.before, "failed": len(failed)} if summary else None
        print(json.dumps({"report": str(page), "runs": counts}))
    else:
        print(f"The report is in {page}.")
    if failed:
        sys.exit(1)


def _print_status(folder: Path, options: Namespace) -> None:
    from ..reproduce.status import status

    if not folder.is_dir():
        raise UserError(f"There is no folder {folder} to look at; give --out the folder of your results.")
    found = status(folder, options.tables)
    print(json.dumps(found.to_dict(), indent=2) if options.json else found.to_text())
