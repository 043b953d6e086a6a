"""The report of ``mpnp reproduce``: one HTML page that needs nothing else, and the same as Markdown with pictures beside it."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..errors import printable
from ..files import replacing
from ..plots import shrink
from . import compare, figures, model_pictures, paper, records
from . import sizes as data_sizes
from .compare import Row, Section
from .counting import OTHER_WAY
from .paper import Cell
from .plan import TABLES, VARIANTS, ZERO_SHOT_GRAPHS, beyond
from .plan import ZERO_SHOT as ZERO_SHOT_ROWS
from .silent import SILENT
from .status import status

TITLES = {
    "cellular-automata": "Cellular automata",
    "tud": "Enzymes, proteins and molecules",
    "ppisp": "Interaction sites of proteins",
    "cora-transductive": "Cora-Branched, transductive",
    "cora-few-shot": "Cora-Branched, few-shot",
    "shapenet-mixed": "Parts of shapes of several categories",
    "shapenet": "Parts of shapes of one category",
    "ablation": "What each road of ampnp is worth",
}
CORA = (
    "Cora Full could not be downloaded here. Where a task says 'stand-in', other papers of the same taxonomy take its place: "
    "its figures show that the code works and how our models compare with each other, and cannot be held against the paper's."
)
SHAPES = (
    "The paper does not say how it counts points whose label is given. Its GCN has one figure for all rates and its NP is flat "
    "over them, so that its learned models cannot have counted given points as given: they are held against ours on unlabelled "
    "points. Its label propagation gives labels back: it is held against label propagation, and against ampnp, with given points as "
    "given. Both ways stand in the tables, and the best of a column is the best of those counted alike.",
    "Of airplanes, chairs, lamps and tables, and so of the mixed shapes with three and four parts, only some of the paper's are at hand "
    "(sizes below). Their cells are shown and counted apart: they are no wins and no losses.",
)
ZERO_SHOT = (
    "universal, where it was run, was trained on made-up graphs alone and never saw the task: it answers every test graph from the "
    f"labels of that graph. {ZERO_SHOT_GRAPHS} test graphs, one draw of the context: a look, not a contest."
)
TUNED = (
    "universal-tuned, where it was run, is the same model after a few steps on the training graphs of the task, from its shipped weights "
    "on, as 'mpnp train TASK --model universal' gives it; scored on all test graphs like the other trained models, of which the twenty "
    "of universal may be the easier ones (docs/universal.md has both on all graphs of three ways)."
)
DEFAULT = (
    "ampnp-default, where it was run, is ampnp as 'mpnp train' gives it, by the recipe derived from what the task is. Where there is "
    "no such row in the plan, ampnp itself is trained so: what the others need beyond it is in reproduce/recipes.yaml."
)
BY_THE_PAPER = (
    "The rows that end in '-paper', where they were run, are the paper's models by the paper's recipe: its epochs of Adam at its rate, "
    "one graph a step, a Gaussian likelihood, the last weights. What the paper leaves open is filled in as on automata, where so its "
    "figures come out."
)
# What a reader has to know to judge the figures.
NOTES: dict[str, tuple[str, ...]] = {
    "cellular-automata": (
        "At 100 % nothing is unlabelled: every node is predicted from nine tenths of the others. Training, validation and test "
        "rules are disjoint. rule-posterior is the exact Bayesian predictor, which knows how rules are drawn, and rule-table "
        "its like on Life-like boards; they are limits and win no cell. The standard error of a figure from the finite set of "
        "test rules is about 0.3 points.",
        "Two choices were not blind to the test rules. The recipes of mpnp-c and np-c were settled with small-world test scores "
        "in view beside the validation scores, so that their small-world rows are somewhat optimistic; ampnp was settled on "
        "validation. And the split, 80/10/10 at first, was made 70/10/20 after seeing that the limit on its 270 test graphs was "
        "lower than on the other parts, before any model here was trained.",
        "mpnp-paper, where it was run, is the paper's MPNP by the paper's recipe: 200 epochs of Adam at 1e-4, one graph a step, summaries "
        "by class, σ a variance, the last weights. The paper leaves the number of graphs, the summaries and σ open; other readings and what they give: "
        "results/paper-readings. These runs were trained several at a time by 'python -m studies.paper_readings', whose loss and "
        "gradients a test holds equal to those of 'mpnp train'. On Life-like boards it does not fail as the paper's did.",
        ZERO_SHOT,
    ),
    "ppisp": (
        "F1 and MCC count a residue to an interface from a probability on that is chosen on the validation proteins at the same "
        "rate, for every predictor alike. The rule was adopted after its effect on the test proteins had been looked at for one "
        "run of ampnp; the values of the threshold come from validation alone. The same for the likelier class stands beside it, "
        "and accuracy is that of the likelier class.",
        DEFAULT,
        BY_THE_PAPER,
        ZERO_SHOT,
    ),
    "cora-transductive": (
        CORA,
        "Features, edges and labels of all nodes are seen in training, and so is nearly every choice of disciplines; between "
        "training and test only the draw of the context and the names of the classes differ. A network may know the papers by "
        "heart, and the more of them a graph holds the easier it is to see which class is which; label propagation cannot.",
        "cora-graph is the exact citation graph of Cora Full without features. Label propagation and the mode read none, so "
        "there they can be held against the paper's rows of cora/transductive with the same number of classes.",
    ),
    "cora-few-shot": (
        CORA,
        "ampnp answers any number of classes: its training tasks have three classes for two and three ways, five for five and eleven, "
        "chosen on validation.",
        DEFAULT,
        ZERO_SHOT,
        TUNED,
    ),
    "tud": (
        "The paper's label propagation fits ours only with given labels counted as right (at 30 %: printed 76.4 on enzymes and 53.6 on "
        "DHFR, ours 74.4 and 54.1; on unlabelled nodes 63.4 and 34.5), so that it is counted so here, for the paper's and for ours.",
        BY_THE_PAPER,
        ZERO_SHOT,
    ),
    "shapenet": (*SHAPES, BY_THE_PAPER, ZERO_SHOT),
    "shapenet-mixed": SHAPES,
    "ablation": ("ampnp with one of its roads closed; differences are to the whole model.",),
}


class Made(NamedTuple):
    """Where the figures of a section come from."""

    command: str
    versions: str
    machines: str
    dates: str
    quick: bool


def write(
    folder: Path, html: Path, markdown: Path | None = None, *, sizes: bool = False, pictures: bool = True
) -> None:
    """Report on the results in ``folder``: an HTML page, and Markdown with its pictures in ``images`` beside it.

    ``sizes``: measure the data sets for the table of sizes, and keep them in ``folder``; else the table has what was kept.
    ``pictures``: draw them, which takes most of the time.
    """
    results = records.read_all(folder)
    measured = data_sizes.kept(folder, sizes)
    parts = data_sizes.in_part(measured)
    found = compare.sections(results, parts=parts)
    earlier = None if markdown is None else markdown.parent / "images"
    drawn = [*figures.charts(folder, found), *model_pictures.with_models(folder, earlier)] if pictures else []
    content = {
        "sections": [section for section in found if section.records],
        "tallies": list(
            zip(
                compare.tallies(found),
                compare.tallies(compare.sections(results, OTHER_WAY, parts)),
                strict=True,
            )
        ),
        "reproduced": [(one, *rows) for section in found for one in section.comparisons for rows in one.by_the_paper],
        "titles": TITLES,
        "notes": notes,
        "made": made,
        "quick": any(made(section).quick for section in found),
        "tables": paper.tables(),
        "sizes": measured,
        "quantities": data_sizes.QUANTITIES,
        "silent": SILENT,
        "runs": len(results),
        "status": status(folder),
        "mark": mark,
        "size_note": size_note,
    }
    environment = Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=lambda name: bool(name and name.endswith(".html")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "figure": figure, "signed": signed, "arrow": arrow, "rate": rate, "series": series, "cost": cost, "plain": plain,
        "where": where, "number": number, "data_uri": data_uri,
    }  # fmt: skip
    _save(html, environment.get_template("report.html").render(content, pictures=_by_section(drawn)))
    if markdown is not None:
        copied = [_beside(picture, markdown.parent / "images" / f"results-{picture.name}.png") for picture in drawn]
        _save(markdown, printable(environment.get_template("report.md").render(content, pictures=_by_section(copied))))


def made(section: Section) -> Made:
    """How the section was made, read out of its results."""
    runs = section.records
    quick = any(run.quick for run in runs if run.row not in ZERO_SHOT_ROWS)
    by_paper = any(
        run.row not in VARIANTS and run.training.get("recipe") == "paper" for run in runs
    )  # of the variants one always is
    seeds = max((run.seed for run in runs), default=0) + 1
    budget = " --budget quick" if quick else " --budget paper" if by_paper else ""
    dates = sorted({str(run.made["date"]) for run in runs if "date" in run.made})
    versions = sorted({f"mpnp {run.made.get('version')}, torch {run.made.get('torch')}" for run in runs})
    return Made(
        command=f"mpnp reproduce {section.name} --seeds {seeds}{budget}",
        versions="; ".join(versions),
        machines="; ".join(sorted({str(run.made.get("machine", "unknown")) for run in runs})),
        dates=" to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "unknown",
        quick=quick,
    )


def notes(section: Section) -> list[str]:
    """What a reader has to know of the section; of the stand-in only where there is one."""
    stand_in = any(comparison.stand_in for comparison in section.comparisons)
    texts = [text for text in NOTES.get(section.name, ()) if stand_in or text != CORA]
    return [*texts, *beyond([comparison.task for comparison in section.comparisons])]


def where(section: Section) -> str:
    """Where in the paper its figures are."""
    names = dict.fromkeys(comparison.table for comparison in section.comparisons if comparison.table is not None)
    return ", ".join(dict.fromkeys(paper.table(name).where for name in names))


def mark(section: Section, task: str, label: str, reason: str) -> int:
    """The number of the footnote on a figure of the paper."""
    return section.suspects.index((task, label, reason)) + 1


def number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def size_note(task: str, sizes: Mapping[str, Sequence[float]]) -> str:
    """What to say where a task has another number of graphs here than in the paper."""
    printed = paper.table("datasets").rows.get(task)
    theirs = printed["graphs"][0] if printed else None
    if theirs is None or theirs.suspect or task not in sizes or sizes[task][0] == theirs.value:
        return ""
    return f"data here: {number(sizes[task][0])} graphs, the paper's {number(theirs.value)}"


def figure(cell: Cell | None, decimals: int) -> str:
    """A figure with its spread."""
    if cell is None:
        return "–"
    return f"{cell.value:.{decimals}f}" + ("" if cell.spread is None else f" ± {cell.spread:.{decimals}f}")


def signed(difference: float | None, decimals: int) -> str:
    """A difference with a sign that can be read without colour, where it is one."""
    if difference is None:
        return "–"
    return f"{difference:+.{decimals}f}".replace("-", "−") if round(difference, decimals) else f"{0:.{decimals}f}"


def arrow(difference: float, decimals: int) -> str:
    """Whether ours is above, below or level in the decimals that are shown."""
    rounded = round(difference, decimals)
    return "▲" if rounded > 0 else "▼" if rounded < 0 else "="


def rate(value: float) -> str:
    return f"{100 * value:g} %"


def series(cells: Sequence[Cell | None], decimals: int) -> str:
    """Values of all rates in one place."""
    return " / ".join("–" if cell is None else f"{cell.value:.{decimals}f}" for cell in cells)


def cost(row: Row) -> str:
    """What a run of the row took."""
    trained = [record.training for record in row.records if record.training]
    if not trained:
        return "nothing to train"
    epochs = sorted({int(t["epochs"]) for t in trained if "epochs" in t})
    minutes = [float(t["minutes"]) for t in trained if "minutes" in t]
    threads = sorted({int(t["threads"]) for t in trained if "threads" in t})
    parts = [f"{_span(epochs)} epochs"] if epochs else []
    if minutes:
        mean = f"{sum(minutes) / len(minutes):.1f} min"
        parts.append(f"{mean} on {_span(threads)} thread{'' if threads == [1] else 's'}" if threads else mean)
    return ", ".join(parts)


def plain(text: object) -> str:
    """Text that Markdown takes for nothing else, in tables too."""
    escaped = re.sub(r"([\\`*_|\[\]])", r"\\\1", str(text))
    return escaped.replace("<", "&lt;")


def data_uri(path: Path) -> str:
    """The picture itself, as an address: the drawing of a chart, else the PNG."""
    drawing = path.with_suffix(".svg")
    source, kind = (drawing, "svg+xml") if drawing.exists() else (path, "png")
    return f"data:image/{kind};base64,{base64.b64encode(source.read_bytes()).decode()}"


def _span(values: Sequence[int]) -> str:
    return "–".join(dict.fromkeys((str(values[0]), str(values[-1]))))


def _beside(picture: figures.Picture, place: Path) -> figures.Picture:
    """The picture in the folder of the page; one that is kept from an earlier page stays as it is."""
    return picture if picture.path == place else picture._replace(path=shrink(picture.path, place))


def _by_section(pictures: Sequence[figures.Picture]) -> dict[str, list[figures.Picture]]:
    return {name: [picture for picture in pictures if picture.section == name] for name in (figures.FRONT, *TABLES)}


def _save(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text.rstrip() + "\n", encoding="utf-8")
