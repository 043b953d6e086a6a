"""Draw what run.sh measured: accuracy per family as bars, and a Life-like board under its models."""

import json
from pathlib import Path

from table import PAPER, RATES

import mpnp
from mpnp import plots

HERE = Path(__file__).parent
SHOWN = ("ampnp", "mpnp-c", "np-c", "state-mode", "rule-posterior", "rule-table")


def main() -> None:
    for family, paper in PAPER.items():
        limit = "rule-table" if family == "life-like" else "rule-posterior"
        names = [name for name in SHOWN if not name.startswith("rule") or name == limit]
        files = [HERE / family / f"{name}.json" for name in names]
        if not all(file.exists() for file in files):
            continue
        tables = [json.loads(file.read_text()) for file in files]
        theirs = {name: [float(paper[name][i].split()[0]) for i in range(len(RATES))] for name in ("MPNP", "NP")}
        plots.save(plots.accuracy_figure(tables, theirs), HERE / family / "accuracy.png")

    folders = {name: Path(f"runs/ca-life-like-{name}") for name in ("ampnp", "mpnp-c")}
    if not all((folder / "metrics.json").exists() for folder in folders.values()):
        return
    board = next(mpnp.episodes(mpnp.get_task("ca/life-like"), 0.1, seed=0)).only(0)
    models = {name: mpnp.from_pretrained(folder) for name, folder in folders.items()}
    predictions = {name: model.predict(board) for name, model in models.items()}
    plots.save(plots.board_figure(board, predictions), HERE / "life-like" / "board.png")


if __name__ == "__main__":
    main()
