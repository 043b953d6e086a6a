"""Parts of one graph, cut when they are asked for; the tests of Cora look at them more closely."""

from __future__ import annotations

import torch

from mpnp.graphs import plain_edges
from mpnp.tasks.subgraphs import SubgraphSet


def square() -> SubgraphSet:
    """Four nodes in a ring, of the groups 0, 1, 2, 2; the parts are the groups {2, 0} and {1, 2}."""
    edges = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    both = torch.cat([edges, edges.flip(0)], 1)
    return SubgraphSet(torch.arange(4.0).unsqueeze(1), torch.tensor([0, 1, 2, 2]), both, torch.tensor([[2, 0], [1, 2]]))


def test_repr_tells_the_sizes_of_the_parts() -> None:
    assert repr(square()) == "SubgraphSet(graphs=2, nodes=6, features=1)"
    assert repr(square().subset(torch.tensor([1]))) == "SubgraphSet(graphs=1, nodes=3, features=1)"


def test_a_part_holds_its_groups_and_the_edges_between_them() -> None:
    part = square().select(torch.tensor([0]))
    assert part.x.flatten().tolist() == [0, 2, 3]
    assert part.y.tolist() == [1, 0, 0]  # by the place of the group in the choice
    assert sorted(plain_edges(part.edge_index).T.tolist()) == [[0, 2], [1, 2], [2, 0], [2, 1]]
