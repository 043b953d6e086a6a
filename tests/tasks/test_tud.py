"""The TUD tasks: on folders written here, and on the collection itself where it is at hand."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from mpnp.errors import UserError
from mpnp.tasks.base import SPLITS, cache_folder
from mpnp.tasks.sources import data_root, find_data
from mpnp.tasks.tud import DATASETS, TudTask

DATA = Path(os.environ.get("MPNP_DATA") or Path(__file__).parents[3] / "shared" / "data")
real = pytest.mark.skipif(not (DATA / "tud").exists(), reason="needs the TUD files: set MPNP_DATA to their folder")


def write(folder: Path, name: str, graphs: list[list[str]], edges: list[list[tuple[int, int]]]) -> None:
    """A TUD set of ``graphs``, each a line 'label, attributes…' per node, joined by ``edges`` (each pair once)."""
    folder.mkdir(parents=True, exist_ok=True)
    indicator, pairs, start = [], [], 1
    for number, (nodes, joined) in enumerate(zip(graphs, edges, strict=True), start=1):
        indicator += [str(number)] * len(nodes)
        pairs += [f"{a + start}, {b + start}" for u, v in joined for a, b in ((u, v), (v, u))]
        start += len(nodes)
    rows = [node.split(", ", 1) for nodes in graphs for node in nodes]
    texts = {
        "A": pairs,
        "graph_indicator": indicator,
        "node_labels": [row[0] for row in rows],
        "node_attributes": [row[1] for row in rows],
    }
    for kind, lines in texts.items():
        (folder / f"{name}_{kind}.txt").write_text("\n".join(lines) + "\n")


PATH = [(0, 1), (1, 2)]


def proteins(folder: Path) -> None:
    """27 proteins of 3 elements; number 2 is in two pieces, number 5 holds a negative length. Attribute 3 is the number."""

    def node(label: int, number: int, length: int = 4) -> str:
        return ", ".join(map(str, [label, -7, 9, length, number, *range(25)]))

    graphs = [[node(0, i), node(1, i), node(2, i)] for i in range(27)]
    graphs[5][1] = node(1, 5, length=-134)
    edges = [PATH] * 27
    edges[2] = [(0, 1)]
    write(folder / "tud" / "PROTEINS_full" / "raw", "PROTEINS_full", graphs, edges)


def enzymes(folder: Path) -> None:
    """5 enzymes, the first in two pieces and with a negative length."""
    graphs = [[f"{label}, {length}, " + ", ".join(["0"] * 17) for label in (3, 1, 2)] for length in (-5, 1, 2, 3, 4)]
    write(folder / "tud" / "ENZYMES" / "raw", "ENZYMES", graphs, [[(0, 1)], *[PATH] * 4])


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data root and a cache of this test alone."""
    monkeypatch.setenv("MPNP_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MPNP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "data"


# --- On small data ---------------------------------------------------------------------------------------------------


def test_where_data_is_looked_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert data_root() == root
    in_cache = cache_folder() / "data" / "x"
    assert find_data("x") == in_cache
    (root / "x").mkdir(parents=True)
    assert find_data("x") == root / "x"
    for unset in (lambda: monkeypatch.setenv("MPNP_DATA", ""), lambda: monkeypatch.delenv("MPNP_DATA")):
        unset()
        assert data_root() == cache_folder() / "data" and find_data("x") == in_cache


def test_proteins_in_pieces_or_of_negative_length_are_left_out(root: Path) -> None:
    proteins(root)
    task = TudTask("proteins")
    assert (task.name, task.num_features, task.num_classes, task.num_relations) == ("tud/proteins", 29, 3, 1)
    assert task.standardise and not task.arbitrary and task.missing() is None and task.class_names == ["0", "1", "2"]
    assert [len(task.graphs(split)) for split in SPLITS] == [18, 2, 5]
    number = torch.cat([task.graphs(split).x[::3, 3] for split in SPLITS]).long()
    assert sorted(number.tolist()) == [i for i in range(27) if i not in (2, 5)]
    train = task.graphs("train")
    assert train.x[0].tolist()[:3] == [-7.0, 9.0, 4.0]  # a negative first residue is no fault
    assert train.y.view(-1, 3).tolist() == [[0, 1, 2]] * 18 and train.undirected
    assert train.select(torch.tensor([3])).edge_index.tolist() == [[1, 0, 2, 1], [0, 1, 1, 2]]


def test_a_seed_is_a_split(root: Path) -> None:
    proteins(root)

    def numbers(seed: int) -> list[list[float]]:
        return [TudTask("proteins", seed).graphs(split).x[::3, 3].tolist() for split in SPLITS]

    assert numbers(0) == numbers(0) != numbers(1)


def test_other_sets_are_whole_and_their_labels_counted_from_0(root: Path) -> None:
    enzymes(root)
    task = TudTask("enzymes")
    assert [len(task.graphs(split)) for split in SPLITS] == [4, 0, 1] and task.class_names == ["1", "2", "3"]
    lengths = torch.cat([task.graphs(split).x[::3, 0] for split in SPLITS])
    assert sorted(lengths.tolist()) == [-5, 1, 2, 3, 4]
    assert task.graphs("test").y.tolist() == [2, 0, 1]


@pytest.mark.parametrize(("kind", "line"), [("node_labels", "4\n" * 15), ("node_attributes", "0, 0\n" * 15)])
def test_files_of_another_set(root: Path, kind: str, line: str) -> None:
    enzymes(root)
    (root / "tud" / "ENZYMES" / "raw" / f"ENZYMES_{kind}.txt").write_text(line)
    with pytest.raises(UserError, match=r"ENZYMES has 18 and 1, 2, 3; fetch it again\.$"):
        TudTask("enzymes").load()


def test_an_unknown_set() -> None:
    with pytest.raises(UserError, match="no TUD task named 'protein': did you mean 'proteins'"):
        TudTask("protein")


# --- Downloads -------------------------------------------------------------------------------------------------------


def downloads(monkeypatch: pytest.MonkeyPatch, fill: Callable[[Path], None]) -> list[str]:
    """PyG's class replaced by one that calls ``fill`` with its folder; returns the names it is asked for."""
    asked = []

    class TUDataset:
        url = "https://example.org"

        def __init__(self, root: str, name: str) -> None:
            asked.append(name)
            fill(Path(root))

    monkeypatch.setattr("torch_geometric.datasets.TUDataset", TUDataset)
    return asked


def test_what_is_missing_is_downloaded_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(folder: Path) -> None:
        enzymes(folder)
        (folder / "tud" / "ENZYMES").rename(folder / "ENZYMES")
        (folder / "ENZYMES" / "processed").mkdir()

    asked = downloads(monkeypatch, fill)
    missing = TudTask("enzymes").missing()
    assert missing is not None and "tud/ENZYMES/raw" in missing and not asked
    assert len(TudTask("enzymes").graphs("train")) == len(TudTask("enzymes").graphs("train")) == 4
    assert asked == ["ENZYMES"] and TudTask("enzymes").missing() is None
    folder = cache_folder() / "data" / "tud"
    assert [path.name for path in folder.iterdir()] == ["ENZYMES"] and not root.exists()
    assert [path.name for path in (folder / "ENZYMES").iterdir()] == ["raw"]


def test_a_failing_download_leaves_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(folder: Path) -> None:
        (folder / "ENZYMES" / "raw").mkdir(parents=True)
        (folder / "ENZYMES" / "raw" / "ENZYMES_A.txt").write_text("1, 2\n")
        raise ConnectionError("no route\nto host")

    downloads(monkeypatch, fill)
    with pytest.raises(UserError) as error:
        TudTask("enzymes").load()
    assert "ENZYMES could not be downloaded from https://example.org" in str(error.value)
    assert "no route to host" in str(error.value) and "\n" not in str(error.value)
    assert not list((cache_folder() / "data" / "tud").iterdir())


# --- On the collection -----------------------------------------------------------------------------------------------

# Graphs, mean nodes, features, classes; the graphs of each split. Of proteins what the rules leave of 1113 graphs.
FACTS = {
    "proteins": (1062, 37.36, 29, 3, [765, 85, 212]),
    "enzymes": (600, 32.63, 18, 3, [432, 48, 120]),
    "dhfr": (756, 42.43, 3, 9, [545, 60, 151]),
    "cox2": (467, 41.22, 3, 8, [337, 37, 93]),
    "bzr": (405, 35.75, 3, 10, [292, 32, 81]),
}


@pytest.fixture(scope="module")
def collection() -> dict[str, TudTask]:
    """Every set, read once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPNP_DATA", str(DATA))
        tasks = {key: TudTask(key) for key in DATASETS}
        for task in tasks.values():
            assert task.splits
    return tasks


@real
@pytest.mark.parametrize("key", DATASETS)
def test_the_collection(collection: dict[str, TudTask], key: str) -> None:
    graphs, nodes, num_features, num_classes, sizes = FACTS[key]
    splits = [collection[key].graphs(split) for split in SPLITS]
    assert [len(part) for part in splits] == sizes and sum(sizes) == graphs
    assert round(sum(part.num_nodes for part in splits) / graphs, 2) == nodes
    assert all(part.num_features == num_features and part.undirected for part in splits)
    y = torch.cat([part.y for part in splits])
    assert y.unique().tolist() == list(range(num_classes)) == list(range(collection[key].num_classes))


@real
@pytest.mark.parametrize("key", DATASETS)
def test_no_feature_is_a_label(collection: dict[str, TudTask], key: str) -> None:
    """No column tells the nodes of a class from all others by one value, as the one-hot in PyG's ``x`` would."""
    train = collection[key].graphs("train")
    for column in train.x.T:
        for label in train.y.unique():
            inside = column[train.y == label]
            if inside.numel() > 1 and (inside == inside[0]).all():
                assert (column[train.y != label] == inside[0]).any()


@real
def test_proteins_before_the_rules() -> None:
    """The 51 graphs left out are what lacks to the published 1113, and column 2 is a length."""
    lines = (DATA / "tud/PROTEINS_full/raw/PROTEINS_full_graph_indicator.txt").read_text().split()
    assert len(set(lines)) == 1113 == FACTS["proteins"][0] + 51 and round(len(lines) / 1113, 2) == 39.06


@real
def test_the_length_of_an_element(collection: dict[str, TudTask]) -> None:
    first, last, length = collection["proteins"].graphs("train").x[:, :3].T
    assert torch.equal(length, last - first + 1) and (length > 0).all() and (first < 0).any()
