"""Write the tables of the front page from the results here: python -m studies.front_page"""

import re
from collections.abc import Sequence
from pathlib import Path

from mpnp.reproduce import compare, records
from mpnp.reproduce.compare import Comparison, Row
from mpnp.reproduce.counting import METRICS as COUNTED
from mpnp.reproduce.counting import OTHER_WAY
from mpnp.tasks.cellular_automata import FAMILIES

HERE = Path(__file__).parents[1] / "results"
PAGE = HERE.parent / "README.md"
BASELINES = ("unimp", "gnn", "r-gcn", "label-propagation", "mode")
REAL = (
    ("tud/enzymes", "accuracy"),
    ("tud/dhfr", "accuracy"),
    ("ppisp", "mcc"),
    ("shapenet/mug", "miou"),
    ("shapenet/table", "miou"),
    ("shapenet/mixed-2", "miou"),
    ("cora/transductive-3", "accuracy"),
    ("cora/few-shot-3", "accuracy"),
)
METRICS = {"accuracy": "accuracy", "miou": "mIoU", "mcc": "Matthews correlation"}
# Systems of all kinds stand in one line here, so that all points count for everyone.
COUNTING = {**COUNTED, "tud": COUNTED["accuracy"], "miou": OTHER_WAY["miou"]}


def main() -> None:
    found = {(c.task, name): c for s in compare.sections(records.read_all(HERE), COUNTING) if s.name != "ablation" for c in s.comparisons for name, metric in COUNTING.items() if metric == c.metric}  # fmt: skip
    automata = [
        "| task | `ampnp` | `mpnp-c` | the paper's MPNP, run here | state mode | limit | *as it printed* |", "|---|---|---|---|---|---|---|",
        *(_automaton(found[f"ca/{family}", "accuracy"]) for family in FAMILIES),
    ]  # fmt: skip
    real = [
        "| task | `ampnp` | best of our baselines | *best of the paper* |", "|---|---|---|---|",
        *(_real(found[place], place[1]) for place in REAL if _named(found[place].ours, "ampnp")),
    ]  # fmt: skip
    text = PAGE.read_text()
    for name, lines in (("automata", automata), ("real", real)):
        if any("–" in line for line in lines):  # not all of it has been run: what stands there stays
            print(f"The table '{name}' has holes and is left as it was.")
            continue
        before, begin, rest = re.split(rf"(<!-- {name}:begin[^\n]*-->\n)", text)
        text = before + begin + "\n".join(lines) + "\n" + rest[rest.index(f"<!-- {name}:end -->") :]
    PAGE.write_text(text)


def _automaton(of: Comparison) -> str:
    limit = "rule-table" if of.task == "ca/life-like" else "rule-posterior"
    ours = [_series(of, _named(of.ours, name)) for name in ("ampnp", "mpnp-c", "mpnp-paper", "state-mode", limit)]
    return f"| {of.task} | **{ours[0]}** | {' | '.join(ours[1:])} | *{_series(of, _named(of.theirs, 'mpnp'))}* |"


def _real(of: Comparison, metric: str) -> str:
    rates = " / ".join(f"{100 * rate:g}" for rate in of.rates)
    rivals = _best(of, [row for row in of.ours if row.name in BASELINES])
    theirs = "*other data*" if of.stand_in else f"*{_best(of, of.theirs)}*"
    task = f"{of.task}{' (stand-in data)' if of.stand_in else ''}, {METRICS[metric]} at {rates} %"
    return f"| {task} | {_series(of, _named(of.ours, 'ampnp'))} | {rivals} | {theirs} |"


def _named(rows: tuple[Row, ...], name: str) -> Row | None:
    return next((row for row in rows if row.name == name), None)


def _series(of: Comparison, row: Row | None) -> str:
    return "–" if row is None else " / ".join(_figure(of, cell.value if cell else None) for cell in row.cells)


def _best(of: Comparison, rows: Sequence[Row]) -> str:
    """The best figure at each rate, whoever's it is."""
    columns = zip(*(row.cells for row in rows), strict=True)
    return " / ".join(_figure(of, max((c.value for c in column if c), default=None)) for column in columns)


def _figure(of: Comparison, value: float | None) -> str:
    return "–" if value is None else f"{value:.{2 if of.decimals == 3 else 1}f}"


if __name__ == "__main__":
    main()
