"""A training step and a prediction of ``mpnp`` and ``ampnp`` beside the same written the usual ways.

``one graph at a time``: PyG layers in a loop over the graphs, as most published code does it.
``PyG batch``: the same layers once, on a block-diagonal batch with ``edge_index``.
``matrix products``: the dense products of our own step alone, forward and backward: the limit.

All ways share the same parameters, noise and loss (:mod:`benchmarks.plain`); a step is forward and backward.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn as nn
from torch import Tensor

from mpnp.episode import Episode, Sampling, sample_episode
from mpnp.models import configs
from mpnp.models.ampnp import AttentiveMPNP
from mpnp.models.base import LatentModel
from mpnp.models.neural_process import NeuralProcess, NeuralProcessConfig
from mpnp.tasks import get_task
from mpnp.tasks.base import Task
from mpnp.training.objectives import elbo, multi_sample

from .plain import PlainAmpnp, PlainMPNP, pieces, whole
from .products import products
from .timing import race

BATCHES = {"ca/small-world": 64, "tud/enzymes": 64, "shapenet/bag": 4}
ROUNDS = {"ca/small-world": 12, "tud/enzymes": 30, "shapenet/bag": 7}
SAMPLES = 4


def models(task: Task) -> tuple[NeuralProcess, AttentiveMPNP]:
    """The paper's MPNP (h = 64, r = 128, z = 256, T = 2) and the flagship as it is set for the task."""
    torch.manual_seed(0)
    flagship = configs.build(configs.config("ampnp", task))
    assert isinstance(flagship, AttentiveMPNP)
    return NeuralProcess(NeuralProcessConfig(task.num_features, task.num_classes)), flagship


def draw(task: Task, graphs: int) -> Episode:
    sampling = Sampling(task.context, task.extra)
    batch = task.graphs("train").select(torch.arange(graphs))
    return sample_episode(batch, task.num_classes, sampling, torch.Generator().manual_seed(0))


def step(model: nn.Module, loss: Callable[[], Tensor]) -> Callable[[], None]:
    def run() -> None:
        model.zero_grad()
        loss().backward()

    return run


def bench_steps(task: Task, graphs: int, rounds: int) -> dict[str, dict[str, float]]:
    """Milliseconds per training step on a batch of the task's graphs, for each model and way."""
    episode = draw(task, graphs)
    mpnp, ampnp = models(task)
    plain_mpnp, plain_ampnp = PlainMPNP(mpnp), PlainAmpnp(ampnp)
    z = torch.randn(graphs, mpnp.config.z_width)
    zs = torch.randn(graphs, SAMPLES, task.num_classes, ampnp.config.z_width)
    scored, hidden = episode.target, episode.unlabelled_targets
    batch, batch_hidden = whole(episode, scored), whole(episode, hidden)
    single, single_hidden = pieces(episode, scored), pieces(episode, hidden)
    ours, flagship = (
        step(mpnp, lambda: elbo(mpnp, episode).loss),
        step(ampnp, lambda: multi_sample(ampnp, episode, SAMPLES).loss),
    )
    times = race(
        {
            "mpnp/one graph at a time": step(
                mpnp, lambda: torch.stack([plain_mpnp.loss(p, z[i : i + 1]) for i, p in enumerate(single)]).sum()
            ),
            "mpnp/PyG batch": step(mpnp, lambda: plain_mpnp.loss(batch, z)),
            "mpnp/ours": ours,
            "mpnp/matrix products": products(ours),
            "ampnp/one graph at a time": step(
                ampnp,
                lambda: torch.stack([plain_ampnp.loss(p, zs[i : i + 1]) for i, p in enumerate(single_hidden)]).sum(),
            ),
            "ampnp/PyG batch": step(ampnp, lambda: plain_ampnp.loss(batch_hidden, zs)),
            "ampnp/ours": flagship,
            "ampnp/matrix products": products(flagship),
        },
        rounds,
    )
    table: dict[str, dict[str, float]] = {"mpnp": {}, "ampnp": {}}
    for name, ms in times.items():
        model, _, way = name.partition("/")
        table[model][way] = ms
    return table


def bench_prediction(task: Task, samples: int = 16, rounds: int = 15) -> dict[str, dict[str, float]]:
    """Milliseconds to predict one graph of the task with 16 latent samples, and those of the matrix products in it."""
    episode = draw(task, 1)
    table = {}
    for name, model in zip(("mpnp", "ampnp"), models(task), strict=True):

        def predict(model: LatentModel = model) -> object:
            return model.predict(episode, samples=samples)

        table[name] = race({"ours": predict, "matrix products": products(predict)}, rounds)
    return table


def bench() -> tuple[dict[str, dict[str, dict[str, float]]], dict[str, dict[str, float]] | None]:
    """Steps on every task whose data is here, and the prediction of a shape if there are shapes."""
    steps, prediction = {}, None
    for name, graphs in BATCHES.items():
        task = get_task(name)
        if task.missing() is None:
            steps[name] = bench_steps(task, graphs, ROUNDS[name])
            if name.startswith("shapenet"):
                prediction = bench_prediction(task)
        else:
            print(f"{name} is left out: {task.missing()}")
    return steps, prediction


def lines(steps: dict[str, dict[str, dict[str, float]]], prediction: dict[str, dict[str, float]] | None) -> list[str]:
    text = [
        "## A training step, forward and backward, ms",
        "",
        "| task | model | one graph at a time | PyG batch | ours | matrix products alone | faster than one at a time "
        "| than a batch | time over matrix products |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for task, by_model in steps.items():
        for model, ms in by_model.items():
            one, batch, ours, limit = (ms[k] for k in ("one graph at a time", "PyG batch", "ours", "matrix products"))
            text.append(
                f"| {task}, {BATCHES[task]} graphs | {model} | {one:.1f} | {batch:.1f} | {ours:.1f} | {limit:.1f} "
                f"| {one / ours:.1f} × | {batch / ours:.1f} × | {ours / limit:.1f} × |"
            )
    if prediction:
        text += ["", "## Predicting one shape of about 2,700 points, 16 latent samples, ms", ""]
        text += ["| model | ours | matrix products alone | ratio |", "|---|---|---|---|"]
        for model, ms in prediction.items():
            ours, limit = ms["ours"], ms["matrix products"]
            text.append(f"| {model} | {ours:.1f} | {limit:.1f} | {ours / limit:.1f} × |")
    return text
