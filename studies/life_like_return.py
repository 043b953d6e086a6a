"""How far from the solution of the Life-like rules does training still find back to it?

    python -m studies.life_like_return          a minute or two of one core; what is measured is not measured again

The paper proves that its model can represent every Life-like rule, and measures that training does not get there. Here training
starts at the solution (``mpnp.models.life_like``) plus noise: a share of the weights that training usually starts from. Same
layers, same objective, Adam; accuracy on validation rules at 30 % of the cells, before and after.
"""

from __future__ import annotations

import itertools
import json
import time
import warnings
from pathlib import Path
from typing import Any

import torch

from mpnp.episode import Episode, Sampling, sample_episode
from mpnp.evaluation.provenance import provenance
from mpnp.files import replacing, write_json
from mpnp.models.configs import config
from mpnp.models.life_like import life_like_solution
from mpnp.models.neural_process import NeuralProcess, NeuralProcessConfig
from mpnp.tasks import get_task
from mpnp.tasks.base import Task
from mpnp.training.objectives import elbo

HERE = Path(__file__).parents[1] / "results" / "life-like"
SHARES = (0.0, 0.02, 0.1, 0.15, 0.2, 0.3, None)  # of usual starting weights; ``None``: these alone
RATES = (1e-4, 1e-3)  # the paper's, and ten times that
STEPS, BOARDS = 150, 2
BACK = 98  # % of cells: the solution again, but for what a rate makes of it
VALIDATION = 10  # boards


def start(task: Task, share: float | None, seed: int = 0) -> NeuralProcess:
    """The solution with noise as large as ``share`` of usual starting weights; ``None``: these weights alone."""
    configuration = config("mpnp-c", task, "paper")
    assert isinstance(configuration, NeuralProcessConfig)
    model = life_like_solution(configuration)
    torch.manual_seed(seed)
    fresh = NeuralProcess(model.config)
    if share is None:
        return fresh
    with torch.no_grad():
        for parameter, noise in zip(model.parameters(), fresh.parameters(), strict=True):
            parameter.add_(share * noise)
    return model


def point(model: NeuralProcess, episode: Episode, step: int) -> dict[str, float]:
    """Accuracy in % on hidden cells, and the two parts of the paper's objective, nats per cell."""
    nodes = episode.unlabelled_targets.nonzero().squeeze(1)
    right = model.predict(episode, nodes=nodes).label == episode.y[nodes]
    with torch.no_grad():
        torch.manual_seed(0)
        parts = elbo(model, episode)
    return {
        "step": step,
        "accuracy": round(100 * right.float().mean().item(), 2),
        "log_likelihood": round(parts.log_likelihood.item(), 4),
        "kl": round(parts.kl.item(), 4),
    }


def measure(task: Task, share: float | None, rate: float, steps: int = STEPS) -> dict[str, Any]:
    """Train from ``share`` on at a learning ``rate``; accuracy on the way."""
    model = start(task, share)
    boards = task.graphs("val").select(torch.arange(min(VALIDATION, len(task.graphs("val")))))
    validation = sample_episode(boards, 2, Sampling.fixed(0.3), torch.Generator().manual_seed(1))
    graphs, generator = task.graphs("train"), torch.Generator().manual_seed(2)
    optimiser = torch.optim.Adam(model.parameters(), rate)
    begun, curve = time.process_time(), [point(model, validation, 0)]
    for step in range(1, steps + 1):
        batch = graphs.select(torch.randint(len(graphs), (BOARDS,), generator=generator))
        episode = sample_episode(batch, 2, Sampling(task.context, task.extra), generator)
        optimiser.zero_grad()
        elbo(model, episode).loss.backward()
        optimiser.step()
        if step % 50 == 0 or step == steps:
            curve.append(point(model, validation, step))
    seconds = round(time.process_time() - begun)
    return {"share": share, "rate": rate, "steps": steps, "curve": curve, "cpu_seconds": seconds, "made": provenance()}


def page(found: list[dict[str, Any]]) -> str:
    lines = [
        "# The Life-like solution, and how far training finds back to it", "",
        "Written by `python -m studies.life_like_return`. The weights of `mpnp.models.life_like` answer every cell of every rule",
        "right where the context shows every situation (a test holds them to that). Noise is a share of usual starting weights;",
        f"then {STEPS} steps of {BOARDS} boards with the paper's objective, Adam at the rate given. Accuracy in % on the hidden cells of",
        f"{VALIDATION} validation boards under rules of their own, 30 % of the cells shown. One seed.", "",
        "In brackets the paper's objective, log-likelihood minus KL, in nats per cell: the higher, the better.", "",
        "| noise | rate | " + " | ".join(f"after {p['step']} steps" if p["step"] else "at the start" for p in found[0]["curve"]) + " |",
        "|---|---|" + "---:|" * len(found[0]["curve"]),
    ]  # fmt: skip
    for one in found:
        name = "no solution, usual start" if one["share"] is None else f"{one['share']:g}"
        lines.append(f"| {name} | {one['rate']:g} | " + " | ".join(_cell(p) for p in one["curve"]) + " |")
    lines += ["", *(_reach(rate, [one for one in found if one["rate"] == rate]) for rate in RATES)]
    lines += ["", "These steps are few. From the usual start, with one board a step and hundreds of",
              "thousands of steps, the paper's model with summaries by class does leave the mode on Life-like boards:",
              "[results/paper-readings](../paper-readings/README.md)."]  # fmt: skip
    return "\n".join(lines) + "\n"


def _reach(rate: float, found: list[dict[str, Any]]) -> str:
    """From how far training finds back, in words."""
    back = [one["share"] for one in found if one["share"] is not None and one["curve"][-1]["accuracy"] >= BACK]
    if not back:
        return (
            f"- At a rate of {rate:g} {STEPS} steps end at {BACK} % or more from nowhere, not from the solution itself."
        )
    return f"- At a rate of {rate:g} {STEPS} steps end at {BACK} % or more from noise of up to {max(back):g}, not from more."


def _cell(of: dict[str, float]) -> str:
    return f"{of['accuracy']:.1f} ({of['log_likelihood'] - of['kl']:+.2f})"


def main() -> None:
    warnings.filterwarnings("ignore", message=".*Sparse.*")
    task, found = get_task("ca/life-like"), []
    for rate, share in itertools.product(RATES, SHARES):
        path = HERE / f"{'start' if share is None else f'noise-{share:g}'}-rate-{rate:g}.json"
        if not path.exists():
            with replacing(path) as temporary:
                write_json(temporary, measure(task, share, rate))
        found.append(json.loads(path.read_text()))
        print(share, rate, found[-1]["curve"], flush=True)
        with replacing(HERE / "README.md") as temporary:
            temporary.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
