"""results/node/README.md and its picture, from what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from mpnp.files import replacing
from mpnp.plots.style import save, shrink
from mpnp.tasks.nodes import GRAPHS

from . import storing
from .arenas import COUNTS, DRAWS, FEW, PUBLIC, SETTINGS
from .chart import few_labels_figure
from .contestants import outdated
from .published import PUBLISHED
from .storing import Record

NAMES = ("universal", "best-expert", "stack", "label-propagation", "logistic", "gcn", "mlp", "ampnp")
HUNDREDTHS = ("accuracy", "ece")  # in %
LARGER_IS_BETTER = ("accuracy",)
Found = dict[tuple[str, str], Record]  # by graph and contestant

TEXT = """# `universal` and its rivals on single graphs

Written by `python -m studies.nodes --model FOLDER`, which also draws the picture, from the JSON files here. {made}

- `universal`: trained on made-up graphs alone, never on these; it reads the labels shown and answers. {weights}
- `best-expert`: of its closed-form experts the single one that is right most often on the context, left one out.
- `stack`: its experts weighed by their likelihood on the context, left one out; nothing learned.
- `label-propagation`: as `mpnp` has it. It reads no features.
- `logistic`: softmax regression on features smoothed by personalised PageRank, the ridge chosen by likelihood on the validation labels.
- `gcn`, `mlp`: trained on the one graph; 2 layers, 64 hidden units, dropout 0.5, Adam with learning rate 0.01 and weight decay 5e-4, up to
  400 epochs, of which the weights with the best accuracy on the validation labels are taken (looked at every 10 epochs; 100 without a
  better one end it). Once with rows of features of length one and once with rows that sum to one, of which again the better on the
  validation labels is taken, split by split. One seed per split. They, `logistic` and `ampnp` alone see validation labels.
- `ampnp`: trained on the one graph, 100 steps, each of which shows a random part of the given labels and asks for all of them; the weights
  with the best accuracy on the validation labels are taken (looked at every 10 steps). On graphs of up to 1,500 nodes.
{outdated}
## Published splits

Labels under a split's training mask are shown, those under its test mask are scored; all splits. Cora and CiteSeer have one split, so no spread; else ± is the
standard deviation over splits. **Bold**: the best that was measured here. A dash: not measured.

### Accuracy, %

GraphAny and NodePFN: as published, not run here; NodePFN's splits may differ.

{accuracy}

Means over the graphs for which there are published figures:

{against}

### Negative log-likelihood

{nll}

### Expected calibration error, % (15 bins)

{ece}

### Conformal sets

Made from the labels shown and nothing else (`mpnp.own.sets`): labelled nodes are predicted without their own label, label propagation in ten
folds. 90 % were asked for: the share of test nodes whose set holds the true label, in %, and the mean number of labels in a set.

{sets}

{at_92}

### CPU seconds per split, one thread

Asking the experts is counted for all who read them; what they see without labels is computed once per graph and listed beside.

{seconds}
"""
FEW_TEXT = """
## A few labels per class

{draws} draws (seeds 0 to {last}) of {counts} labels per class, or of all there are, from the nodes outside the first split's test mask; scored on that
mask. There are no validation labels: `gcn` is trained for 100 epochs, with rows of length one.

![Accuracy over labels per class: mean over graphs, and graph by graph](few-labels.png)

Accuracy in %, mean over graphs and draws, {graphs}:

{means}

Graph by graph, {counts} labels per class; the last column is the largest standard deviation over draws among `universal`'s, or where it was not run `stack`'s:

{each}
"""


def load(setting: str) -> Found:
    found = {(graph, name): storing.stored(graph, name, setting) for graph in GRAPHS for name in NAMES}
    return {key: record for key, record in found.items() if record is not None}


def write() -> None:
    found = {setting: load(setting) for setting in SETTINGS}
    text = _public(found)
    few = {count: found[setting] for setting, count in FEW.items()}
    if any(few.values()):
        text += _few(few)
        picture = save(few_labels_figure(few, _names(*few.values())), storing.HERE / "few-labels.png")
        shrink(picture, picture)
    with replacing(storing.HERE / "README.md") as temporary:
        temporary.write_text(text, encoding="utf-8")


def _public(settings: dict[str, Found]) -> str:
    found = settings[PUBLIC]
    return TEXT.format(
        made=_made([record for one in settings.values() for record in one.values()]),
        weights=_weights(settings),
        outdated=_outdated(settings),
        accuracy=_scores(found, "accuracy", 1, published=True),
        against=_against(found),
        nll=_scores(found, "nll", 3),
        ece=_scores(found, "ece", 1),
        sets=_sets(found),
        at_92=_at_92(found),
        seconds=_seconds(found),
    )


def _made(records: Sequence[Record]) -> str:
    dates = sorted({record.made["date"] for record in records})
    machines = sorted({record.made["machine"] for record in records})
    when = " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "–"
    return f"Measured {when} on {', '.join(machines) or '–'}, one thread."


def _weights(settings: dict[str, Found]) -> str:
    used = {
        record.identity["weights"] for found in settings.values() for (_, name), record in found.items() if name == "universal"
    }  # fmt: skip
    return f"Weights: {', '.join(sorted(used))} (first digits of their SHA-256)." if used else "It was not run yet."


OUTDATED = """- †: measured before `amount`, `farx` and `pprx_rbf` were among the experts (`universal`, `best-expert`, `stack`), or with one
  scaling of the rows alone, that sum to one, and 200 epochs (`gcn`, `mlp`; on Texas of length one and 400); not measured again since.
"""


def _old(record: Record) -> str:
    return " †" if outdated(record.contestant, record.identity) else ""


def _outdated(settings: dict[str, Found]) -> str:
    return OUTDATED if any(_old(record) for found in settings.values() for record in found.values()) else ""


def _names(*founds: Found) -> list[str]:
    there = {name for found in founds for _, name in found}
    return [name for name in NAMES if name in there]


def _common(found: Found, names: Sequence[str]) -> list[str]:
    """The graphs that all ``names`` were measured on."""
    return [graph for graph in GRAPHS if all((graph, name) in found for name in names)]


def _means_over(found: Found, names: Sequence[str]) -> list[list[str]]:
    """All graphs measured, and those that every column has, where these are fewer; columns of a few graphs are left out."""
    every = [graph for graph in GRAPHS if any((graph, name) in found for name in names)]
    common = _common(found, [name for name in names if 2 * sum((g, name) in found for g in every) > len(every)])
    return [graphs for graphs in ([every] if every == common else [every, common]) if graphs]


def _scores(found: Found, metric: str, digits: int, published: bool = False) -> str:
    names, rivals = _names(found), PUBLISHED if published else {}
    factor = 100 if metric in HUNDREDTHS else 1
    rows = []
    for graph in [graph for graph in GRAPHS if any((graph, name) in found for name in names)]:
        values = {name: found[graph, name].mean(metric) for name in names if (graph, name) in found}
        best = (max if metric in LARGER_IS_BETTER else min)(values.values())
        cells = []
        for name in names:
            cell = "–"
            if name in values:
                cell = f"{factor * values[name]:.{digits}f}"
                cell = f"**{cell}**" if cell == f"{factor * best:.{digits}f}" else cell
                if len(found[graph, name].rows) > 1:
                    cell += f" ± {factor * found[graph, name].spread(metric):.{digits}f}"
                cell += _old(found[graph, name])
            cells.append(cell)
        rows.append([graph, *cells, *(f"{other[graph]:.1f}" if graph in other else "–" for other in rivals.values())])
    for graphs in _means_over(found, names):
        cells = ["–" if None in (records := [found.get((graph, name)) for graph in graphs])
                 else f"{factor * fmean(record.mean(metric) for record in records if record):.{digits}f}" for name in names]  # fmt: skip
        rows.append([f"mean of {len(graphs)}", *cells, *("" for _ in rivals)])
    return table(["graph", *(f"`{name}`" for name in names), *rivals], rows)


def _against(found: Found) -> str:
    names, rows = _names(found), []
    for rival, figures in PUBLISHED.items():
        graphs = [graph for graph in GRAPHS if graph in figures and any((graph, name) in found for name in names)]
        if graphs:
            theirs = fmean(figures[graph] for graph in graphs)
            cells = [
                f"{100 * fmean(found[graph, name].mean('accuracy') for graph in graphs):.1f}"
                if all((graph, name) in found for graph in graphs)
                else "–"
                for name in names
            ]
            rows.append([f"{rival}, {len(graphs)} graphs", f"{theirs:.1f}", *cells])
    return table(["published", "theirs", *(f"`{name}`" for name in names)], rows)


def _sets(found: Found) -> str:
    """Coverage and size of the sets at 90 %, of whom can make them, side by side."""
    names = [name for name in _names(found) if any(_has_sets(found.get((graph, name))) for graph in GRAPHS)]
    rows, kept = [], dict.fromkeys(names, 0)
    for graph in GRAPHS:
        records = {name: record for name in names if _has_sets(record := found.get((graph, name))) and record}
        if not records:
            continue
        cells = []
        for name in names:
            record = records.get(name)
            if record is None:
                cells.append("–")
                continue
            covered = 100 * record.mean("covered 0.9")
            kept[name] += abs(covered - 90) <= 2
            spread = f" ± {100 * record.spread('covered 0.9'):.1f}" if len(record.rows) > 1 else ""
            cells.append(f"{covered:.1f}{spread}; {record.mean('size 0.9'):.2f}")
        rows.append([graph, *cells])
    rows.append(["within 88 to 92", *(f"{kept[name]} of {len(rows)}" for name in names)])
    return table(["graph", *(f"`{name}`" for name in names)], rows)


def _at_92(found: Found) -> str:
    record = found.get(("cora_ml", "universal"))
    if record is None or not _has_sets(record):
        return ""
    return (
        f"`universal` on cora_ml, 92 % asked: {100 * record.mean('covered 0.92'):.1f} % covered by sets of "
        f"{record.mean('size 0.92'):.2f} labels on average (a published rival: 92.3 % by 1.73)."
    )


def _has_sets(record: Record | None) -> bool:
    return record is not None and all("covered 0.9" in row for row in record.rows)


def _seconds(found: Found) -> str:
    names, rows = _names(found), []
    for graph in GRAPHS:
        records = [found.get((graph, name)) for name in names]
        opening = [record.opening for record in records if record is not None and record.opening]
        if any(records):
            cells = ["–" if record is None else f"{record.mean('seconds'):.2f}" for record in records]
            rows.append([graph, f"{opening[0]:.2f}" if opening else "–", *cells])
    return table(["graph", "once", *(f"`{name}`" for name in names)], rows)


def _few(few: dict[int, Found]) -> str:
    names = _names(*few.values())
    graphs = [graph for graph in GRAPHS if all(graph in _common(found, names) for found in few.values())]

    def accuracy(count: int, graph: str, name: str) -> float:
        return 100 * few[count][graph, name].mean("accuracy")

    means = []
    for count in COUNTS if graphs else ():
        values = [fmean(accuracy(count, graph, name) for graph in graphs) for name in names]
        means.append([str(count), *(f"**{v:.1f}**" if v == max(values) else f"{v:.1f}" for v in values)])
    each = []
    for graph in GRAPHS:
        cells = [
            " / ".join(
                f"{accuracy(count, graph, name):.1f}{_old(few[count][graph, name])}"
                if (graph, name) in few[count]
                else "–"
                for count in COUNTS
            )
            for name in names
        ]
        shown = next((name for name in ("universal", "stack") if any((graph, name) in few[c] for c in COUNTS)), None)
        if shown is not None:
            spread = max(few[c][graph, shown].spread("accuracy") for c in COUNTS if (graph, shown) in few[c])
            each.append([graph, *cells, f"{100 * spread:.1f}"])
    head = [f"`{name}`" for name in names]
    return FEW_TEXT.format(
        draws=DRAWS,
        last=DRAWS - 1,
        counts=" / ".join(map(str, COUNTS)),
        graphs="all graphs" if len(graphs) == len(GRAPHS) else f"the {len(graphs)} graphs that every column has",
        means=table(["labels per class", *head], means),
        each=table(["graph", *head, "±"], each),
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])
