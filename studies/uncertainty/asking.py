"""Which node to label next: what each strategy is worth against asking at random."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple

import torch
from matplotlib import colormaps
from matplotlib.figure import Figure

import mpnp
from mpnp import plots
from mpnp.active import ReplayTable, replay
from mpnp.active.curves import BASELINE, Worth
from mpnp.active.replay import first_episode
from mpnp.evaluation.provenance import provenance
from mpnp.models import PREDICTORS

from .kept import HERE, folder, kept, predictor, table


class Case(NamedTuple):
    """``start`` labels per graph, then ``steps`` times ``per_step`` more; ``graphs`` of the test graphs, drawn (all: None)."""

    task: str
    model: str
    start: int
    steps: int
    per_step: int = 1
    graphs: int | None = None
    draws: int = 3


NEAR = 0.005  # behind the best strategy, in points of the area / 100, that is counted as none
STRATEGIES = ("entropy", "epistemic", "margin", "deviation", "spread", "typical", "age", "featprop", "grain", "auto")
CASES = (
    Case("shapenet/table", "ampnp", 1, 20, graphs=40, draws=2),
    Case("shapenet/mug", "ampnp", 1, 20, draws=2),
    Case("shapenet/mug", "mpnp", 1, 20, draws=1),
    Case("cora/few-shot-3", "ampnp", 3, 20, graphs=60),
    Case("cora/transductive-3", "ampnp", 3, 20, graphs=20, draws=1),
    Case("ca/life-like", "ampnp", 5, 20, per_step=5, graphs=60, draws=2),
    Case("ca/small-world", "ampnp", 1, 20, graphs=60),
    Case("tud/enzymes", "ampnp", 1, 10),
    Case("ppisp", "ampnp", 3, 20, draws=2),
    # The exact posterior over rules, which needs no training.
    Case("ca/small-world", "rule-posterior", 1, 10, graphs=20, draws=1),
    Case("ca/life-like", "rule-posterior", 5, 6, per_step=5, graphs=8, draws=1),
)
# The pictures that the page shows; the others lie beside them.
SHOWN = (
    "shapenet-mug-ampnp",
    "shapenet-mug-ampnp-asked",
    "shapenet-table-ampnp",
    "cora-few-shot-3-ampnp",
    "ca-life-like-ampnp",
)
TEXT = """## Which node to label next

The labelling loop on test graphs: labels are asked for one after the other, by each strategy from the same start, and after each
answer all nodes are predicted again. Figures count all nodes, given labels as given, so that every strategy is judged on
the same ones. Area: mean of the learning curve, in % (mIoU for shapes, else accuracy). Gain: what a strategy adds to the area of
`random`, paired over graphs, in points with the 95 % interval over graphs; **bold** where it is above 0, *italic* where it is
below. `deviation` is the paper's strategy; `spread` asks for unsure nodes apart from one another on the graph, `typical` for those that
look like many other unsure ones; `age`, `featprop` and `grain` are published ones, `auto` rehearses
([docs/asking.md](../../docs/asking.md)). A dash: not measured, as the model has not been trained since that strategy was written. Last column: how many labels the fastest of them needs for what `random` has in the end, and how
many `random` itself needs for that.
The same by hand: `mpnp active shapenet/mug results/runs/shapenet-mug-ampnp-seed0 --steps 20`.

{table}

{pictures}

{seen}
"""
SEEN = """On every task there is a strategy better than chance, but it is not the same one everywhere.

- `spread` is better than random on all tasks but Life-like boards.
- Judging each node for itself (`entropy`, `epistemic`, `margin`, `deviation`) pays on mugs, enzymes, interfaces and small worlds; on tables only `margin`
  does. On few-shot Cora and on Life-like boards it is mostly worse than random: it asks for odd nodes, whose labels tell nothing of others.
- `typical` is the best on automata, where the rule depends on what a cell and its neighbours look like and not on where they are. On Cora it is
  below random: every paper is far from every other, and those closest together, for which it asks, are the ones with little text and few citations.
- `featprop` and `grain` are good on few-shot Cora, where smoothed features tell classes; on proteins and automata they are worth little.
- {auto}
- What `mpnp` gains on mugs is little more than the labels it was given, counted as given: its predictions hardly use them."""
AUTO = """`auto` rehearses strategies on made-up answers, and asks every graph by the one that leaves its model the fewest mistakes. Of the {lines} lines of trained models
  {measured} have been measured with it: it is {below} random with 95 % confidence, and within half a point of the best other strategy or above it on {near} of {measured}{far}.
  Its strategies and draws were chosen on validation graphs of few-shot Cora, small worlds, Life-like boards, enzymes, interfaces and mugs. A version that always took the best of a
  rehearsal, however little better, had been seen on the test graphs of enzymes (+0.8), small worlds (+5.7) and interfaces (+1.8, one reason for what follows) before `spread` was
  made to stand unless another is better for sure, and the rule so made once with the exact posterior before its answers were drawn graph by graph; so these
  lines are not blind. Transductive Cora had been seen with rehearsals on up to 8,000 nodes (+2.4) before they were bounded by 3,000 to save time; the others are blind."""


def _auto(found: Sequence[ReplayTable]) -> str:
    """What the lines of trained models say of ``auto``."""
    trained = [one for one in found if one.model not in PREDICTORS]
    measured = [one.strategies for one in trained if "auto" in one.strategies]
    behind = {
        f"{one.task} {100 * gap:.1f}": gap
        for one in trained
        if "auto" in one.strategies
        and (gap := max(w.gain for name, w in one.strategies.items() if name != "auto") - one.strategies["auto"].gain)
        > NEAR
    }
    below = sum(one["auto"].gain_high < 0 for one in measured)
    return AUTO.format(
        lines=len(trained),
        measured=len(measured),
        below=f"below on {below}" if below else "nowhere below",
        near=len(measured) - len(behind),
        far=f" (points behind: {', '.join(behind)})" if behind else "",
    )


def section(names: Sequence[str] = ()) -> str:
    """``names``: measure no cases but these, as 'ppisp-ampnp'; of the others tell what is stored."""
    known = [_name(case) for case in CASES]
    if unknown := set(names) - set(known):
        raise SystemExit(f"There is no case {', '.join(sorted(unknown))}; the cases are {', '.join(known)}.")
    found = [measured for case in CASES for measured in _kept(case, measure=not names or _name(case) in names)]
    if not found:
        return ""
    strategies = [f"`{name}`" for name in STRATEGIES]
    head = ["task", "model", "graphs × draws", "labels", "`random`", *strategies, "labels saved"]
    pictures = "\n".join(
        f"![{name}](active/{name}.png)" for name in SHOWN if (HERE / "active" / f"{name}.png").exists()
    )
    return TEXT.format(
        table=table(head, [_row(one) for one in found]), pictures=pictures, seen=SEEN.format(auto=_auto(found))
    )


def _name(case: Case) -> str:
    return f"{case.task.replace('/', '-')}-{case.model}"


def _kept(case: Case, measure: bool = True) -> list[ReplayTable]:
    """What was measured, and what of the strategies is missing where the model is here."""
    name = f"active/{_name(case)}"
    models = (
        [(case.task, case.model)] if measure else []
    )  # not to be measured: what is stored stands, whatever the model is by now
    found = kept(ReplayTable, name, models, lambda: _measured(case, [BASELINE]) if measure else ())
    if not (found and measure):
        return found
    missing = [one for one in STRATEGIES if one not in found[0].strategies]
    # What looks ahead takes the longest: the others are kept before.
    for some in ([one for one in missing if one != "auto"], [one for one in missing if one == "auto"]):
        for more in _measured(case, some) if some else ():
            found = [_with(found[0], more)]
            found[0].write(HERE / f"{name}.json")
            _draw(found[0], HERE / f"{name}.png")
    return found


def _draw(found: ReplayTable, path: Path) -> None:
    """Mean curves of all strategies, and what they gain; from what is stored, so that it is one picture whenever they were measured."""
    figure = Figure(figsize=(12, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    chance = torch.tensor(found.strategies[BASELINE].curves[found.metric])
    colours = colormaps["tab10"].colors  # type: ignore[attr-defined]
    for name, worth in found.strategies.items():
        curve = torch.tensor(worth.curves[found.metric])
        wide = 2.6 if name == "auto" else 1.2
        look: dict[str, Any] = {"color": "#666666", "linestyle": "--"}
        if name != BASELINE:
            look = {"color": "black" if name == "auto" else colours[STRATEGIES.index(name) % len(colours)]}
            right.plot(found.labels, 100 * (curve - chance), linewidth=wide, **look)
        left.plot(found.labels, 100 * curve, label=name, linewidth=wide, **look)
    right.axhline(0, color="#666666", linestyle="--", linewidth=1)
    left.set_ylabel(f"{'mIoU' if found.metric == 'miou' else found.metric} on all nodes, given labels counted, %")
    right.set_ylabel("gain over random, points")
    left.legend(fontsize=8, frameon=False, ncols=2)
    for axis in (left, right):
        axis.set_xlabel("labels per graph")
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"{found.model} on {found.task}, {found.graphs} graphs", fontsize=12)
    picture = plots.save(figure, path)
    plots.shrink(picture, picture)


def _with(before: ReplayTable, now: ReplayTable) -> ReplayTable:
    """A table with the strategies of a later one of the same graphs and draws: asking at random must give the same again."""
    chance, again = before.strategies[BASELINE], now.strategies[BASELINE]
    if (before.labels, before.graphs, before.draws) != (now.labels, now.graphs, now.draws) or not isclose(
        chance.area, again.area, rel_tol=1e-5
    ):
        raise SystemExit(
            f"{now.model} on {now.task}: random is at {again.area:.5f} by now and was at {chance.area:.5f}"
        )
    added = {name: one for name, one in now.strategies.items() if name != BASELINE}
    later = {**(now.made or {}), "strategies": list(added)}
    made = {**(before.made or {}), "later": [*(before.made or {}).get("later", []), later]}
    return replace(before, strategies={**before.strategies, **added}, made=made)


def _measured(case: Case, strategies: Sequence[str]) -> Iterator[ReplayTable]:
    model = predictor(case.task, case.model)
    if model is None:
        return
    task = mpnp.get_task(case.task)
    played = replay(
        model,
        task,
        strategies,
        case.steps,
        per_step=case.per_step,
        start=case.start,
        graphs=case.graphs,
        draws=case.draws,
        progress=True,
    )
    if f"{_name(case)}-asked" in SHOWN and not (HERE / "active" / f"{_name(case)}-asked.png").exists():
        asked = {name: nodes[0] for name, nodes in played.asked.items()}
        drawn = plots.asked_figure(first_episode(played, task), asked, started=played.started[0])
        picture = plots.save(drawn, HERE / "active" / f"{_name(case)}-asked.png")
        plots.shrink(picture, picture)
    yield replace(played.table(), made=provenance(folder(case.task, case.model)))


def _row(found: ReplayTable) -> list[str]:
    strategies, labels = found.strategies, found.labels
    row = [found.task, f"`{found.model}`", f"{found.graphs} × {found.draws}", f"{labels[0]} to {labels[-1]}"]
    measured = [name for name in STRATEGIES if name in strategies]
    match, fastest = min((strategies[name].labels_to_match or labels[-1] + 1, name) for name in measured)
    chance = strategies["random"].labels_to_match or labels[-1]
    saved = f"{match} instead of {chance} (`{fastest}`)" if match < chance else "none"
    gains = (_gain(strategies[name]) if name in strategies else "–" for name in STRATEGIES)
    return [*row, f"{100 * strategies['random'].area:.1f}", *gains, saved]


def _gain(of: Worth) -> str:
    mark = "**" if of.gain_low > 0 else "*" if of.gain_high < 0 else ""
    return f"{mark}{100 * of.gain:+.2f}{mark} ({100 * of.gain_low:+.2f}, {100 * of.gain_high:+.2f})"
