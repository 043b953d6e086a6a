"""Where models are unsure: measures what the README here tells, draws its pictures and writes it.

    MPNP_DATA=… python results/uncertainty/measure.py       ten minutes on one core; what is measured is not measured again

Takes the models that 'mpnp reproduce --out results' has left in results/runs.
"""

import json
from pathlib import Path

import torch

import mpnp
from mpnp import plots
from mpnp.borders import border_shares
from mpnp.files import without_nan, write_json
from mpnp.models.base import LatentModel
from mpnp.provenance import provenance
from mpnp.reproduce.plan import Job
from mpnp.shift import mean_uncertainty

HERE = Path(__file__).parent
MODELS = ("np", "mpnp", "mpnp-c", "gnn", "ampnp")
SHAPES = ("mug", "bag", "cap", "earphone", "rocket", "skateboard")
BORDER_RATES = (0.001, 0.01, 0.1)
# Home, abroad, models, rates, graphs of each.
SHIFTS = {
    "automata": ("ca/small-world", ("ca/scale-free", "ca/voronoi", "ca/life-like"), ("ampnp", "mpnp-c"), (0, 0.01, 0.05, 0.1, 0.3, 0.6, 0.9), 60),
    "shapes": ("shapenet/mug", ("shapenet/cap", "shapenet/bag", "shapenet/laptop", "shapenet/chair"), ("ampnp", "mpnp", "np"), (0, 0.001, 0.01, 0.1), 11),
}  # fmt: skip


# What is told: the introduction, then a section for each measurement that there is.
INTRODUCTION = """# Where models are unsure

Written by [measure.py](measure.py), which also draws the pictures; seed 0, one draw of the context per rate, models as
`mpnp reproduce` leaves them in `results/runs`, 32 latent samples, drawn anew for each graph. Machine, date and training of each model are in the JSON
files here.
"""
BORDERS = """## At the borders of parts

![Four mugs: true parts, and the uncertainty of np, mpnp and ampnp](gallery.png)

The paper says that an MPNP is unsure where parts meet, an NP on whole stretches of a shape, and shows pictures. Measured over
all test shapes: which share of a model's uncertainty, and of its mistakes, lies within two steps of a border (a point with a
neighbour of another part), and, to compare with, which share of the points. All in %; labels that are shown do not count.

{table}

On mugs the order is `np`, `mpnp`, `gnn`, `ampnp`; the step from `np` to `mpnp` is in the paper's direction and small. Neither of them
changes with more labels, as they hardly use them once the category is known; `ampnp` does.
"""
SHIFT = """## Away from home: {kind}

Mean epistemic uncertainty of the hidden nodes, nats, first {graphs} test graphs of each family. It should fall as more labels are shown,
and be higher on a family (in bold) that the model was not trained on: than at home, and than that of the model that is at home
there, where there is one, which tells a foreign family from a harder one.

![Uncertainty at home and abroad](shift-{kind}.png)

{table}

{seen}
"""
SEEN = {
    "automata": "Life-like boards have 900 cells, the other graphs 100 to 200: at the same rate more labels are shown there.",
    "shapes": (
        "Chairs have four parts and so up to twice the uncertainty; `np` and `mpnp`, trained on two, cannot be asked. `ampnp` passes: "
        "once a label is shown, its epistemic uncertainty is several times higher on each of the four than on mugs. With none "
        "shown it is the same everywhere: what is foreign it notices by the labels, not by the shape. On laptops it first rises with "
        "more labels, which contradict what it knows of mugs. `np` and `mpnp` do not pass: they are less sure of caps, but surer of "
        "bags and laptops than of mugs, while half of the laptops' points are wrong, and labels change nothing."
    ),
}


def folder(task: str, model: str) -> Path:
    return HERE.parent / "runs" / Job(task, model).name


def trained(task: str, model: str) -> LatentModel | None:
    place = folder(task, model)
    return mpnp.from_pretrained(place) if (place / "metrics.json").exists() else None


def measure_borders() -> list[dict]:
    tables = []
    for shape in SHAPES:
        task = mpnp.get_task(f"shapenet/{shape}")
        for name in MODELS:
            model = trained(task.name, name)
            if model is not None:
                made = provenance(folder(task.name, name))
                tables.append(border_shares(model, task, BORDER_RATES) | {"made": made})
    return tables


def measure_shift(kind: str) -> list[dict]:
    """Each model at home and abroad, and abroad also the model that is at home there."""
    home, abroad, names, rates, graphs = SHIFTS[kind]
    tables: list[dict] = []
    if not any((folder(home, name) / "metrics.json").exists() for name in names):
        return tables
    for place in (home, *abroad):
        task = mpnp.get_task(place)
        for name in names:
            for origin in dict.fromkeys((home, place)):
                model = trained(origin, name)
                if model is None or not (model.any_classes or model.config.num_classes == task.num_classes):
                    continue
                table = mean_uncertainty(model, task, rates, graphs=graphs)
                tables.append(table | {"trained_on": origin, "made": provenance(folder(origin, name))})
    return tables


def kept(name: str, work) -> list[dict]:
    """What was measured before, else what can be measured now; nothing is kept of nothing."""
    path = HERE / f"{name}.json"
    if path.exists():
        return json.loads(path.read_text())
    tables = without_nan(work())
    if tables:
        write_json(path, tables)
    return tables


def border_lines(tables: list[dict]) -> list[str]:
    cells = [f"{100 * rate:g} %" for rate in BORDER_RATES]
    lines = [f"| shapes | nodes there | model | uncertainty there at {' / '.join(cells)} | its epistemic part | mistakes there | accuracy |", "|---|---|---|---|---|---|---|"]  # fmt: skip
    for table in tables:
        rows = table["rates"].values()

        def share(key: str, rows=rows) -> str:
            return " / ".join("–" if row[key] is None else f"{100 * row[key]:.0f}" for row in rows)

        nodes = next(iter(rows))["nodes"]
        right = " / ".join(f"{100 * row['accuracy']:.1f}" for row in rows)
        lines.append(f"| {table['task'].split('/')[1]} | {100 * nodes:.0f} | `{table['model']}` | {share('total')} | {share('epistemic')} | {share('mistakes')} | {right} |")  # fmt: skip
    return lines


def shift_lines(tables: list[dict], home: str) -> list[str]:
    rates = list(tables[0]["rates"])
    lines = [f"| model | trained on | tested on | {' | '.join(f'{100 * float(r):g} %' for r in rates)} | accuracy |", "|---" * (4 + len(rates)) + "|"]  # fmt: skip
    for table in sorted(tables, key=lambda t: t["model"]):
        rows = table["rates"].values()
        values = " | ".join(f"{row['epistemic']:.4f}" for row in rows)
        right = " / ".join(f"{100 * row['accuracy']:.1f}" for row in rows)
        there = table["task"] if table["task"] == home else f"**{table['task']}**"
        lines.append(f"| `{table['model']}` | {table['trained_on']} | {there} | {values} | {right} |")
    return lines


def draw_shift(kind: str, tables: list[dict]) -> None:
    home = SHIFTS[kind][0]
    own = [table for table in tables if table["trained_on"] == home]
    at_home = [table for table in own if table["task"] == home]
    # Uncertainty grows with the number of classes, so that only places with as many can be in one chart.
    alike = [t for t in own if t["task"] != home and t["task"] != "shapenet/chair"]
    plots.save(plots.shift_figure(at_home, alike), HERE / f"shift-{kind}.png")


def draw_gallery() -> None:
    task = mpnp.get_task("shapenet/mug")
    models = {name: trained(task.name, name) for name in ("np", "mpnp", "ampnp")}
    if all(models.values()):
        rows = plots.compare(models, task, [0, 1, 2, 3], rate=0.01, kind="gallery")
        picture = plots.save_rows(rows, HERE / "gallery.png", "Mugs, one label in a hundred shown")
        plots.shrink(picture, picture)


def main() -> None:
    torch.set_num_threads(1)
    parts = [INTRODUCTION]
    borders = kept("borders", measure_borders)
    if borders:
        draw_gallery()
        parts.append(BORDERS.format(table="\n".join(border_lines(borders))))
    for kind, (home, *_, graphs) in SHIFTS.items():
        tables = kept(f"shift-{kind}", lambda kind=kind: measure_shift(kind))
        if tables:
            draw_shift(kind, tables)
            table = "\n".join(shift_lines(tables, home))
            parts.append(SHIFT.format(kind=kind, graphs=graphs, table=table, seen=SEEN[kind]))
    (HERE / "README.md").write_text("\n".join(parts))


if __name__ == "__main__":
    main()
