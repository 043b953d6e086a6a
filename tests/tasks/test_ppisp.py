"""Interaction sites: every rule for edges and features on proteins written here, and the published data where at hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mpnp.errors import UserError
from mpnp.graphs import GraphSet
from mpnp.tasks.base import SPLITS, cache_folder
from mpnp.tasks.ppisp import AMINO_ACIDS, PpispTask, typed_edges

DATA = Path(os.environ.get("MPNP_DATA") or Path(__file__).parents[3] / "shared" / "data")
real = pytest.mark.skipif(
    not (DATA / "ppisp" / "ppisp.npz").exists(), reason="needs ppisp/ppisp.npz: set MPNP_DATA to its folder"
)

Contacts = dict[tuple[int, int], float]
# (sequence, distances of C-alpha atoms, sites, split)
PROTEINS: list[tuple[str, Contacts, list[int], str]] = [
    ("FGKD", {(0, 1): 3.8, (0, 2): 8.5, (0, 3): 6.0, (1, 3): 7.0, (2, 3): 13.9}, [0, 1, 1, 0], "train"),
    ("CAC", {(0, 1): 3.8, (0, 2): 5.5, (1, 2): 3.8}, [0, 0, 1], "test"),
    ("VW", {(0, 1): 3.8}, [1, 0], "train"),
]


def arrays(proteins: list[tuple[str, Contacts, list[int], str]] = PROTEINS) -> dict[str, np.ndarray]:
    """The proteins in the layout of the file; residue n has n in all PSSM columns and the n-th secondary structure."""
    ids = [f"p{i}" for i in range(len(proteins))]
    sizes = [len(sequence) for sequence, *_ in proteins]
    number = np.arange(sum(sizes))
    dssp = np.zeros((len(number), 14), dtype=np.float32)
    dssp[:, :5] = [0.1, 0.2, 0.3, 0.4, 0.5]
    dssp[number, 5 + number % 9] = 1
    contacts = [pair for _, known, *_ in proteins for pair in known]
    return {
        "ids": np.array(ids),
        "split": np.array([split for *_, split in proteins]),
        "sequence": np.array([sequence for sequence, *_ in proteins]),
        "ptr": np.cumsum([0, *sizes]),
        "label": np.concatenate([sites for *_, sites, _ in proteins]).astype(np.uint8),
        "pssm": np.repeat(number[:, None], 20, axis=1).astype(np.int8),
        "dssp": dssp,
        "contact": np.array(contacts, dtype=np.int16).reshape(-1, 2),
        "distance": np.array([d for _, known, *_ in proteins for d in known.values()], dtype=np.float16),
        "contact_ptr": np.cumsum([0, *[len(known) for _, known, *_ in proteins]]),
    }


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data root and a cache of this test alone."""
    monkeypatch.setenv("MPNP_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MPNP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "data"


def write(folder: Path, **changes: Any) -> Path:
    path = folder / "ppisp" / "ppisp.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **{name: value for name, value in {**arrays(), **changes}.items() if value is not None})
    return path


def typed(graphs: GraphSet) -> set[tuple[int, ...]]:
    """Edges as (source, target, type); fails on duplicates."""
    assert graphs.edge_type is not None
    rows = torch.cat([graphs.edge_index, graphs.edge_type[None]]).T.tolist()
    assert len({tuple(row) for row in rows}) == len(rows)
    return {tuple(row) for row in rows}


def both(*edges: tuple[int, int, int]) -> set[tuple[int, ...]]:
    return {*edges, *[(v, u, kind) for u, v, kind in edges]}


# --- On small data ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pair", "distance", "types"),
    [
        ("GG", 7.9, {1}),
        ("GG", 8.0, set()),
        ("AV", 8.5, {2}),
        ("PM", 7.9, {1, 2}),
        ("IL", 9.0, set()),
        ("AG", 8.5, set()),
        ("RD", 9.9, {3}),
        ("EK", 9.9, {3}),
        ("HE", 9.9, {3}),
        ("RD", 10.0, set()),
        ("RK", 9.9, set()),
        ("DE", 7.9, {1}),
        ("FH", 9.9, {4}),
        ("WY", 8.9, {2, 4}),
        ("FF", 10.0, set()),
        ("CC", 7.4, {1, 5}),
        ("CC", 7.5, {1}),
        ("CM", 7.4, {1}),
        ("SS", 7.9, {1, 6}),
        ("EW", 7.9, {1, 6}),
        ("WW", 7.9, {1, 2, 4}),  # two donors
        ("NQ", 8.0, set()),
        ("KD", 7.9, {1, 3, 6}),
        ("YK", 9.9, {7}),
        ("RW", 9.9, {7}),
        ("HW", 9.9, {4}),  # histidine gives no cation here
        ("KF", 10.0, set()),
        ("YK", 7.9, {1, 6, 7}),
    ],
)
def test_the_type_of_an_interaction(pair: str, distance: float, types: set[int]) -> None:
    """Two residues with one between them; the other order of the two is the same."""
    for sequence in (f"{pair[0]}G{pair[1]}", f"{pair[1]}G{pair[0]}"):
        given = arrays([(sequence, {(0, 2): distance}, [0, 0, 0], "train")])
        acid = np.array([AMINO_ACIDS.index(letter) for letter in sequence])
        edges, kinds = typed_edges(given, acid, given["ptr"])
        found = {(u, v, kind) for (u, v), kind in zip(edges.T.tolist(), kinds.tolist(), strict=True)}
        assert found == both((0, 1, 0), (1, 2, 0), *[(0, 2, kind) for kind in types])


def test_three_proteins(root: Path) -> None:
    write(root)
    task = PpispTask()
    assert (task.name, task.num_features, task.num_classes, task.num_relations) == ("ppisp", 38, 2, 8)
    assert task.class_names == ["non-site", "site"] and task.standardise and task.missing() is None
    assert [len(task.graphs(split)) for split in SPLITS] == [1, 1, 1]
    assert typed(task.graphs("test")) == both((0, 1, 0), (1, 2, 0), (0, 2, 1), (0, 2, 5))
    by_size = {task.graphs(split).num_nodes: task.graphs(split) for split in ("train", "val")}
    # F-K: cation-pi beyond a contact; F-D and G-D: contacts; K-D: neighbours, though a gap lies between them.
    assert typed(by_size[4]) == both((0, 1, 0), (1, 2, 0), (2, 3, 0), (0, 2, 7), (0, 3, 1), (1, 3, 1))
    assert typed(by_size[2]) == both((0, 1, 0))  # neighbours carry no other type
    assert by_size[4].y.tolist() == [0, 1, 1, 0] and task.graphs("test").y.tolist() == [0, 0, 1]


def test_features(root: Path) -> None:
    write(root)
    x = torch.cat([PpispTask().graphs(split).x for split in SPLITS])
    x = x[x[:, 7].argsort()]  # residues in the order of the file, by their PSSM
    assert x.shape == (9, 38) and x.dtype == torch.float32
    assert torch.equal(x[:, 7:27], torch.arange(9.0)[:, None].expand(9, 20))
    assert torch.allclose(x[:, 27:32], torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5]))
    # H, B, E, G, I, T, S, coil, unknown
    assert x[:, 32:].argmax(1).tolist() == [0, 1, 1, 2, 2, 3, 4, 5, 5] and (x[:, 32:].sum(1) == 1).all()
    phenylalanine, glycine = x[0, :7].tolist(), x[1, :7].tolist()
    assert phenylalanine == pytest.approx([2.94, 0.29, 5.89, 1.79, 5.67, 0.30, 0.38])
    assert glycine == pytest.approx([0, 0, 0, 0, 6.07, 0.13, 0.15])
    assert torch.equal(x[4, :7], x[6, :7]) and len(x[:, :7].unique(dim=0)) == 8  # two of the nine are C


def test_labels_touch_neither_features_nor_edges(root: Path) -> None:
    write(root)
    before = PpispTask().splits
    write(root, label=1 - arrays()["label"])
    after = PpispTask().splits
    for split in SPLITS:
        assert torch.equal(before[split].x, after[split].x) and typed(before[split]) == typed(after[split])
        assert torch.equal(before[split].y, 1 - after[split].y)


def test_prepared_data_in_the_cache(root: Path) -> None:
    missing = PpispTask().missing()
    assert missing is not None and "mpnp data prepare ppisp --from DIR" in missing
    with pytest.raises(UserError, match="mpnp data prepare ppisp"):
        PpispTask().load()
    write(cache_folder() / "data")
    assert PpispTask().missing() is None and not root.exists() and len(PpispTask().graphs("test")) == 1


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"pssm": None}, "pssm"),
        ({"sequence": np.array(["FGKX", "CAC", "VW"])}, "no amino acid 'X'"),
        ({"sequence": np.array(["FGK", "CACD", "VW"])}, "do not fit together"),
        ({"ptr": np.array([0, 4, 7, 8])}, "do not fit together"),
        ({"contact_ptr": np.array([0, 5, 9])}, "do not fit together"),
        ({"contact": arrays()["contact"][:, ::-1]}, "do not fit together"),
        ({"contact": arrays()["contact"] + 1}, "do not fit together"),
        ({"dssp": arrays()["dssp"] * np.nan}, "do not fit together"),
        ({"label": arrays()["label"] + 1}, "do not fit together"),
        ({"pssm": arrays()["pssm"][:, :19]}, "do not fit together"),
        ({"ptr": np.array(7)}, "do not fit together"),
        ({"ptr": np.array(["a", "b"])}, "do not fit together"),
        ({"ptr": np.array([0, 4, 4, 4, 9])}, "do not fit together"),
        ({"contact_ptr": np.array([0, 7, 5, 9])}, "do not fit together"),
        ({"sequence": np.array([1, 2, 3])}, "do not fit together"),
        ({"split": np.array("train")}, "do not fit together"),
        ({"dssp": arrays()["dssp"].astype(str)}, "do not fit together"),
        ({"split": np.array(["train", "test", "test"])}, "two proteins for training"),
        ({"split": np.array(["train", "train", "train"])}, "one for testing"),
    ],
)
def test_bad_files(root: Path, changes: dict[str, Any], part: str) -> None:
    path = write(root, **changes)
    with pytest.raises(UserError) as error:
        PpispTask().load()
    assert part in str(error.value) and str(path) in str(error.value) and "\n" not in str(error.value)


def test_a_damaged_file(root: Path) -> None:
    path = write(root)
    whole = path.read_bytes()
    for content in (b"", b"hello", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"cannot be read .*; prepare it again"):
            PpispTask().load()


# --- On the published data -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def published() -> PpispTask:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPNP_DATA", str(DATA))
        task = PpispTask()
        assert task.splits
    return task


@real
def test_the_published_proteins(published: PpispTask) -> None:
    splits = [published.graphs(split) for split in SPLITS]
    assert [len(part) for part in splits] == [282, 31, 63]
    y = torch.cat([part.y for part in splits])
    assert y.numel() == 73806 and round(y.numel() / 376, 2) == 196.29 and y.unique().tolist() == [0, 1]
    assert round(y.double().mean().item(), 3) == 0.161
    for part in splits:
        assert part.num_features == 38 and torch.isfinite(part.x).all()
        assert part.x[:, 32:].sum(1).unique().tolist() == [1]
        # Sites are too hard to tell for any column to do it alone.
        assert np.abs(np.corrcoef(part.x.T.numpy(), part.y.numpy())[-1, :-1]).max() < 0.3


@real
def test_the_published_edges(published: PpispTask) -> None:
    count = torch.zeros(8, dtype=torch.long)
    for split in SPLITS:
        part = published.graphs(split)
        assert part.edge_type is not None
        count += torch.bincount(part.edge_type, minlength=8)
        source, target = part.edge_index
        owner = torch.repeat_interleave(torch.arange(len(part)), part.sizes)
        assert (source != target).all() and torch.equal(owner[source], owner[target])
        key = (source * part.num_nodes + target) * 8 + part.edge_type
        reverse = (target * part.num_nodes + source) * 8 + part.edge_type
        assert torch.equal(key.sort().values, reverse.sort().values) and key.unique().numel() == key.numel()
    assert (count // 2).tolist() == [73806 - 376, 276369, 98780, 16682, 8752, 503, 58705, 11065]


@real
def test_a_seed_holds_out_training_proteins_only(published: PpispTask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPNP_DATA", str(DATA))
    same, other = PpispTask(), PpispTask(seed=1)
    for split in SPLITS:
        assert torch.equal(published.graphs(split).x, same.graphs(split).x)
    assert not torch.equal(published.graphs("val").sizes, other.graphs("val").sizes)
    assert torch.equal(published.graphs("test").x, other.graphs("test").x)
