"""The labelling loop played on graphs whose labels are known: what is each strategy's advice worth?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from tqdm import tqdm

from ..defaults import DRAWS, SAMPLES
from ..episode import Episode
from ..errors import UserError
from ..evaluation.answers import BATCH_NODES, draw_seeds
from ..evaluation.given import as_predictor, as_task
from ..evaluation.scores import shape_miou
from ..graphs import UNLABELLED, GraphSet
from ..prediction import Prediction, Predictor
from ..tasks.base import Split, Task
from .contract import Strategy, best
from .curves import BASELINE, Replay
from .strategies import ask, find_strategy


def replay(
    predictor: Any,
    task: Any,
    strategies: Sequence[str],
    steps: int,
    *,
    per_step: int = 1,
    start: int = 1,
    graphs: int | None = None,
    draws: int = DRAWS,
    samples: int = SAMPLES,
    seed: int = 0,
    split: Split = "test",
    progress: bool = False,
) -> Replay:
    """Ask for ``per_step`` labels of every graph, predict, score, and again, ``steps`` times, for each strategy.

    ``predictor``: as it is, by name or by folder. ``task``: whose graphs of a split are played on, or graphs of your own in
    any container, labelled throughout.
    Each graph starts with ``start`` labels at random, none if 0, the same for all strategies; ``draws`` repeats it with
    other starts and other chance. 'random' always runs, to compare with. ``graphs``: only so many of the split's, drawn by
    ``seed``.
    """
    for name, value, low in (("steps", steps, 1), ("per_step", per_step, 1), ("start", start, 0), ("draws", draws, 1)):
        if value < low:
            raise UserError(f"{name} = {value} was given, at least {low} is expected.")
    if graphs is not None and graphs < 1:
        raise UserError(f"graphs = {graphs} was given, at least 1 is expected.")
    predictor = as_predictor(predictor)
    task = as_task(task, predictor)
    chosen = {name: find_strategy(name) for name in dict.fromkeys([BASELINE, *strategies])}
    store = task.graphs(split)
    # Drawn, as neighbours in a store may be alike: the first few-shot tasks of Cora all share a class.
    index = torch.randperm(len(store), generator=torch.Generator().manual_seed(seed))[:graphs].sort().values
    mean_nodes = max(1, store.num_nodes // len(store))
    batches = index.split(max(1, BATCH_NODES // mean_nodes))
    bar = tqdm(
        total=draws * len(batches) * len(chosen) * steps,
        desc=f"{predictor.name} on {task.name}",
        disable=None if progress else True,
        leave=False,
    )
    parts: list[list[_Played]] = []  # by draw and batch
    for draw in draw_seeds(seed, draws):
        generator = torch.Generator().manual_seed(draw)
        parts.append([])
        for batch in batches:
            episode, noise = _start(store, batch, task, start, generator)
            loop = _Loop(predictor, task, start, steps, per_step, samples, seed, bar)
            parts[-1].append(loop.play(episode, chosen, noise))
    bar.close()
    if all((part.asked[BASELINE] < 0).all() for part in parts[0]):
        raise UserError(
            f"With {start} labels per graph to start with, nothing on {task.name} is left to ask for; start with fewer."
        )
    metrics = list(parts[0][0].curves[BASELINE])
    return Replay(
        task=task.name,
        model=predictor.name,
        metric="miou" if "miou" in metrics else "accuracy",
        labels=start + per_step * torch.arange(steps + 1),
        graphs=index,
        curves={
            name: {
                metric: torch.stack([torch.cat([part.curves[name][metric] for part in row]) for row in parts]).mean(0)
                for metric in metrics
            }
            for name in chosen
        },
        asked={name: torch.cat([part.asked[name] for part in parts[0]]) for name in chosen},
        started=torch.cat([part.started for part in parts[0]]),
        split=split,
        per_step=per_step,
        draws=draws,
        seed=seed,
        samples=samples,
        data=task.source,
    )


def first_episode(played: Replay, task: Task, split: Split = "test") -> Episode:
    """The first of the graphs that were played on, for pictures; nothing shown."""
    graph = task.graphs(split).select(played.graphs[:1])
    labelled = graph.y != UNLABELLED
    return Episode(graph, graph.y, torch.zeros_like(labelled), labelled, task.num_classes)


class _Played(NamedTuple):
    curves: dict[str, dict[str, Tensor]]
    asked: dict[str, Tensor]
    started: Tensor


@dataclass
class _Loop:
    predictor: Predictor
    task: Task
    start: int
    steps: int
    per_step: int
    samples: int
    seed: int
    bar: tqdm

    def play(self, first: Episode, strategies: dict[str, Strategy], noise: Tensor) -> _Played:
        """All strategies from the same start, all graphs of the batch at once."""
        prediction_at_first = self.predict(first)
        curves, asked = {}, {}
        ahead: dict[str, Any] = {"predictor": self.predictor, "samples": self.samples}
        for name, strategy in strategies.items():
            episode, prediction = first, prediction_at_first
            points, steps = [self.score(episode, prediction)], []
            for _ in range(self.steps):
                # Only a node whose label is known can answer.
                choice = ask(strategy, episode, prediction, episode.target, self.per_step, noise=noise, **ahead)
                if choice.nodes.numel():  # else all is labelled, and nothing changes any more
                    context = episode.context.clone()
                    context[choice.nodes] = True
                    episode = episode.with_context(context)
                    prediction = self.predict(episode)
                points.append(self.score(episode, prediction))
                steps.append(_by_graph(choice.nodes, episode, self.per_step))
                self.bar.update()
            curves[name] = {metric: torch.stack([point[metric] for point in points], 1) for metric in points[0]}
            asked[name] = torch.cat(steps, 1)
        shown = first.context.nonzero().squeeze(1)
        return _Played(curves, asked, _by_graph(shown, first, self.start))

    def predict(self, episode: Episode) -> Prediction:
        return self.predictor.predict(episode, samples=self.samples, seed=self.seed)

    def score(self, episode: Episode, prediction: Prediction) -> dict[str, Tensor]:
        """Every metric per graph, [B]."""
        label = torch.where(episode.context, episode.y, prediction.label)
        masks = {"": episode.target, "_hidden": episode.unlabelled_targets}
        scores = {f"accuracy{which}": _accuracy(episode, label, mask) for which, mask in masks.items()}
        if "shapes" in self.task.metrics:
            scores |= {f"miou{which}": _miou(episode, label, mask) for which, mask in masks.items()}
        return scores


def _start(
    store: GraphSet, index: Tensor, task: Task, labels: int, generator: torch.Generator
) -> tuple[Episode, Tensor]:
    """The graphs ``index`` with so many labels shown on each; and the noise [N] that chose them, for what follows."""
    graph = store.select(index)
    labelled = graph.y != UNLABELLED
    episode = Episode(graph, graph.y, torch.zeros_like(labelled), labelled, task.num_classes)
    if task.arbitrary:
        episode = episode.relabelled(torch.rand(index.numel(), task.num_classes, generator=generator).argsort(1))
    noise = torch.rand(graph.y.numel(), generator=generator, dtype=torch.float64)
    context = torch.zeros_like(labelled)
    context[best(torch.zeros_like(noise), labelled, episode.batch, labels, noise)] = True
    return episode.with_context(context), noise


def _accuracy(episode: Episode, label: Tensor, mask: Tensor) -> Tensor:
    right = torch.bincount(episode.batch[mask & (label == episode.y)], minlength=episode.num_graphs)
    return right / torch.bincount(episode.batch[mask], minlength=episode.num_graphs)  # 0 / 0 is NaN: nothing to count


def _miou(episode: Episode, label: Tensor, mask: Tensor) -> Tensor:
    scores = torch.full((episode.num_graphs,), float("nan"))
    counted = episode.batch[mask]
    found = shape_miou(episode.y[mask], label[mask], counted, episode.num_classes)
    scores[: found.numel()] = found
    scores[torch.bincount(counted, minlength=episode.num_graphs) == 0] = float("nan")
    return scores


def _by_graph(nodes: Tensor, episode: Episode, width: int) -> Tensor:
    """Nodes that stand graph by graph as a table [B, width], numbered within their graph, -1 where there are fewer."""
    graph = episode.batch[nodes]
    sizes = torch.bincount(graph, minlength=episode.num_graphs)
    table = torch.full((episode.num_graphs, width), -1)
    table[graph, torch.arange(nodes.numel()) - (sizes.cumsum(0) - sizes)[graph]] = nodes - episode.graph.ptr[graph]
    return table
