"""Ours beside the paper's, as data: figures, differences, who wins, and how many cells ``ampnp`` wins in all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, isclose, isfinite
from statistics import fmean, stdev
from typing import Literal, NamedTuple

from . import paper
from .counting import GIVEN, GIVES_BACK, METRICS, Metric, metric_of, value
from .paper import Cell
from .plan import TABLES, VARIANTS, ZERO_SHOT
from .records import Record

OURS = "ampnp"
THEIRS = ("mpnp", "mpnp-c", "r-mpnp")  # the paper's model: one of them is in each of its tables
# The same model by the paper's recipe; and, while the same model has no run, the one with class-wise summaries, which is said.
SAME = {row: variant.stands_for for row, variant in VARIANTS.items() if variant.stands_for}
RELATIVES = {"mpnp-c": "mpnp", "np-c": "np"}
LIMITS = ("rule-table", "rule-posterior")  # they are told how rules work, so they win no cell
ORDER = (
    OURS, *VARIANTS, "universal", "mpnp-c", "mpnp", "r-mpnp", "np-c", "np", "unimp", "gnn", "r-gcn", "label-propagation", "state-mode", "mode",
    "rule-posterior", "rule-table",
)  # fmt: skip

Verdict = Literal["above", "level", "below", "part", "stand-in", "suspect", "not run"]
VERDICTS: tuple[Verdict, ...] = ("above", "level", "below", "part", "stand-in", "suspect", "not run")

Cells = tuple[Cell | None, ...]


@dataclass(frozen=True)
class Row:
    """A system's figures, a cell per context rate, and their ``differences`` to those of ``against``.

    ``counted``: the score they are; figures are ranked among those counted alike. ``relative``: ``against`` is another model.
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
    counted: str = ""
    relative: bool = False

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
    """``ampnp`` minus a figure of the paper; ``clear``: by more than twice the spread of both, as far as it is known.

    ``level``: no difference in the decimals that the paper prints; ``part``: only a part of the paper's data is at hand.
    """

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
    part: bool = False

    @property
    def by_the_paper(self) -> list[tuple[Row, Row]]:
        """Our rows by the paper's own recipe, each with the printed row of the same system."""
        printed = {row.name: row for row in self.theirs}
        return [(row, printed[SAME[row.name]]) for row in self.ours if SAME.get(row.name) in printed]

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


def sections(
    records: Sequence[Record], metrics: dict[str, Metric] = METRICS, parts: Iterable[str] = ()
) -> list[Section]:
    """Every table of the plan, with all tasks that were run or that the paper has figures for.

    ``parts``: tasks of whose data only a part is at hand (:func:`.sizes.in_part`).
    """
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
                comparisons += [_compare(task, t, metric_of(t, metrics), mine, task in parts) for t in printed]
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


def _rank(row: str) -> int:
    return ORDER.index(row) if row in ORDER else len(ORDER)


def _compare(
    task: str, table: paper.Table, metric: Metric, mine: Mapping[str, tuple[Record, ...]], part: bool
) -> Comparison:
    """Ours and the paper's on a task of its ``table``."""
    rates = table.rates
    factor = 100 if table.unit == "percent" else 1
    stand_in = any(record.table.data == "stand-in" for records in mine.values() for record in records)
    ours = [_measured(row, records, metric, rates, factor) for row, records in mine.items()]
    printed = table.rows[task]
    theirs = [Row(row, table.labels.get(row, row), cells, (), counted=metric.of(row)) for row, cells in printed.items()]
    given = _flagship(mine, metric.given or metric.key, rates, factor)
    if metric.given == metric.beside and OURS in mine:
        at = next(i for i, row in enumerate(ours) if row.name == OURS)
        ours.insert(at + 1, replace(ours[at], name="", label=f"{OURS}, given as given", cells=given, counted=metric.given,
                                    beside=ours[at].cells, records=()))  # fmt: skip
    if stand_in:  # nothing of the paper's can be held against these
        ours, _ = _with_winners(ours, [], len(rates))
    else:
        ours = [_against(row, printed, table.labels, known=mine) for row in ours]
        ours, theirs = _with_winners(ours, theirs, len(rates))
    flagship = _flagship(mine, metric.key, rates, factor)
    model = next(name for name in THEIRS if name in printed)
    decimals = max(len(str(entry.cell.value).partition(".")[2]) for entry in table.cells())

    def gap(row: str, column: int) -> Gap:
        one = flagship[column] if metric.of(row) == metric.key else given[column]
        return _gap(one, table.labels.get(row, row), printed[row][column], stand_in, part, decimals)

    def hardest(column: int) -> Gap:
        """Against the system that leaves ours the least, each in its own way of counting; without ours, the paper's best."""
        gaps = [gap(row, column) for row, cells in printed.items() if cells[column] is not None]
        known = [one for one in gaps if one.difference is not None]
        best = table.best(task, rates[column])[0]
        return min(known, key=lambda one: one.difference or 0.0) if known else gap(best, column)

    return Comparison(
        task=task,
        table=table.name,
        metric=metric,
        unit=table.unit,
        decimals=decimals,
        rates=rates,
        ours=tuple(ours),
        theirs=tuple(theirs),
        to_theirs=tuple(gap(model, column) for column in range(len(rates))),
        to_best=tuple(hardest(column) for column in range(len(rates))),
        stand_in=stand_in,
        part=part,
    )


def _flagship(mine: Mapping[str, tuple[Record, ...]], key: str, rates: Sequence[float], factor: int) -> Cells:
    return tuple(_mean(mine.get(OURS, ()), rate, key, factor) for rate in rates)


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
        cells(metric.of(row), factor),
        (False,) * len(rates),
        records=records,
        beside=cells(metric.beside_of(row), factor),
        nll=cells("nll", 1),
        ece=cells("ece", 100),
        counted=metric.of(row),
    )


def _mean(records: Sequence[Record], rate: float, key: str, factor: int) -> Cell | None:
    """Mean over seeds; spread over seeds, of a single one over its context draws, of a single draw unknown."""
    tables = [record.table for record in records]
    found = [(table.draws, row) for table in tables for there, row in table if isclose(there, rate)]
    present = [(draws, row) for draws, row in found if isfinite(value(row, key, rate))]
    if not present:
        return None
    values = [factor * value(row, key, rate) for _, row in present]
    if len(values) > 1:
        return Cell(fmean(values), stdev(values))
    draws, row = present[0]
    if draws == 1 or row.spread is None:
        return Cell(values[0], None)
    if key == GIVEN:
        return Cell(values[0], factor * (1 - rate) * row.spread.accuracy)
    return Cell(values[0], factor * value(row.spread, key, rate))


def _against(
    row: Row, rows: Mapping[str, Cells], labels: Mapping[str, str], rival: str | None = None, known: Iterable[str] = ()
) -> Row:
    """``row`` with its differences to the same system, or the one named, among ``rows``.

    To a relative only where the same system has no run among ``known``.
    """
    other = rival or next((name for name in (row.name, SAME.get(row.name)) if name in rows), None)
    relative = False
    if other is None:
        other = RELATIVES.get(row.name)
        relative = True
        if other is None or other not in rows or other in known:
            return row
    differences = tuple(
        None if one is None or two is None else one.value - two.value
        for one, two in zip(row.cells, rows[other], strict=True)
    )
    return replace(row, against=labels.get(other, other), differences=differences, relative=relative)


def _with_winners(ours: Sequence[Row], theirs: Sequence[Row], rates: int) -> tuple[list[Row], list[Row]]:
    """Mark the highest of the figures that are counted alike, for each rate; limits, zero-shot rows and figures that cannot be
    as printed do not count."""

    def fair(row: Row, column: int) -> float | None:
        cell = row.cells[column]
        return None if cell is None or row.limit or row.name in ZERO_SHOT or is_doubtful(cell) else cell.value

    highest: dict[tuple[str, int], float] = {}
    contested = {row.counted for row in (*ours, *theirs) if row.name not in GIVES_BACK}
    for row in (*ours, *theirs):
        for i in range(rates):
            figure = fair(row, i)
            if figure is not None:
                highest[row.counted, i] = max(figure, highest.get((row.counted, i), figure))

    def marked(row: Row) -> Row:
        return replace(
            row,
            wins=tuple(
                row.counted in contested and fair(row, i) is not None and fair(row, i) == highest[row.counted, i]
                for i in range(rates)
            ),
        )

    return [marked(row) for row in ours], [marked(row) for row in theirs]


def is_doubtful(cell: Cell) -> bool:
    """Whether the figure itself, not only its ±, cannot be as printed."""
    return cell.suspect is not None and not cell.suspect.startswith("spread:")


def _gap(
    ours: Cell | None, rival: str, theirs: Cell | None, stand_in: bool, part: bool = False, decimals: int = 2
) -> Gap:
    if ours is None or theirs is None:
        return Gap(rival, "not run")
    if stand_in:
        return Gap(rival, "stand-in")
    difference = ours.value - theirs.value
    if is_doubtful(theirs):
        return Gap(rival, "suspect", difference, reason=theirs.suspect)
    clear = abs(difference) > 2 * hypot(ours.spread or 0, theirs.spread or 0)
    if part:
        return Gap(rival, "part", difference, clear)
    if round(difference, decimals) == 0:
        return Gap(rival, "level", 0.0)
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
