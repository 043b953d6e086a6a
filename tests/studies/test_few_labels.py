"""The study of confidence on few labels: what it draws, and its page."""

from __future__ import annotations

import torch
from studies.few_labels import WAYS, block_model, page


def test_most_edges_join_a_block_and_few_labels_are_shown() -> None:
    graph, truth = block_model(300, 40, seed=1)
    source, target = graph.edge_index
    same = float((truth[source] == truth[target]).float().mean())
    assert 0.7 < same < 0.9 and int((graph.y >= 0).sum()) == 40
    assert torch.equal(graph.y[graph.y >= 0], truth[graph.y >= 0])
    assert not torch.equal(block_model(300, 40, seed=2)[1], truth)


def test_gaps_of_both_signs_do_not_cancel_in_their_size() -> None:
    runs = [
        {"nodes": 300, "accuracy": 80.0, "gap": dict.fromkeys(WAYS, 3.0)},
        {"nodes": 300, "accuracy": 70.0, "gap": dict.fromkeys(WAYS, -1.0)},
    ]
    assert "| 300, 40 | 2 | 75.0 | both | +1.0 | 2.0 | 3.0 |" in page(runs)
