"""What a question costs: CPU seconds from a belief to the next node to label, by ``auto`` with ``universal`` and with ``ampnp``.

What depends on no label is seen once, before the first question, and counted apart. CPU seconds, as others may share the machine.
``ampnp`` has its usual sizes and weights as they begin: trained ones take as long.
"""

from __future__ import annotations

from time import process_time
from typing import Any

import torch

from mpnp.active import ask, auto
from mpnp.active.seen import views_of
from mpnp.episode import Episode
from mpnp.models import find_predictor
from mpnp.models.ampnp import AmpnpConfig, AttentiveMPNP
from mpnp.models.universal import Session, Universal
from mpnp.prediction import Prediction, Predictor

SIZES = (auto.MOST_NODES, 5_000, 100_000)  # the first is the largest that is rehearsed on
LIMITS = {5_000: 1.0, 100_000: 5.0}  # seconds that a question may take
CLASSES, LABELS, FEATURES, QUESTIONS = 5, 50, 32, 3
SHOWN = ("auto", "spread", "typical", "featprop", "grain", "age", "entropy")


def bench(sizes: tuple[int, ...] = SIZES, questions: int = QUESTIONS) -> dict[str, Any]:
    """Seconds per size and strategy: the shortest of a few questions, with ``ampnp`` the longest; and of the belief itself."""
    return {str(size): measure(size, questions) for size in sizes}


def measure(nodes: int, questions: int) -> dict[str, Any]:
    episode = made(nodes)
    model = find_predictor("universal")[0]
    assert isinstance(model, Universal)
    start = process_time()
    views = views_of(episode)[0]
    assert views.linear is not None and views.radial is not None
    opening = process_time() - start
    y = torch.where(episode.context, episode.y, -1)
    session = Session(model, views)
    start = process_time()
    prediction = session.predict(y, CLASSES)
    belief = process_time() - start
    spent = {name: min(_times(name, episode, prediction, model, questions)) for name in SHOWN}
    torch.manual_seed(0)
    other = AttentiveMPNP(AmpnpConfig(num_features=FEATURES, num_classes=CLASSES)).eval()
    # The longest: only the first of them rehearses.
    longest = max(_times("auto", episode, other.predict(episode), other, questions))
    edges = int(episode.graph.edge_index.size(1))
    return {"edges": edges, "opening": opening, "belief": belief, "seconds": spent, "ampnp": longest}


def _times(name: str, episode: Episode, prediction: Prediction, model: Predictor, questions: int) -> list[float]:
    times = []
    for seed in range(questions):
        start = process_time()
        ask(name, episode, prediction, seed=seed, predictor=model)
        times.append(process_time() - start)
    return times


def made(nodes: int) -> Episode:
    """A block model with features of its blocks, ten edges a node, and fifty labels."""
    random = torch.Generator().manual_seed(0)
    y = torch.randint(0, CLASSES, (nodes,), generator=random)
    order = y.argsort()
    first = torch.searchsorted(y[order], torch.arange(CLASSES))
    sizes = torch.bincount(y, minlength=CLASSES)
    source = torch.randint(0, nodes, (5 * nodes,), generator=random)
    inside = first[y[source]] + (torch.rand(source.numel(), generator=random) * sizes[y[source]]).long()
    anywhere = torch.randint(0, nodes, (source.numel(),), generator=random)
    target = torch.where(
        torch.rand(source.numel(), generator=random) < 0.7, order[inside.clamp(max=nodes - 1)], anywhere
    )
    edges = torch.stack([source, target])
    x = torch.randn(nodes, FEATURES, generator=random) + torch.randn(CLASSES, FEATURES, generator=random)[y]
    context = torch.zeros(nodes, dtype=torch.bool)
    context[torch.randperm(nodes, generator=random)[:LABELS]] = True
    from torch_geometric.data import Data

    return Episode.from_graphs([Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], 1), y=y)], context, CLASSES)


def lines(result: dict[str, Any]) -> list[str]:
    """Markdown."""
    text = [
        "## Asking",
        "",
        f"CPU seconds for the next node to label, with `universal`, {CLASSES} classes and {LABELS} labels; the best of {QUESTIONS}. Opening a graph "
        "and believing come before, once per graph and once per label. At most: what a question by `auto` may take. "
        f"With `ampnp` the longest of {QUESTIONS}: it rehearses on up to {auto.MOST_NODES:,} nodes, once for as many labels as there are; above, it asks by `spread`.",
        "",
        f"| nodes | edges | opening | belief | at most | `auto` | `auto` with `ampnp` | {' | '.join(f'`{name}`' for name in SHOWN[1:])} |",
        f"|{'---|' * (6 + len(SHOWN))}",
    ]
    for size, row in result.items():
        spent = " | ".join(f"{row['seconds'][name]:.2f}" for name in SHOWN[1:])
        limit = LIMITS.get(int(size), "–")
        text.append(
            f"| {int(size):,} | {row['edges']:,} | {row['opening']:.1f} | {row['belief']:.2f} | {limit} "
            f"| {row['seconds']['auto']:.2f} | {row['ampnp']:.2f} | {spent} |"
        )
    return text
