"""Draw what the prior draws, one row per family: python -m studies.prior_pictures"""

from pathlib import Path

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mpnp.episode import Episode
from mpnp.experts.evidence import SINGLE, Evidence, evidence
from mpnp.experts.views import Views
from mpnp.plots.graphs import draw_edges, edges_of, layout
from mpnp.plots.style import Array, class_colours, save, shrink
from mpnp.tasks.prior.problems import FAMILIES, Problem, draw
from mpnp.tasks.prior.task import as_episode

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "prior.png"
MOST_NODES = 140
# Problems that show how far a family reaches: alike and unlike neighbours, words and numbers and nothing, few labels and many.
SEEDS = {
    "communities": (21, 27, 30),
    "space": (40, 47, 46),
    "rules": (62, 64, 70),
    "clues": (80, 86, 84),
    "roles": (100, 105, 101),
    "appearances": (120, 124, 129),
}
COLUMNS = 48  # of the features, at most
WORDS = {
    "x": "features", "ax": "neighbours' features", "a2x": "features two hops around", "pprx": "smoothed features",
    "farx": "features smoothed far", "pprx_rbf": "smoothed features, bent", "amount": "how much is shown",
    "hx": "unlike the neighbours", "h2x": "unlike two hops around", "x_rbf": "features, bent",
    "ax_rbf": "own and neighbours' features", "struct": "structure", "nbr_rbf": "labels around, bent", "cat": "everything",
    "nbr": "labels around", "adj": "shared neighbours", "x_clump": "clumps", "a2x_clump": "clumps two hops around",
    "pprx_clump": "smoothed clumps", "lp1": "labels, one step", "lp2": "labels, two steps", "lp8": "labels, eight steps",
    "lp50": "labels, fifty steps",
}  # fmt: skip


def main() -> None:
    examples = max(map(len, SEEDS.values()))
    figure = Figure(figsize=(4.3 * examples, 3.0 * len(SEEDS)), layout="constrained")
    rows = figure.subfigures(len(SEEDS), 1, squeeze=False, hspace=0.02)[:, 0]
    for row, (family, seeds) in zip(rows, SEEDS.items(), strict=True):
        row.suptitle(f"{family}, {FAMILIES[family][0]:.0%} of all", x=0.01, ha="left", fontweight="bold")
        axes = row.subplots(1, 2 * examples, width_ratios=[2.2, 1] * examples)
        for number, seed in enumerate(seeds):
            problem = draw(np.random.default_rng(seed), family, MOST_NODES)
            _graph(axes[2 * number], problem)
            _features(axes[2 * number + 1], problem)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    save(figure, PICTURE)
    shrink(PICTURE, PICTURE)


def _graph(axis: Axes, problem: Problem) -> None:
    """Nodes in the colour of their class, those that show their label ringed."""
    episode = as_episode(problem)
    place, edges = _drawn_in(layout(episode)), edges_of(episode)
    draw_edges(axis, place, edges)
    axis.collections[-1].set_alpha(min(1.0, 150 / max(len(edges), 1)) ** 0.5)
    fill = class_colours(problem.y)
    for chosen, ring, width in ((~problem.context, "white", 0.3), (problem.context, "black", 1.4)):
        x, y = place[chosen].T
        axis.scatter(x, y, c=fill[chosen], s=26, edgecolors=ring, linewidths=width, zorder=2)
    axis.set_axis_off()
    axis.set_title(_best(episode), fontsize=9)


def _drawn_in(place: Array) -> Array:
    """Nodes far outside, which have no edges, nearer to the others."""
    away = place - np.median(place, axis=0)
    radius = np.linalg.norm(away, axis=1, keepdims=True)
    usual = np.median(radius)
    return away * np.minimum(1, (2 * usual / np.maximum(radius, 1e-9)) ** 0.7)


def _features(axis: Axes, problem: Problem) -> None:
    """Nodes from top to bottom by class, whose colours run down the left; features from left to right."""
    order = np.argsort(problem.y, kind="stable")
    x = problem.x[order].astype(np.float64)
    axis.set_axis_off()
    if x.shape[1] == 0:
        axis.text(0.5, 0.5, "no\nfeatures", ha="center", va="center", transform=axis.transAxes, fontsize=9)
        return
    if x.shape[1] > COLUMNS:  # those that vary most
        x = x[:, np.sort(np.argsort(-x.std(0), kind="stable")[:COLUMNS])]
    low, high = np.quantile(x, 0.03, axis=0), np.quantile(x, 0.97, axis=0)
    low, high = (np.where(high > low, a, b) for a, b in ((low, x.min(0)), (high, x.max(0))))
    grey = 1 - np.clip((x - low) / np.maximum(high - low, 1e-9), 0, 1)
    stripe = np.repeat(class_colours(problem.y[order])[:, None, :3], 6, axis=1)
    body = np.repeat(np.repeat(grey[..., None], 3, 2), max(1, 60 // x.shape[1]), axis=1)
    axis.imshow(np.concatenate([stripe, np.ones_like(stripe[:, :2]), body], 1), aspect="auto", interpolation="nearest")
    width = problem.x.shape[1]
    axis.set_title(f"{width} feature{'s' * (width != 1)}", fontsize=9)


def _best(episode: Episode) -> str:
    """Labels and classes, and the expert that the labels speak for, with its accuracy on the hidden nodes."""
    context = episode.context.nonzero().squeeze(1)
    found = evidence(Views.of(episode.graph), context, episode.y[context], episode.num_classes)
    about = f"{context.numel()} labels, {episode.num_classes} classes"
    if not found.countable:
        return f"{about}\ntoo few labels to tell experts apart"
    name = _first(found)
    said = found.log_p[..., SINGLE.index(name)].argmax(1)
    right = (said == episode.y)[~episode.context].float().mean()
    return f"{about}\nbest: {WORDS[name]}, {right:.0%} right"


def _first(found: Evidence) -> str:
    skill = torch.where(found.present, found.skill, -torch.inf)[: len(SINGLE)]
    return SINGLE[int(skill.argmax())]


if __name__ == "__main__":
    main()
