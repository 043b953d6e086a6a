"""The drawings of the models: ``python -m docs.drawings`` writes them to docs/images."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from mpnp.plots.style import CLASS_COLOURS, UNKNOWN, save

HERE = Path(__file__).parent / "images"
BLUE, ORANGE, GREEN, PINK = CLASS_COLOURS[:4]
INK, PALE = "#333333", "#F4F6F8"
KNOWN = {0: BLUE, 5: ORANGE, 8: BLUE}


def sheet(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height))
    axis = figure.add_axes((0, 0, 1, 1))
    axis.set(xlim=(0, width), ylim=(0, height))
    axis.axis("off")
    return figure, axis


def box(axis: Axes, x: float, y: float, text: str, wide: float = 1.5, high: float = 0.62, colour: str = PALE) -> None:
    """A box with its middle at (x, y)."""
    corner = (x - wide / 2, y - high / 2)
    style = "round,pad=0.02,rounding_size=0.09"
    axis.add_patch(FancyBboxPatch(corner, wide, high, boxstyle=style, facecolor=colour, edgecolor=INK, linewidth=0.9))
    axis.text(x, y, text, ha="center", va="center", fontsize=9, color=INK, linespacing=1.3)


def arrow(
    axis: Axes, start: tuple[float, float], end: tuple[float, float], bend: float = 0.0, dashed: bool = False
) -> None:
    style = f"arc3,rad={bend}"
    axis.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=11, linewidth=1.0, color=INK,
                                   connectionstyle=style, linestyle="--" if dashed else "-", shrinkA=2, shrinkB=2))  # fmt: skip


def note(axis: Axes, x: float, y: float, text: str) -> None:
    axis.text(x, y, text, ha="center", va="center", fontsize=8.5, color="#555555", style="italic", linespacing=1.3)


def small_graph(
    axis: Axes, x: float, y: float, size: float, fills: dict[int, str], ringed: tuple[int, ...] = ()
) -> None:
    """The same ten nodes each time, those not in ``fills`` grey."""
    graph = nx.Graph(
        [(0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (5, 6), (5, 7), (6, 7), (3, 8), (8, 9), (9, 1)]
    )
    place = nx.kamada_kawai_layout(graph)
    points = {node: (x + size * place[node][0], y + size * place[node][1]) for node in graph}
    for a, b in graph.edges:
        axis.plot(*zip(points[a], points[b], strict=True), color="#AAAAAA", linewidth=0.9, zorder=2)
    for node, (left, up) in points.items():
        edge, line = (INK, 1.6) if node in ringed else ("white", 0.8)
        axis.scatter(left, up, s=70, color=fills.get(node, UNKNOWN), edgecolors=edge, linewidths=line, zorder=3)


def episode() -> Figure:
    """From labels shown to a prediction."""
    figure, axis = sheet(9.2, 2.7)
    truth = {**dict.fromkeys((0, 1, 2, 3, 8, 9), BLUE), **dict.fromkeys((4, 5, 6, 7), ORANGE)}
    small_graph(axis, 1.3, 1.35, 1.0, KNOWN, tuple(KNOWN))
    box(axis, 4.6, 1.35, "predictor", 1.7, 0.8)
    small_graph(axis, 7.8, 1.35, 1.0, truth)
    arrow(axis, (2.6, 1.35), (3.7, 1.35))
    arrow(axis, (5.5, 1.35), (6.5, 1.35))
    note(axis, 1.3, 0.12, "episode: context ringed, targets grey")
    note(axis, 7.8, 0.12, "prediction: a distribution for every node")
    return figure


def paper_family() -> Figure:
    """Encoder, summary, latent, decoder."""
    figure, axis = sheet(10.2, 3.0)
    small_graph(axis, 0.95, 1.6, 0.8, KNOWN, tuple(KNOWN))
    box(axis, 3.0, 1.6, "encoder\nmessage passing\non x ‖ y", 1.45, 0.95)
    box(axis, 4.95, 1.6, "mean over\nthe context\n(per class: -c)", 1.45, 0.95)
    box(axis, 6.7, 1.6, "z ~ N(μ, σ)", 1.25, 0.62, "#E3EEF6")
    box(axis, 8.4, 1.6, "decoder\nmessage passing\non x ‖ z", 1.45, 0.95)
    for start, end in ((1.9, 2.25), (3.75, 4.2), (5.7, 6.05), (7.35, 7.65), (9.15, 9.6)):
        arrow(axis, (start, 1.6), (end, 1.6))
    axis.text(9.85, 1.6, "p(y)", ha="center", va="center", fontsize=10, color=INK)
    arrow(axis, (0.95, 0.8), (8.4, 1.05), bend=0.12, dashed=True)
    note(axis, 4.8, 0.12, "features and edges, no labels")
    note(axis, 4.95, 2.75, "what a labelled node says passes through one vector per graph")
    return figure


def paths() -> Figure:
    """How ``ampnp`` reads a labelled node."""
    figure, axis = sheet(10.2, 5.5)
    middle = 2.75
    small_graph(axis, 0.95, middle, 0.8, KNOWN, tuple(KNOWN))
    box(axis, 2.9, middle, "backbone\nno labels", 1.25, 0.75)
    rows = {
        4.85: ("latent", "prototype of each class\nand z_c beside it", "#E3EEF6"),
        3.45: ("attention", "votes of the context nodes\nthat resemble this one", "#FBF0D9"),
        2.05: ("local", "labels diffused along the\nedges, at several reaches", "#DDF2EA"),
        0.65: (
            "regression, where classes are new",
            "labels regressed on the\nrepresentations, and doubt",
            "#F3E4EF",
        ),
    }
    for y, (name, text, colour) in rows.items():
        box(axis, 5.65, y, text, 2.5, 0.8, colour)
        note(axis, 5.65, y + 0.55, name)
        arrow(axis, (3.55, middle), (4.35, y), bend=0.0)
        arrow(axis, (6.95, y), (7.75, middle))
    box(axis, 8.45, middle, "one scorer\nfor all\nclasses", 1.25, 0.95)
    arrow(axis, (1.9, middle), (2.25, middle))
    arrow(axis, (9.1, middle), (9.55, middle))
    axis.text(9.85, middle, "p(y)", ha="center", va="center", fontsize=10, color=INK)
    return figure


def weighing() -> Figure:
    """How ``universal`` answers."""
    figure, axis = sheet(10.2, 3.9)
    small_graph(axis, 0.95, 2.1, 0.8, KNOWN, tuple(KNOWN))
    for y, text in ((3.4, "features"), (2.75, "smoothed features"), (2.1, "neighbours' labels"), (1.45, "structure"), (0.8, "diffusion …")):  # fmt: skip
        box(axis, 3.15, y, text, 1.65, 0.46)
        arrow(axis, (1.85, 2.1), (2.3, y))
        arrow(axis, (4.0, y), (4.75, 2.1))
    note(axis, 3.15, 0.28, "experts: closed form, labelled nodes left one out")
    box(axis, 5.55, 2.1, "opinions\n[N, C, E]", 1.4, 0.8)
    box(axis, 7.65, 2.1, "neural process\nreads (opinions, label)\nof labelled nodes", 1.9, 1.0, "#E3EEF6")
    note(axis, 7.65, 1.2, "trained once, on made-up graphs")
    arrow(axis, (6.3, 2.1), (6.65, 2.1))
    arrow(axis, (8.65, 2.1), (9.45, 2.1))
    axis.text(9.8, 2.1, "p(y)", ha="center", va="center", fontsize=10, color=INK)
    return figure


def doubt() -> Figure:
    """Three nodes under six samples of z, and how their doubt is split."""
    nodes = {
        "sure": np.array([0.96, 0.95, 0.97, 0.96, 0.94, 0.97]),
        "torn: the data says no more": np.array([0.52, 0.48, 0.51, 0.5, 0.47, 0.53]),
        "unsettled: samples disagree": np.array([0.95, 0.06, 0.9, 0.04, 0.97, 0.08]),
    }

    def entropy(p: np.ndarray) -> np.ndarray:
        return -(p * np.log(p) + (1 - p) * np.log(1 - p))

    figure = Figure(figsize=(9.6, 3.1), layout="constrained")
    for axis, (name, p) in zip(figure.subplots(1, 3), nodes.items(), strict=True):
        axis.bar(range(6), p, color=BLUE, width=0.7)
        axis.bar(range(6), 1 - p, bottom=p, color=ORANGE, width=0.7)
        total, aleatoric = float(entropy(p.mean()[None])[0]), float(entropy(p).mean())
        axis.set_title(name, fontsize=10, color=INK)
        axis.set_xlabel(
            f"total {total:.2f} = aleatoric {aleatoric:.2f} + epistemic {total - aleatoric:.2f} nats", fontsize=8.5
        )
        axis.set_xticks(range(6), [f"z{k + 1}" for k in range(6)], fontsize=8)
        axis.set_yticks([0, 0.5, 1], ["0", "½", "1"], fontsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    return figure


DRAWINGS = {"episode": episode, "paper-family": paper_family, "paths": paths, "weighing": weighing, "doubt": doubt}  # fmt: skip


def main(folder: Path = HERE) -> None:
    for name, draw in DRAWINGS.items():
        print(save(draw(), folder / f"model-{name}.png").relative_to(folder.parent))


if __name__ == "__main__":
    main()
