"""Graph networks: what they read, and what they cannot know."""

from __future__ import annotations

import itertools

import torch
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.models.gnn import GraphNetwork, GraphNetworkConfig
from mpnp.training.objectives import objective


def episode(classes: int = 3) -> Episode:
    generator = torch.Generator().manual_seed(0)
    nodes = 30
    edge_index = torch.randint(nodes, (2, 80), generator=generator)
    y = torch.randint(classes, (nodes,), generator=generator)
    graph = Data(x=torch.randn(nodes, 4, generator=generator), edge_index=edge_index, y=y)
    return Episode.from_graphs([graph], torch.arange(nodes) < 10, classes)


def test_an_inductive_network_is_at_chance_under_arbitrary_labelling() -> None:
    """Over all ways to name the classes its accuracy is exactly 1 / C, as the paper's appendix derives."""
    torch.manual_seed(0)
    given = episode()
    model = GraphNetwork(GraphNetworkConfig(4, 3))
    accuracy = []
    for names in itertools.permutations(range(3)):
        renamed = given.relabelled(torch.tensor([names]))
        accuracy.append((model.predict(renamed).label == renamed.y).double().mean())
    torch.testing.assert_close(torch.stack(accuracy).mean(), torch.tensor(1 / 3, dtype=torch.float64))


def test_the_loss_is_the_cross_entropy_of_the_scored_nodes() -> None:
    torch.manual_seed(0)
    given = episode()
    for layers, scored in ((("gcn:8",), given.target), (("join", "linear:8", "mp:8"), given.unlabelled_targets)):
        model = GraphNetwork(GraphNetworkConfig(4, 3, layers=layers))
        p = model.predict(given).probabilities[scored]
        expected = -p.gather(1, given.y[scored].unsqueeze(1)).log().mean()
        torch.testing.assert_close(objective("multi-sample", model, given, 4).loss, expected)


def test_unimp_reads_the_context_of_its_neighbours() -> None:
    torch.manual_seed(0)
    path = torch.tensor([[0, 1, 1, 2, 3], [1, 0, 2, 1, 3]])
    graph = Data(x=torch.zeros(4, 2), edge_index=path, y=torch.tensor([0, 1, 1, 0]))
    shown = torch.tensor([True, False, False, False])
    model = GraphNetwork(GraphNetworkConfig(2, 2, layers=("join", "linear:16", "mp:16", "mp:16")))
    first = Episode.from_graphs([graph], shown)
    other = Episode.from_graphs([Data(x=graph.x, edge_index=path, y=torch.tensor([1, 1, 1, 0]))], shown)
    change = (model.predict(first).probabilities - model.predict(other).probabilities).abs().sum(1)
    assert (change[:3] > 1e-4).all()  # within two steps of the label
    assert change[3] == 0
