"""Answers that nobody gave: honest ones, and some by hand."""

from __future__ import annotations

import torch

from mpnp.evaluation.reliability import Pool

CLASSES = 4


def honest(nodes: int, seed: int = 0, sharpness: float = 1.5, shown: float = 0.1) -> Pool:
    """Labels drawn from the very probabilities given, ten nodes to a graph."""
    generator = torch.Generator().manual_seed(seed)
    p = (sharpness * torch.randn(nodes, CLASSES, generator=generator)).softmax(-1)
    y = p.multinomial(1, generator=generator).squeeze(1)
    return Pool(p, y, torch.arange(nodes) // 10, torch.full((nodes,), shown))


def by_hand(probabilities: list[list[float]], y: list[int], graph: list[int] | None = None) -> Pool:
    p = torch.tensor(probabilities)
    return Pool(p, torch.tensor(y), torch.tensor(graph or [0] * len(y)), torch.full((len(y),), 0.5))
