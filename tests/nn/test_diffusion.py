"""Labels spread along the edges, computed by hand on a path."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.graphs import GraphSet
from mpnp.nn.diffusion import diffuse
from mpnp.nn.neighbours import Neighbours


def path(nodes: int, extra: int = 0) -> Neighbours:
    """0 - 1 - 2 - …, and ``extra`` isolated nodes after it."""
    forth = torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)])
    graph = Data(x=torch.zeros(nodes + extra, 1), edge_index=torch.cat([forth, forth.flip(0)], 1))
    return Neighbours(GraphSet.from_data_list([graph]).select(torch.tensor([0])))


def shown(labels: list[int], classes: int) -> Tensor:
    out = torch.zeros(len(labels), classes)
    for node, label in enumerate(labels):
        if label >= 0:
            out[node, label] = 1
    return out


def test_a_path_of_three_by_hand() -> None:
    """Label 0 at one end, label 1 at the other; the ends have degree 1, the middle degree 2: each sends 1/√2."""
    shares, masses = diffuse(path(3), shown([0, -1, 1], 2), (1, 3))
    assert shares.shape == (3, 2, 2) and masses.shape == (3, 2)
    for reach in range(2):  # the ends are clamped, so further steps change nothing
        assert shares[:, :, reach].tolist() == [[1, 0], [0.5, 0.5], [0, 1]]
        mass = math.log10(min(1.0, 2 * 0.95 / math.sqrt(2))) / 6
        torch.testing.assert_close(masses[:, reach], torch.tensor([0, mass, 0]))


def test_a_path_of_four_by_hand() -> None:
    """One label at node 0. With a = keep/√2 and b = keep/2: F_1 = a, then F_2 = b F_1, F_1 = a + b F_2, F_3 = a F_2."""
    keep = 0.8
    a, b = keep / math.sqrt(2), keep / 2
    shares, masses = diffuse(path(4), shown([0, -1, -1, -1], 1), (3, 1, 2), keep)
    # Reaches are read in rising order.
    arrived = [[1, a, 0, 0], [1, a, a * b, 0], [1, a + a * b**2, a * b, a**2 * b]]
    expected = torch.tensor([[math.log10(m) / 6 if m else -1 for m in row] for row in arrived]).t()
    torch.testing.assert_close(masses, expected)
    assert shares[:, 0].tolist() == [[1, 1, 1], [1, 1, 1], [0, 1, 1], [0, 0, 1]]


def test_the_nearer_label_has_the_larger_share() -> None:
    shares, _ = diffuse(path(6), shown([0, -1, -1, -1, -1, 1], 2), (40,))
    of_first = shares[:, 0, 0]
    assert (of_first.diff() < 0).all()
    torch.testing.assert_close(of_first, 1 - of_first.flip(0))


def test_the_further_a_label_the_less_arrives() -> None:
    _, masses = diffuse(path(6), shown([0, -1, -1, -1, -1, -1], 2), (40,), keep=0.8)
    assert (masses.diff(dim=0) < 0).all()


def test_labels_stay_what_they_are() -> None:
    labels = [2, 0, 1, 1, -1, 0]
    context = torch.tensor(labels) >= 0
    given = shown(labels, 3)
    shares, masses = diffuse(path(6), given, (1, 7))
    for reach in range(2):
        assert torch.equal(shares[context][:, :, reach], given[context])
    torch.testing.assert_close(masses[context], torch.zeros(5, 2), rtol=0, atol=1e-7)


def test_where_no_label_comes_there_is_no_share_and_no_mass() -> None:
    shares, masses = diffuse(path(3, extra=2), shown([1, -1, -1, -1, -1], 2), (1, 20))
    # Node 2 is two steps away; nodes 3 and 4 are in no step's reach.
    for node, reach in ((2, 0), (3, 0), (3, 1), (4, 0), (4, 1)):
        assert shares[node, :, reach].tolist() == [0, 0]
        torch.testing.assert_close(masses[node, reach], torch.tensor(-1.0))
    assert shares[2, :, 1].tolist() == [0, 1]
    nothing, nowhere = diffuse(path(3), shown([-1, -1, -1], 2), (1, 2, 3))
    assert torch.equal(nothing, torch.zeros(3, 2, 3))
    torch.testing.assert_close(nowhere, torch.full((3, 3), -1.0))


def test_diffusion_follows_directed_edges_one_way() -> None:
    graph = Data(x=torch.zeros(3, 1), edge_index=torch.tensor([[0, 1], [1, 2]]))
    neighbours = Neighbours(GraphSet.from_data_list([graph]).select(torch.tensor([0])))
    shares, _ = diffuse(neighbours, shown([-1, 0, -1], 1), (5,))
    assert shares.flatten().tolist() == [0, 1, 1]
