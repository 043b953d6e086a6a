"""Ours beside the paper's, as data: figures, differences, who wins, and how many cells ``ampnp`` wins in all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, isclose, isfinite, nan
from statistics import fmean, stdev
from typing import Literal, NamedTuple

from ..evaluation.tables import Scores
from ..tasks import TASKS, get_task
from . import paper
from .paper import Cell
from .plan import TABLES, VARIANTS
from .records import Record

OURS = "ampnp"
THEIRS = ("mpnp", "mpnp-c", "r-mpnp")  # the paper's model: one of them is in each of its tables
# Where the paper prints only the plain model, ours with class-wise summaries is held against that.
RELATIVES = {"mpnp-paper": "mpnp", "mpnp-c": "mpnp", "np-c": "np"}
LIMITS = ("rule-table", "rule-posterior")  # they are told how rules work, so they win no cell
ORDER = (
    OURS, *VARIANTS, "mpnp-c", "mpnp", "r-mpnp", "np-c", "np", "unimp", "gnn", "r-gcn", "label-propagation", "state-mode", "mode",
    "rule-posterior", "rule-table",
)  # fmt: skip

Verdict = Literal["above", "below", "stand-in", "suspect", "not run"]
VERDICTS: tuple[Verdict, ...] = ("above", "below", "stand-in", "suspect", "not run")
QUANTITIES = ("graphs", "mean-nodes", "features", "classes")


class Metric(NamedTuple):
    """``key``: what is held against the paper's figure; ``beside``: the same thing counted in another way."""

    key: str
    name: str
    beside: str
    beside_name: str


# By the paper's name of the metric.
METRICS = {
    "accuracy": Metric(
        "accuracy", "accuracy on unlabelled nodes", "accuracy_paper", "accuracy on all targets, as the paper counts"
    ),
    "miou": Metric("miou_paper", "mIoU of all points, given ones as given", "miou", "mIoU of unlabelled points"),
    "f1": Metric("f1", "F-measure, threshold from validation", "f1_argmax", "F-measure, the likelier class"),
    "mcc": Metric("mcc", "Matthews correlation, threshold from validation", "mcc_argmax", "MCC, the likelier class"),
}

# The same with the other way of counting in front.
OTHER_WAY = {name: Metric(m.beside, m.beside_name, m.key, m.name) for name, m in METRICS.items()}

Cells = tuple[Cell | None, ...]


@dataclass(frozen=True)
class Row:
    """A system's figures, a cell per context rate, and their ``differences`` to those of ``against``.

    ``records``: the runs it is the mean of, none for the paper's rows, which have no ``beside``, ``nll`` and ``ece`` either.
    """

    name: str
    label: str
    cells: Cells
    wins: tuple[bool, ...]
    against: str | None = None
    differences: tuple[float | None, ...] = ()
    records: tuple[Record, ...] = ()
    beside: Cells = ()
    nll: Cells = ()
    ece: Cells = ()

    @property
    def over(self) -> str:
        """What the spread is taken over: seeds where there are several, else draws of the context."""
        if len(self.records) > 1:
            return f"{len(self.records)} seeds"
        draws = self.records[0].table.draws if self.records else 0
        return f"{draws} context draws" if draws > 1 else "one context draw"

    @property
    def limit(self) -> bool:
        return self.name in LIMITS


@dataclass(frozen=True)
class Gap:
    """``ampnp`` minus a figure of the paper; ``clear``: by more than twice the spread of both, as far as it is known."""

    rival: str
    verdict: Verdict
    difference: float | None = None
    clear: bool = False
    reason: str | None = None


@dataclass(frozen=True)
class Comparison:
    """One task in one metric. Figures are in the ``unit`` of the paper's ``table`` (percent where it has none)."""

    task: str
    table: str | None
    metric: Metric
    unit: str
    decimals: int
    rates: tuple[float, ...]
    ours: tuple[Row, ...]
    theirs: tuple[Row, ...]
    to_theirs: tuple[Gap, ...]
    to_best: tuple[Gap, ...]
    stand_in: bool

    @property
    def records(self) -> list[Record]:
        return [record for row in self.ours for record in row.records]


@dataclass(frozen=True)
class Section:
    """All that is run under one name of ``plan.TABLES``."""

    name: str
    comparisons: tuple[Comparison, ...]

    @property
    def records(self) -> list[Record]:
        found = {(r.task, r.row, r.seed): r for comparison in self.comparisons for r in comparison.records}
        return list(found.values())

    @property
    def suspects(self) -> list[tuple[str, str, str]]:
        """Task, the paper's system and why its figure cannot be as printed, each once."""
        found = {
            (comparison.task, row.label, cell.suspect): None
            for comparison in self.comparisons
            for row in comparison.theirs
            for cell in row.cells
            if cell is not None and cell.suspect
        }
        return list(found)


class Tally(NamedTuple):
    """How many cells of a table have which verdict against the paper's model and its best system; how many clearly above."""

    name: str
    cells: int
    to_theirs: Counter[Verdict]
    to_best: Counter[Verdict]
    clearly_theirs: int
    clearly_best: int


def sections(records: Sequence[Record], metrics: Mapping[str, Metric] = METRICS) -> list[Section]:
    """Every table of the plan, with all tasks that were run or that the paper has figures for."""
    found: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        found.setdefault((record.task, record.row), []).append(record)
    result = []
    for name, blocks in TABLES.items():
        comparisons = []
        for task in dict.fromkeys(task for block in blocks for task in block.tasks):
            rows = dict.fromkeys(row for block in blocks if task in block.tasks for row in block.rows)
            mine = {row: tuple(found[task, row]) for row in sorted(rows, key=_rank) if (task, row) in found}
            printed = [table for table in paper.tables().values() if table.rates and task in table.rows]
            if name == "ablation":
                names = [table.metric for table in printed] or ["accuracy"]
                comparisons += [
                    _ours_only(task, metrics[metric], mine, against=OURS) for metric in names if mine.keys() - {OURS}
                ]
            elif printed:
                comparisons += [_compare(task, table, metrics[table.metric], mine) for table in printed]
            elif mine:
                comparisons.append(_ours_only(task, metrics["accuracy"], mine))
        result.append(Section(name, tuple(comparisons)))
    return result


def tallies(found: Iterable[Section]) -> list[Tally]:
    """One line per table of the paper, and the total."""
    by_table: dict[str, list[Comparison]] = {}
    for section in found:
        for comparison in section.comparisons:
            if comparison.table is not None:
                by_table.setdefault(comparison.table, []).append(comparison)
    lines = [_tally(name, comparisons) for name, comparisons in by_table.items()]
    return [*lines, _tally("total", [c for comparisons in by_table.values() for c in comparisons])]


def measured_sizes() -> dict[str, tuple[float, ...]]:
    """Of every task in the paper's table of data sets whose data is here: QUANTITIES. Loads some of them."""
    result: dict[str, tuple[float, ...]] = {}
    for name in paper.table("datasets").rows:
        if name in TASKS and get_task(name).missing() is None:
            task = get_task(name)
            result[name] = (*task.size(), task.num_features, task.num_classes)
    return result


def _rank(row: str) -> int:
    return ORDER.index(row) if row in ORDER else len(ORDER)


def _compare(task: str, table: paper.Table, metric: Metric, mine: Mapping[str, tuple[Record, ...]]) -> Comparison:
    """Ours and the paper's on a task of its ``table``."""
    rates = table.rates
    factor = 100 if table.unit == "percent" else 1
    stand_in = any(record.table.data == "stand-in" for records in mine.values() for record in records)
    ours = [_measured(row, records, metric, rates, factor) for row, records in mine.items()]
    printed = table.rows[task]
    theirs = [Row(row, table.labels.get(row, row), cells, ()) for row, cells in printed.items()]
    if stand_in:  # nothing of the paper's can be held against these
        ours, _ = _with_winners(ours, [], len(rates))
    else:
        ours = [_against(row, printed, table.labels) for row in ours]
        ours, theirs = _with_winners(ours, theirs, len(rates))
    flagship = next((row.cells for row in ours if row.name == OURS), (None,) * len(rates))
    model = next(name for name in THEIRS if name in printed)
    best = [table.best(task, rate) for rate in rates]
    label = table.labels.get(model, model)
    return Comparison(
        task=task,
        table=table.name,
        metric=metric,
        unit=table.unit,
        decimals=max(len(str(entry.cell.value).partition(".")[2]) for entry in table.cells()),
        rates=rates,
        ours=tuple(ours),
        theirs=tuple(theirs),
        to_theirs=tuple(_gap(one, label, other, stand_in) for one, other in zip(flagship, printed[model], strict=True)),
        to_best=tuple(
            _gap(one, table.labels.get(row, row), other, stand_in)
            for one, (row, other) in zip(flagship, best, strict=True)
        ),
        stand_in=stand_in,
    )


def _ours_only(
    task: str, metric: Metric, mine: Mapping[str, tuple[Record, ...]], against: str | None = None
) -> Comparison:
    """A task the paper has no figures for; differences to our own row ``against``."""
    some = [record for records in mine.values() for record in records]
    rates = tuple(sorted({rate for record in some for rate, _ in record.table}))
    unit, factor = ("percent", 100) if metric.key.startswith(("accuracy", "miou")) else ("fraction", 1)
    rows = [_measured(row, records, metric, rates, factor) for row, records in mine.items()]
    if against is not None and against in mine:
        base = {against: next(row.cells for row in rows if row.name == against)}
        rows = [row if row.name == against else _against(row, base, {}, against) for row in rows]
    rows, _ = _with_winners(rows, [], len(rates))
    stand_in = any(record.table.data == "stand-in" for record in some)
    decimals = 2 if unit == "percent" else 3
    return Comparison(task, None, metric, unit, decimals, rates, tuple(rows), (), (), (), stand_in)


def _measured(row: str, records: tuple[Record, ...], metric: Metric, rates: Sequence[float], factor: int) -> Row:
    def cells(key: str, factor: int) -> Cells:
        return tuple(_mean(records, rate, key, factor) for rate in rates)

    return Row(
        row,
        row,
        cells(metric.key, factor),
        (False,) * len(rates),
        records=records,
        beside=cells(metric.beside, factor),
        nll=cells("nll", 1),
        ece=cells("ece", 100),
    )


def _mean(records: Sequence[Record], rate: float, key: str, factor: int) -> Cell | None:
    """Mean over seeds; spread over seeds, of a single one over its context draws, of a single draw unknown."""
    tables = [record.table for record in records]
    found = [(table.draws, row) for table in tables for there, row in table if isclose(there, rate)]
    present = [(draws, row) for draws, row in found if isfinite(_value(row, key))]
    if not present:
        return None
    values = [factor * _value(row, key) for _, row in present]
    if len(values) > 1:
        return Cell(fmean(values), stdev(values))
    draws, row = present[0]
    return Cell(values[0], factor * _value(row.spread, key) if draws > 1 and row.spread is not None else None)


def _value(row: Scores, key: str) -> float:
    """A score by name; NaN where it was not counted."""
    value = getattr(row, key)
    return nan if value is None else float(value)


def _against(row: Row, rows: Mapping[str, Cells], labels: Mapping[str, str], rival: str | None = None) -> Row:
    """``row`` with its differences to the same system, or the one named, among ``rows``."""
    other = rival or next((name for name in (row.name, RELATIVES.get(row.name)) if name in rows), None)
    if other is None:
        return row
    differences = tuple(
        None if one is None or two is None else one.value - two.value
        for one, two in zip(row.cells, rows[other], strict=True)
    )
    return replace(row, against=labels.get(other, other), differences=differences)


def _with_winners(ours: Sequence[Row], theirs: Sequence[Row], rates: int) -> tuple[list[Row], list[Row]]:
    """Mark the highest figure of each rate; limits and figures that cannot be as printed do not count."""

    def fair(row: Row, column: int) -> float | None:
        cell = row.cells[column]
        return None if cell is None or row.limit or is_doubtful(cell) else cell.value

    highest = [
        max((value for row in (*ours, *theirs) if (value := fair(row, i)) is not None), default=None)
        for i in range(rates)
    ]

    def marked(row: Row) -> Row:
        return replace(row, wins=tuple(highest[i] is not None and fair(row, i) == highest[i] for i in range(rates)))

    return [marked(row) for row in ours], [marked(row) for row in theirs]


def is_doubtful(cell: Cell) -> bool:
    """Whether the figure itself, not only its ±, cannot be as printed."""
    return cell.suspect is not None and not cell.suspect.startswith("spread:")


def _gap(ours: Cell | None, rival: str, theirs: Cell | None, stand_in: bool) -> Gap:
    if ours is None or theirs is None:
        return Gap(rival, "not run")
    if stand_in:
        return Gap(rival, "stand-in")
    difference = ours.value - theirs.value
    if is_doubtful(theirs):
        return Gap(rival, "suspect", difference, reason=theirs.suspect)
    clear = abs(difference) > 2 * hypot(ours.spread or 0, theirs.spread or 0)
    return Gap(rival, "above" if difference > 0 else "below", difference, clear)


def _tally(name: str, comparisons: Sequence[Comparison]) -> Tally:
    to_theirs = [gap for comparison in comparisons for gap in comparison.to_theirs]
    to_best = [gap for comparison in comparisons for gap in comparison.to_best]
    return Tally(
        name,
        len(to_theirs),
        Counter(gap.verdict for gap in to_theirs),
        Counter(gap.verdict for gap in to_best),
        sum(gap.verdict == "above" and gap.clear for gap in to_theirs),
        sum(gap.verdict == "above" and gap.clear for gap in to_best),
    )
