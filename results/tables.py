"""Write README.md in results/tud, ppisp, shapenet and cora from the JSON files there: ours beside the paper's."""

import json
from pathlib import Path

from mpnp.errors import UserError
from mpnp.reproduce import paper
from mpnp.tasks import get_task

HERE = Path(__file__).parent
FAMILIES = {
    "tud": "Node classes of small molecules and proteins",
    "ppisp": "Protein interfaces",
    "shapenet": "Parts of shapes",
    "cora": "Cora-Branched",
    "cora-graph": "Cora-Branched on the exact citation graph, without features",
}
ORDER = ("ampnp", "mpnp-c", "mpnp", "r-mpnp", "np-c", "np", "unimp", "gnn", "r-gcn", "label-propagation", "mode")
# What is reported besides accuracy: our name, the paper's, and how it is called.
METRICS = {
    "tud": [("accuracy", "accuracy", "accuracy, %")],
    "ppisp": [
        ("mcc", "mcc", "Matthews correlation, threshold chosen on validation, %"),
        ("f1", "f1", "F1, the same threshold, %"),
        ("mcc_argmax", "", "Matthews correlation, the likelier class, %"),
        ("f1_argmax", "", "F1, the likelier class, %"),
        ("accuracy", "accuracy", "accuracy, the likelier class, %"),
    ],
    "shapenet": [("miou_paper", "miou", "mIoU of all points, %")],
    "cora": [("accuracy", "accuracy", "accuracy, %")],
    "cora-graph": [("accuracy", "accuracy", "accuracy, %")],
}

NOTES = {
    "ppisp": [
        "F1 and MCC count a residue to an interface from a probability on that is chosen on the validation proteins at the same "
        "rate, for every predictor alike. The rule was adopted after its effect on the test proteins had been looked at for one "
        "run of `ampnp`; the values of the threshold come from validation alone.",
        "",
    ],
}


def measured(task: str) -> dict[str, dict]:
    found = {name: HERE / task / f"{name}.json" for name in ORDER}
    return {name: json.loads(path.read_text()) for name, path in found.items() if path.exists()}


def printed(task: str, metric: str) -> dict[str, list[str]]:
    """The paper's rows in %, where it has any."""
    try:
        table = paper.results(task, metric)
    except UserError:  # the paper has no such table
        return {}
    factor = 1 if table.unit.startswith("percent") or table.unit == "%" else 100
    rows = {}
    for row, cells in table.rows[task].items():
        rows[table.labels.get(row, row)] = [
            "" if c is None else f"{factor * c.value:.1f}" + (" (suspect)" if c.suspect else "") for c in cells
        ]
    return rows


def section(family: str, task: str) -> list[str]:
    ours = measured(task)
    if not ours:
        return []
    rates = list(next(iter(ours.values()))["rates"])
    heads = [f"{100 * float(rate):g} %" for rate in rates]
    lines = [f"## {task}", ""]
    if get_task(task).source == "stand-in":
        lines += ["On a stand-in for Cora Full: not comparable with the paper's figures.", ""]
    for key, theirs, name in METRICS[family]:
        lines += [f"| {name} | " + " | ".join(heads) + " | NLL | ECE, % | training |", "|---" * (len(heads) + 4) + "|"]
        for predictor, table in ours.items():
            cells = [table["rates"][rate] for rate in rates]
            values = [f"{100 * c[key]:.2f} ± {100 * c[key + '_std']:.2f}" for c in cells]
            training = table["made"].get("training")
            cost = f"{training['epochs']} epochs, {training['minutes']:.1f} min" if training else "–"
            nll, ece = (" / ".join(f"{f * c[k]:.{d}f}" for c in cells) for k, f, d in (("nll", 1, 2), ("ece", 100, 1)))
            lines.append(f"| {predictor} | " + " | ".join(values) + f" | {nll} | {ece} | {cost} |")
        for row, values in printed(task, theirs).items():
            lines.append(f"| *paper: {row}* | " + " | ".join(f"*{v}*" for v in values) + " | | | |")
        lines.append("")
    return lines


def main() -> None:
    for family, title in FAMILIES.items():
        tasks = sorted({path.parent.relative_to(HERE).as_posix() for path in (HERE / family).rglob("*.json")})
        body = [line for task in tasks for line in section(family, task)]
        if not body:
            continue
        made = next(iter(measured(tasks[0]).values()))["made"]
        head = [
            f"# {title}",
            "",
            f"Made by `bash results/run.sh {family}` (version {made['version']}, {made['machine']}, one thread per run): default "
            "recipes, seed 0, mean ± spread over 3 context draws, unlabelled nodes only (mIoU: all points, given labels counting as given).",
            "",
            *NOTES.get(family, []),
        ]
        (HERE / family / "README.md").write_text("\n".join(head + body), encoding="utf-8")


main()
