"""Very many classes: the same answers part by part, without what grows with their square."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.experts import parts
from mpnp.experts.evidence import EXPERTS, Evidence, evidence
from mpnp.experts.views import Views


def test_parts_cover_all_rows_once() -> None:
    for rows, width in ((0, 5), (1, 10**9), (1000, 2**20), (1000, 1)):
        found = [row for part in parts.parts(rows, width) for row in range(rows)[part]]
        assert found == list(range(rows))


def made(nodes: int = 400, classes: int = 12, edges: int = 1200) -> tuple[Data, Tensor]:
    torch.manual_seed(0)
    y = torch.arange(nodes) % classes
    x = torch.randn(classes, 5)[y] + 0.5 * torch.randn(nodes, 5)
    return Data(x=x, edge_index=torch.randint(nodes, (2, edges)), y=y), torch.arange(0, nodes, 3)


def asked(graph: Data, shown: Tensor, classes: int = 12) -> Evidence:
    return evidence(Views.of(graph), shown, graph.y[shown], classes)


def test_what_is_said_in_parts_is_what_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, shown = made()
    whole = asked(graph, shown)
    monkeypatch.setattr(parts, "PART", 1)
    apart = asked(graph, shown)
    torch.testing.assert_close(apart.log_p, whole.log_p, rtol=2e-3, atol=2e-3)
    torch.testing.assert_close(apart.skill, whole.skill, rtol=1e-3, atol=1e-3)
    assert torch.equal(apart.present, whole.present)


def test_many_classes_with_few_labels_each_are_told_apart() -> None:
    """More classes than are let spread in folds: every label by itself, in parts."""
    graph, _ = made(nodes=1200, classes=150, edges=0)
    ring = torch.arange(1200)
    near = torch.stack([ring, (ring + 150) % 1200])  # of the same class
    graph.edge_index = torch.cat([near, near.flip(0)], 1)
    found = asked(graph, torch.arange(600), 150)
    said = found.log_p[600:, :, EXPERTS.index("stack")].argmax(1)
    assert found.log_p.isfinite().all()
    assert (said == graph.y[600:]).float().mean() > 0.95
