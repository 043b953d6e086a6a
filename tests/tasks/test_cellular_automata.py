"""The automata's graphs are what they claim to be, and their labels follow their rules."""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.spatial import SphericalVoronoi, Voronoi
from scipy.stats import chisquare
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.graphs import GraphSet, plain_edges
from mpnp.models.mode import Mode, RulePosterior, StateMode
from mpnp.prediction import Predictor
from mpnp.tasks import cellular_automata, lattices
from mpnp.tasks.base import SPLITS, Split
from mpnp.tasks.cellular_automata import FAMILIES, SIDE, CellularAutomaton, generate

DENSITY = FAMILIES[:4]
Ints = NDArray[np.int64]
Pairs = set[tuple[int, int]]


def pairs(edges: Ints) -> Pairs:
    return {(min(u, v), max(u, v)) for u, v in edges.T.tolist()}


def local(edges: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """The edges numbered from 0 in each graph, and the graph of each; fails if one leads from one graph to another."""
    owner = np.searchsorted(sizes.cumsum(), edges, side="right")
    assert (owner[0] == owner[1]).all()
    return edges - (sizes.cumsum() - sizes)[owner], owner[0]


def apart(edges: Ints, sizes: Ints) -> list[Ints]:
    within, owner = local(edges, sizes)
    return [within[:, owner == number] for number in range(len(sizes))]


def as_networkx(edges: Ints, sizes: Ints) -> list[nx.Graph]:
    """One graph per size; fails on self-loops, duplicates and nodes out of range."""
    graphs = []
    for mine, size in zip(apart(edges, sizes), sizes.tolist(), strict=True):
        graph = nx.Graph(pairs(mine))
        graph.add_nodes_from(range(size))
        assert len(graph) == size
        assert graph.number_of_edges() == mine.shape[1]
        assert nx.number_of_selfloops(graph) == 0
        graphs.append(graph)
    return graphs


@pytest.mark.parametrize("p", [0.0, 0.1, 1.0])
def test_small_world_keeps_its_edges(p: float) -> None:
    sizes = np.array([100, 200, 151, 137, 101])
    edges = lattices.small_world(sizes, np.random.default_rng(0), p=p)
    for graph, size in zip(as_networkx(edges, sizes), sizes, strict=True):
        assert graph.number_of_edges() == 5 * size
        assert (min(dict(graph.degree).values()) == 10) is (p == 0)
        ring = nx.watts_strogatz_graph(size, 10, 0)
        kept = len(pairs(np.array(graph.edges).T) & pairs(np.array(ring.edges).T)) / (5 * size)
        # An edge that is moved lands on the ring again with a probability of about 10 / size.
        assert kept == pytest.approx(1 - p, abs=0.06 + 0.1 * p) if p else kept == 1


@pytest.mark.parametrize("p", [0.1, 0.6])
def test_small_world_is_like_networkx(p: float) -> None:
    """Clustering, path lengths, degrees and the edges left on the ring, each within four standard errors."""
    sizes = np.full(60, 120)
    ours = as_networkx(lattices.small_world(sizes, np.random.default_rng(0), p=p), sizes)
    theirs = [nx.watts_strogatz_graph(120, 10, p, seed=i) for i in range(60)]
    ring = pairs(np.array(nx.watts_strogatz_graph(120, 10, 0).edges).T)

    def statistics(graph: nx.Graph) -> list[float]:
        degree = np.array([d for _, d in graph.degree])
        return [
            nx.average_clustering(graph),
            nx.average_shortest_path_length(graph),
            degree.var(),
            *((degree == d).mean() for d in range(7, 15)),
            len(pairs(np.array(graph.edges).T) & ring) / 600,
        ]

    each = [np.array([statistics(graph) for graph in graphs]) for graphs in (ours, theirs)]
    error = np.sqrt(sum(values.var(0, ddof=1) / len(values) for values in each))
    assert (abs(each[0].mean(0) - each[1].mean(0)) < 4 * error).all()


Law = dict[int, float]


def bit(u: int, v: int) -> int:
    """A graph is a number with one bit per pair of its nodes."""
    return 1 << (max(u, v) * (max(u, v) - 1) // 2 + min(u, v))


def numbers(edges: Ints, sizes: Ints) -> Ints:
    """The graphs as numbers."""
    within, owner = local(edges, sizes)
    low, high = np.sort(within, axis=0)
    return np.bincount(owner, weights=2.0 ** (high * (high - 1) // 2 + low)).astype(np.int64)


def small_world_law(n: int, k: int, p: float) -> Law:
    """The probability of every graph, by taking every turn of the process: edge after edge, any free node."""
    ring = [(u, (u + lap) % n) for lap in range(1, k // 2 + 1) for u in range(n)]
    law = {sum(bit(u, v) for u, v in ring): 1.0}
    for u, v in ring:
        after: Law = defaultdict(float)
        for graph, probability in law.items():
            free = [w for w in range(n) if w != u and not graph & bit(u, w)]
            if p < 1 or not free:
                after[graph] += probability * (1 - p if free else 1)
            for w in free:
                after[graph - bit(u, v) + bit(u, w)] += probability * p / len(free)
        law = after
    return law


def scale_free_law(n: int, m: int) -> Law:
    """The same for preferential attachment: each new node's links in every order, drawn by degree without repetition."""
    law = {sum(bit(0, v) for v in range(1, m + 1)): 1.0}
    for new in range(m + 1, n):
        after: Law = defaultdict(float)
        for graph, probability in law.items():
            degree = [sum(bool(graph & bit(u, v)) for v in range(new) if v != u) for u in range(new)]
            for links in permutations(range(new), m):
                chance, left = probability, sum(degree)
                for link in links:
                    chance *= degree[link] / left
                    left -= degree[link]
                after[graph + sum(bit(link, new) for link in links)] += chance
        law = after
    return law


def follows(sample: Ints, law: Law) -> bool:
    """Pearson's test at 0.1 %; graphs that are expected fewer than five times count as one."""
    assert sum(law.values()) == pytest.approx(1)
    graphs, counts = np.unique(sample, return_counts=True)
    found = dict(zip(graphs.tolist(), counts.tolist(), strict=True))
    assert found.keys() <= law.keys()
    often = [graph for graph, probability in law.items() if probability * len(sample) >= 5]
    seen = [found.get(graph, 0) for graph in often]
    expected = [law[graph] * len(sample) for graph in often]
    if len(often) < len(law):
        seen.append(len(sample) - sum(seen))
        expected.append(len(sample) - sum(expected))
    return bool(chisquare(seen, expected).pvalue > 0.001)


@pytest.mark.parametrize(("k", "p"), [(4, 0.3), (4, 1.0), (2, 0.5)])
def test_small_world_is_the_process_of_networkx(k: int, p: float) -> None:
    """Small graphs are crowded: edges dispute where to land, places on the ring are taken again, nodes become full."""
    law = small_world_law(6, k, p)
    rng = np.random.default_rng(0)
    sizes = np.tile([6, 9], 50)  # among others
    sample = np.concatenate([numbers(lattices.small_world(sizes, rng, k, p), sizes)[::2] for _ in range(150)])
    assert follows(sample, law)
    theirs = [nx.watts_strogatz_graph(6, k, p, seed=i) for i in range(3000)]
    assert follows(np.array([sum(bit(u, v) for u, v in graph.edges) for graph in theirs]), law)


def test_a_complete_small_world_stays_as_it_is() -> None:
    sizes = np.array([5, 12, 5])
    first, _, last = as_networkx(lattices.small_world(sizes, np.random.default_rng(0), k=4, p=1.0), sizes)
    assert first.number_of_edges() == last.number_of_edges() == 10


def test_scale_free_is_the_process_of_networkx() -> None:
    law = scale_free_law(7, 2)
    sizes = np.tile([7, 3, 9], 15000)
    assert follows(numbers(lattices.scale_free(sizes, np.random.default_rng(0), 2), sizes)[::3], law)
    theirs = [nx.barabasi_albert_graph(7, 2, seed=i) for i in range(3000)]
    assert follows(np.array([sum(bit(u, v) for u, v in graph.edges) for graph in theirs]), law)


def test_scale_free_has_as_many_edges_and_hubs_as_networkx() -> None:
    sizes = np.concatenate([np.full(200, 150), [100, 200, 177]])
    ours = as_networkx(lattices.scale_free(sizes, np.random.default_rng(0)), sizes)
    for graph, size in zip(ours, sizes, strict=True):
        assert graph.number_of_edges() == 3 + 3 * (size - 4)
    assert all(nx.is_connected(graph) for graph in ours[-10:])
    theirs = [nx.barabasi_albert_graph(150, 3, seed=i) for i in range(200)]
    degrees = [np.array([sorted(dict(g.degree).values()) for g in graphs]) for graphs in (ours[:200], theirs)]
    ours_max, theirs_max = (degree[:, -1].mean() for degree in degrees)
    assert ours_max == pytest.approx(theirs_max, rel=0.07)
    for degree in (3, 4, 6, 10):
        ours_share, theirs_share = ((each == degree).mean() for each in degrees)
        assert ours_share == pytest.approx(theirs_share, abs=0.012)


def test_voronoi_neighbours_share_a_border() -> None:
    rng = np.random.default_rng(0)
    sizes = np.array([100, 200, 143, 4, *rng.integers(5, 30, 150)])
    points = rng.random((sizes.sum(), 2))
    edges = lattices.voronoi(points, sizes)
    as_networkx(edges, sizes)
    for mine, cloud in zip(apart(edges, sizes), np.split(points, sizes.cumsum()[:-1]), strict=True):
        assert pairs(mine) == pairs(Voronoi(cloud).ridge_points.T)


def test_spherical_voronoi_neighbours_share_a_border() -> None:
    rng = np.random.default_rng(0)
    sizes = np.array([100, 160, 12, *rng.integers(5, 15, 100)])
    points = rng.normal(size=(sizes.sum(), 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    edges = lattices.spherical_voronoi(points, sizes)
    as_networkx(edges, sizes)
    for mine, cloud in zip(apart(edges, sizes), np.split(points, sizes.cumsum()[:-1]), strict=True):
        assert mine.shape[1] == 3 * len(cloud) - 6
        corners = [set(region) for region in SphericalVoronoi(cloud).regions]
        cells = range(len(cloud))
        bordering = {(u, v) for u in cells for v in cells if u < v and len(corners[u] & corners[v]) >= 2}
        assert pairs(mine) == bordering


def test_torus_neighbours_are_one_step_away() -> None:
    (board,) = as_networkx(lattices.torus(6), np.array([36]))
    for row in range(6):
        for column in range(6):
            steps = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
            around = {(row + i) % 6 * 6 + (column + j) % 6 for i, j in steps}
            assert len(around) == 8
            assert set(board[row * 6 + column]) == around


def everything(splits: dict[Split, GraphSet]) -> list[Data]:
    return [splits[split].select(torch.tensor([i])) for split in SPLITS for i in range(len(splits[split]))]


@pytest.mark.parametrize("family", FAMILIES)
def test_labels_follow_the_rule(family: str) -> None:
    """One cell at a time, on the edges that models see, for graphs of all three splits."""
    rules = generate(family, 60, 0)["rule"]
    graphs = everything(CellularAutomaton(family, graphs_total=60).splits)
    assert len(graphs) == len(rules)
    outcomes = set()
    for number in (0, 1, 2, len(graphs) * 3 // 4, len(graphs) - 1):
        graph, rule = graphs[number], rules[number].tolist()
        near: list[list[int]] = [[] for _ in range(graph.num_nodes)]
        for source, target in plain_edges(graph.edge_index).t().tolist():
            near[target].append(source)
        for cell in range(graph.num_nodes):
            dead, alive = graph.x[cell].tolist()
            assert dead + alive == 1
            living = sum(graph.x[other, 1].item() for other in near[cell])
            if family == "life-like":
                lives = bool(rule[0] >> int(9 * alive + living) & 1)
            else:
                low, high, inverted = (rule[2], rule[3], rule[5]) if alive else (rule[0], rule[1], rule[4])
                inside = low <= living / len(near[cell]) <= high
                lives = not inside if inverted else inside
            assert graph.y[cell] == lives
            outcomes.add(lives)
    assert outcomes == {False, True}


@pytest.mark.parametrize("family", DENSITY)
def test_density_rules_come_from_the_prior(family: str) -> None:
    """Sorted uniforms have means 1/3 and 2/3; half of the intervals are inverted, birth apart from survival."""
    rule = generate(family, 600, 0)["rule"].astype(float)
    np.testing.assert_allclose(rule.mean(0), [1 / 3, 2 / 3, 1 / 3, 2 / 3, 1 / 2, 1 / 2], atol=0.06)
    assert abs(np.corrcoef(rule[:, 4], rule[:, 5])[0, 1]) < 0.15
    assert abs(np.corrcoef(rule[:, 0], rule[:, 2])[0, 1]) < 0.15


@pytest.mark.parametrize("family", FAMILIES)
def test_no_rule_is_in_two_splits(family: str) -> None:
    rules = generate(family, 300, 0)["rule"]
    assert len(np.unique(rules, axis=0)) == len(rules)
    splits = CellularAutomaton(family, graphs_total=300).splits
    count = len(rules)
    assert [len(splits[split]) for split in SPLITS] == [
        int(0.7 * count),
        int(0.8 * count) - int(0.7 * count),
        count - int(0.8 * count),
    ]


def test_life_like_boards_hold_every_pair() -> None:
    splits = CellularAutomaton("life-like", graphs_total=60).splits
    for graph in everything(splits):
        source, target = plain_edges(graph.edge_index)
        assert torch.equal(torch.bincount(target), torch.full((SIDE * SIDE,), 8))
        living = torch.bincount(target, weights=graph.x[source, 1]).long()
        assert len((9 * graph.x[:, 1].long() + living).unique()) == 18


@pytest.mark.parametrize("family", FAMILIES)
def test_what_models_see_is_what_was_generated(family: str) -> None:
    arrays = generate(family, 60, 0)
    splits = CellularAutomaton(family, graphs_total=60).splits
    assert torch.cat([splits[split].x[:, 1] for split in SPLITS]).tolist() == arrays["state"].tolist()
    assert torch.cat([splits[split].y for split in SPLITS]).tolist() == arrays["label"].tolist()
    assert torch.cat([splits[split].sizes for split in SPLITS]).tolist() == np.diff(arrays["ptr"]).tolist()
    for store in splits.values():
        assert store.undirected
        fresh = GraphSet(store.x, store.y, store.edge_index, store.ptr)  # finds out by itself
        assert fresh.undirected
    if family in DENSITY:
        starts = np.cumsum([0] + [splits[split].num_nodes for split in SPLITS[:-1]]).tolist()
        sources = [splits[split].edge_index[0] + start for split, start in zip(SPLITS, starts, strict=True)]
        assert torch.cat(sources).tolist() == arrays["neighbours"].tolist()
    if "voronoi" in family:
        positions = torch.cat([splits[split].extra["pos"] for split in SPLITS])
        assert torch.equal(positions, torch.from_numpy(arrays["pos"]))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_seed_decides_everything(family: str) -> None:
    first, again, other = generate(family, 60, 3), generate(family, 60, 3), generate(family, 60, 4)
    assert first.keys() == again.keys()
    for key, value in first.items():
        np.testing.assert_array_equal(value, again[key])
    assert not np.array_equal(first["rule"], other["rule"])
    assert not np.array_equal(first["state"], other["state"])


@pytest.mark.parametrize("family", FAMILIES)
def test_the_second_load_reads_the_first_ones_file(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPNP_CACHE", str(tmp_path / "new" / "folder"))
    first = CellularAutomaton(family, graphs_total=60).load()
    names = [path.name for path in (tmp_path / "new" / "folder").iterdir()]
    assert len(names) == 1  # and so nothing temporary
    assert names[0].startswith(f"ca-{family}-")
    assert names[0].endswith(".npz")

    other = CellularAutomaton(family, seed=1, graphs_total=60).load()
    assert not torch.equal(other["train"].y[:900], first["train"].y[:900])

    def no_more(*_: object) -> None:
        raise AssertionError("generated again")

    monkeypatch.setattr(cellular_automata, "generate", no_more)
    second = CellularAutomaton(family, graphs_total=60).load()
    for split in SPLITS:
        for key in ("x", "y", "edge_index", "ptr", "edge_ptr"):
            assert torch.equal(getattr(first[split], key), getattr(second[split], key)), key
        assert first[split].extra.keys() == second[split].extra.keys()
    with pytest.raises(AssertionError, match="generated again"):
        CellularAutomaton(family, graphs_total=61).load()


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: object, **_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("MPNP_CACHE", str(tmp_path))
    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(UserError, match="No space left on device"):
        CellularAutomaton("scale-free", graphs_total=60).load()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("family", "mode", "state_mode", "tolerance"),
    [
        ("small-world", 70.1, 82.1, 1.2),
        ("scale-free", 68.25, 76.9, 1.2),
        ("voronoi", 69.4, 78.7, 1.2),
        ("spherical-voronoi", 67.9, 78.7, 1.2),
        ("life-like", 62.7, 67.6, 1.0),
    ],
)
def test_the_full_dataset_has_the_known_modes(family: str, mode: float, state_mode: float, tolerance: float) -> None:
    """How often the most common label, of the graph and of the state, is right when all labels are shown."""
    arrays = generate(family, 2700, 0)
    sizes = np.diff(arrays["ptr"])
    if family == "life-like":
        assert 2500 <= len(sizes) <= 2750
        assert (sizes == 900).all()
    else:
        assert len(sizes) == 2700
        assert 148 <= sizes.mean() <= 152
        assert (sizes.min(), sizes.max()) == (100, 200)
    y = torch.from_numpy(arrays["label"]).long()
    graph = Data(  # the modes do not look at edges
        x=torch.nn.functional.one_hot(torch.from_numpy(arrays["state"]).long(), 2).float(),
        edge_index=torch.empty(2, 0, dtype=torch.long),
        batch=torch.repeat_interleave(torch.arange(len(sizes)), torch.from_numpy(sizes)),
        ptr=torch.from_numpy(arrays["ptr"]),
    )
    episode = Episode(graph, y, torch.ones_like(y, dtype=torch.bool), torch.ones_like(y, dtype=torch.bool), 2)
    wanted: list[tuple[Predictor, float]] = [(Mode(), mode), (StateMode(), state_mode)]
    for predictor, expected in wanted:
        right = 100 * (predictor.predict(episode).label == y).double().mean().item()
        assert right == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize("family", ["small-world", "voronoi"])
def test_a_mirrored_automaton_still_follows_a_density_rule(family: str) -> None:
    task = CellularAutomaton(family, graphs_total=40)
    graph = task.graphs("train").select(torch.arange(20))
    start, outcome = graph.x.clone(), graph.y.clone()
    mirrored = task.augment(graph, torch.Generator().manual_seed(0))
    assert not torch.equal(mirrored.x, start)
    assert not torch.equal(mirrored.y, outcome)
    every = torch.ones_like(mirrored.y, dtype=torch.bool)
    prediction = RulePosterior().predict(Episode(mirrored, mirrored.y, every, every, 2))
    # The exact predictor knows every outcome, and no graph falls back to counting.
    assert torch.equal(prediction.label, mirrored.y)
    assert (prediction.aleatoric == 0).all()
