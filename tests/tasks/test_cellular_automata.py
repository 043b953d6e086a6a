"""The automata's graphs are what they claim to be, and their labels follow their rules."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.graphs import GraphSet, plain_edges
from mpnp.models.mode import Mode, RulePosterior, StateMode
from mpnp.prediction import Predictor
from mpnp.tasks import cellular_automata
from mpnp.tasks.base import SPLITS, Split
from mpnp.tasks.cellular_automata import FAMILIES, SIDE, CellularAutomaton, generate

DENSITY = FAMILIES[:4]
Ints = NDArray[np.int64]
Pairs = set[tuple[int, int]]


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


def test_a_damaged_cache_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPNP_CACHE", str(tmp_path))
    for family in ("small-world", "life-like"):
        task = CellularAutomaton(family, graphs_total=20)
        before = task.load()
        (file,) = tmp_path.glob(f"ca-{family}-*")
        whole = file.read_bytes()
        for content in (b"", b"hello", whole[: len(whole) // 2]):
            file.write_bytes(content)
            after = CellularAutomaton(family, graphs_total=20).load()
            for split in SPLITS:
                assert torch.equal(before[split].y, after[split].y)
                assert torch.equal(before[split].edge_index, after[split].edge_index)
            assert file.read_bytes() == whole
