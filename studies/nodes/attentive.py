"""``ampnp`` trained on one graph from scratch, from the labels shown there and nothing else."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.graphs import GraphSet
from mpnp.models.ampnp import AmpnpConfig, AttentiveMPNP
from mpnp.prediction import Prediction
from mpnp.training.objectives import objective

from .arenas import Case
from .per_graph import row_normalised


@dataclass(frozen=True)
class Lessons:
    """``steps``: each shows a random part of the given labels and asks for all of them; every so many the validation labels
    are looked at, and the weights that were best there are taken."""

    steps: int = 100
    every: int = 10
    learning_rate: float = 3e-3
    weight_decay: float = 0.01
    dropout: float = 0.3


LESSONS = Lessons()


def attentive(case: Case, lessons: Lessons = LESSONS) -> Prediction:
    arena = case.arena
    with torch.random.fork_rng():
        torch.manual_seed(case.seed)
        graph = arena.public.graph
        x = torch.from_numpy(row_normalised(graph.x).toarray()).float()
        batch = GraphSet.from_data_list([Data(x=x, edge_index=graph.edge_index, y=graph.y)]).select(torch.tensor([0]))

        def episode(shown: Tensor) -> Episode:
            """Labels ``shown`` [n], those of the whole context asked for."""
            return Episode(batch, arena.y, _mask(shown, arena.y), _mask(case.context, arena.y), arena.classes)

        model = AttentiveMPNP(
            AmpnpConfig(x.size(1), arena.classes, class_embedding=True, dropout=lessons.dropout, reaches=(2, 8, 40))
        )
        optimiser = torch.optim.AdamW(model.parameters(), lr=lessons.learning_rate, weight_decay=lessons.weight_decay)
        best, kept = -1.0, deepcopy(model.state_dict())
        for step in range(1, lessons.steps + 1):
            model.train()
            share = 0.1 + 0.8 * float(torch.rand(()))
            shown = case.context[torch.rand(case.context.numel()) < share]
            optimiser.zero_grad()
            objective("multi-sample", model, episode(shown if shown.numel() else case.context[:1]), 4).loss.backward()
            optimiser.step()
            if case.val is not None and step % lessons.every == 0:
                said = model.predict(episode(case.context), samples=1).probabilities[case.val].argmax(1)
                if (right := float((said == arena.y[case.val]).float().mean())) > best:
                    best, kept = right, deepcopy(model.state_dict())
        if case.val is not None:
            model.load_state_dict(kept)
        return model.predict(episode(case.context))


def _mask(nodes: Tensor, y: Tensor) -> Tensor:
    return torch.zeros_like(y, dtype=torch.bool).index_fill_(0, nodes, True)
