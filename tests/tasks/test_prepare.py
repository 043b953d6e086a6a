"""What upstream publishes becomes what the tasks read, and a file that is not what it should be is told, never run."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mpnp.errors import UserError
from mpnp.tasks import shapenet
from mpnp.tasks.ppisp import AMINO_ACIDS, PpispTask
from mpnp.tasks.prepare import PREPARERS, instructions, prepare_ppisp, prepare_shapenet
from mpnp.tasks.shapenet import ShapeNet

Edit = Callable[[Path], object]


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MPNP_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MPNP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "data"


def replaced(file: str, content: str | bytes) -> Edit:
    return lambda root: (root / file).write_bytes(content.encode() if isinstance(content, str) else content)


def sentence(error: pytest.ExceptionInfo[UserError]) -> str:
    text = str(error.value)
    assert "\n" not in text and text.endswith(".")
    return text


# --- ShapeNet --------------------------------------------------------------------------------------------------------

# What the lists say: aa is in two of them, cc in two others.
LISTS = {
    "train": ["02773838/bb", "04099429/r1", "02773838/aa"],
    "val": ["02773838/cc", "02773838/aa"],
    "test": ["02773838/dd", "04099429/r2", "02773838/cc"],
}
KEPT = {"aa": "train", "bb": "train", "cc": "val", "dd": "test", "r1": "train", "r2": "test"}
OFFSETS = {"02773838": 3, "04099429": 40}  # of bags and rockets
PARTS = {"02773838": 2, "04099429": 3}


def write_shapenet(root: Path, normal: bool) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Points and parts of every shape, written in one of the two layouts."""
    rng = np.random.default_rng(0)
    shapes = {}
    for synset, names in {"02773838": ["aa", "bb", "cc", "dd", "unlisted"], "04099429": ["r1", "r2"]}.items():
        for name in names:
            size = int(rng.integers(12, 20))
            xyz = rng.uniform(-0.4, 0.4, size=(size, 3)).round(5)
            part = rng.integers(1, PARTS[synset] + 1, size=size)
            shapes[name] = xyz, part
            folder = root / synset
            (folder / "points_label").mkdir(parents=True, exist_ok=True)
            if normal:
                (folder / "points_label").rmdir()
                rows = [[*p, 0.6, 0, 0.8, label + OFFSETS[synset]] for p, label in zip(xyz, part, strict=True)]
                text = "".join(" ".join(f"{value:.6f}" for value in row) + "\n" for row in rows)
                (folder / f"{name}.txt").write_text(text)
            else:
                (folder / "points").mkdir(exist_ok=True)
                (folder / "points" / f"{name}.pts").write_text("".join(f"{x:.5f} {y:.5f} {z:.5f}\n" for x, y, z in xyz))
                (folder / "points_label" / f"{name}.seg").write_text("".join(f"{label}\n" for label in part))
    (root / "train_test_split").mkdir()
    for split, names in LISTS.items():
        file = root / "train_test_split" / f"shuffled_{split}_file_list.json"
        file.write_text(json.dumps([f"shape_data/{name}" for name in names]))
    return shapes


@pytest.mark.parametrize("normal", [False, True])
@pytest.mark.parametrize("place", [".", "raw"])
def test_shapes_of_either_layout(tmp_path: Path, out: Path, normal: bool, place: str) -> None:
    shapes = write_shapenet(tmp_path / "upstream" / place, normal)
    written = prepare_shapenet(tmp_path / "upstream", out)
    assert written == [out / "shapenet" / "02773838.npz", out / "shapenet" / "04099429.npz"]
    assert sorted(file.name for file in (out / "shapenet").iterdir()) == ["02773838.npz", "04099429.npz"]
    for path, names, category in zip(written, (["aa", "bb", "cc", "dd"], ["r1", "r2"]), ("Bag", "Rocket"), strict=True):
        with np.load(path, allow_pickle=False) as stored:
            arrays = dict(stored)
        kinds = {key: array.dtype.str for key, array in arrays.items()}
        assert kinds == {
            **{"xyz": "<i2", "scale": "<f4", "label": "|u1", "ptr": "<i8", "ids": "<U2", "split": "<U5"},
            "category": f"<U{len(category)}",
        }
        assert arrays["ids"].tolist() == names and str(arrays["category"]) == category
        assert arrays["split"].tolist() == [KEPT[name] for name in names]
        assert np.abs(arrays["xyz"].astype(int)).max() == 32767
        for number, name in enumerate(names):
            rows = slice(*arrays["ptr"][number : number + 2])
            np.testing.assert_allclose(arrays["xyz"][rows] * arrays["scale"], shapes[name][0], atol=7e-6)
            assert arrays["label"][rows].tolist() == shapes[name][1].tolist()

    assert shapenet.read("bag")["label"].min() == 0
    task = ShapeNet("shapenet/bag", neighbours=3)
    assert task.missing() is None and ShapeNet("shapenet/mug").missing() is not None
    assert [len(task.graphs(split)) for split in ("train", "val", "test")] == [2, 1, 1]
    np.testing.assert_allclose(task.graphs("test").x, shapes["dd"][0], atol=7e-6)
    assert (task.graphs("test").y + 1).tolist() == shapes["dd"][1].tolist()


def test_both_layouts_give_the_same_files(tmp_path: Path) -> None:
    stored = []
    for normal in (False, True):
        write_shapenet(tmp_path / str(normal), normal)
        with np.load(prepare_shapenet(tmp_path / str(normal), tmp_path / f"out{normal}")[0]) as file:
            stored.append(dict(file))
    assert stored[0].keys() == stored[1].keys()
    for key in stored[0]:
        np.testing.assert_array_equal(stored[0][key], stored[1][key])


SEG, PTS = "02773838/points_label/aa.seg", "02773838/points/aa.pts"


@pytest.mark.parametrize(
    ("normal", "edit", "part"),
    [
        (False, replaced(PTS, "0 0 0\n0 zero 0\n"), "aa.pts, line 2: '0 zero 0' was given, 3 numbers are expected"),
        (False, replaced(PTS, "0 0 0\n0 0\n"), "aa.pts, line 2: '0 0' was given"),
        (False, replaced(PTS, "0 0\n0 0\n"), "aa.pts, line 1: '0 0' was given"),
        (False, replaced(PTS, "0 0 0\n\n0 0 0\n"), "aa.pts, line 2: nothing was given"),
        (False, replaced(PTS, "0 0 nan\n"), "aa.pts, line 1"),
        (False, replaced(PTS, ""), "aa.pts is empty"),
        (False, replaced(PTS, b"\xff\xfe\x00"), "aa.pts is not text"),
        (False, lambda root: (root / PTS).unlink(), "aa.pts: No such file"),
        (False, lambda root: (root / SEG).unlink(), "aa.seg: No such file"),
        (False, replaced(SEG, "1\n2\n"), "aa.seg, line 3: 2 labels were given"),
        (False, replaced(SEG, "1\n" * 30), "labels were given, one for each of the"),
        (False, replaced(SEG, "1\none\n"), "aa.seg, line 2: 'one' was given, a number is expected"),
        (True, replaced("02773838/aa.txt", "0 0 0 0 0 1 4\n0 0 0 0 0 1 6\n"), "aa.txt, line 2: the label 6 was given, 4 to 5"),
        (True, replaced("02773838/aa.txt", "0 0 0 0 0 1 4.5\n"), "aa.txt, line 1: the label 4.5"),
        (True, replaced("02773838/aa.txt", "0 0 0 0 0 1\n"), "aa.txt, line 1: '0 0 0 0 0 1' was given, 7 numbers"),
        (True, replaced("train_test_split/shuffled_val_file_list.json", "{"), "shuffled_val_file_list.json is not a list"),
        (True, replaced("train_test_split/shuffled_val_file_list.json", "[3]"), "val_file_list.json is not a list"),
        (True, replaced("train_test_split/shuffled_val_file_list.json", '["a/b"]'), "val_file_list.json is not a list"),
        (True, lambda root: (root / "train_test_split/shuffled_val_file_list.json").unlink(), "No such file"),
        (True, lambda root: [(root / s).rename(root / f"x{s}") for s in PARTS], "No category"),
    ],
)  # fmt: skip
def test_bad_shapes(tmp_path: Path, normal: bool, edit: Edit, part: str) -> None:
    root = tmp_path / "upstream"
    write_shapenet(root, normal)
    edit(root)
    with pytest.raises(UserError) as error:
        prepare_shapenet(root, tmp_path / "out")
    assert part in sentence(error)
    assert not list(tmp_path.glob("out/shapenet/*02773838*"))


# --- Interaction sites -----------------------------------------------------------------------------------------------

# (set in DeepPPISP, name there, chain in GraphPPIS, sequence, split); the last two have no map of their own.
PROTEINS = [
    ("dset186", "1acb_I", "1acbI", "FGKDA", "train"),
    ("dset186", "1ay7_A", "1ay7A", "CACW", "train"),
    ("dset164", "2WD5A", "2wd5A", "VWY", "train"),
    ("dset164", "3VDOB", "4nqwB", "MNPQRS", "test"),
    ("dset72", "1e4k_AB", None, "TTTTHH", "train"),
    ("dset72", "1fc2_D", None, "LIKE", "test"),
]
KEEP = [0, 1, 2, 3]


def pssm_of(number: int) -> list[list[int]]:
    size = len(PROTEINS[number][3])
    return [[(7 * number + 3 * i + j) % 25 - 12 for j in range(20)] for i in range(size)]


def label_of(number: int) -> list[int]:
    return [(number + i) % 2 for i in range(len(PROTEINS[number][3]))]


def map_of(number: int) -> NDArray[np.float64]:
    place = np.arange(len(PROTEINS[number][3]))
    distance = 3.8 * np.abs(place[:, None] - place)
    distance[0, -1] = distance[-1, 0] = -1  # unknown
    return distance


def dssp_of(number: int) -> NDArray[np.float64]:
    size = len(PROTEINS[number][3])
    return np.concatenate([np.full((size, 5), 0.1 * number), np.eye(9)[np.arange(size)]], axis=1)


def write_ppisp(root: Path, as_numpy: bool = False, protocol: int = 4, suffix: str = "") -> Path:
    cache, graphs = root / f"DeepPPISP{suffix}" / "data_cache", root / f"GraphPPIS{suffix}"
    for folder in (cache, graphs / "Dataset", graphs / "Feature" / "distance_map", graphs / "Feature" / "dssp"):
        folder.mkdir(parents=True)
    wrap: Callable[[Any], Any] = np.array if as_numpy else list

    def dump(name: str, content: Any) -> None:
        (cache / f"{name}.pkl").write_bytes(pickle.dumps(content, protocol=protocol))

    for dset in ("dset186", "dset164", "dset72"):
        own = [number for number, protein in enumerate(PROTEINS) if protein[0] == dset]
        codes = [[AMINO_ACIDS.index(letter) for letter in PROTEINS[number][3]] for number in own]
        dump(f"{dset}_sequence_data", [wrap(code) for code in codes])
        dump(f"{dset}_pssm_data", [[wrap(row) for row in pssm_of(number)] for number in own])
        dump(f"{dset}_label", [wrap(label_of(number)) for number in own])
    rows: list[tuple[int, int, int, str, str, str]] = []
    lists: dict[str, list[Any]] = {"train": [], "test": []}
    for number, (dset, name, _, sequence, split) in enumerate(PROTEINS):
        for place in range(min(len(sequence), 5)):  # upstream, no protein has more than 500 rows
            lists[split].append(np.int64(len(rows)) if as_numpy else len(rows))
            rows.append((len(rows), number, place, dset, name, str(len(sequence))))
    dump("all_dset_list", rows)
    for split, members in lists.items():
        dump(f"{split}ing_list", members[::-1])
    fasta = [f">{chain}\n{sequence}\n{'0' * len(sequence)}\n" for _, _, chain, sequence, _ in PROTEINS if chain]
    (graphs / "Dataset" / "Train_335.fa").write_text("".join([*fasta[:2], ">1e4kA\nTTT\n000\n"]))
    (graphs / "Dataset" / "Test_60.fa").write_text("".join(fasta[2:]))
    for number in KEEP:
        np.save(graphs / "Feature" / "distance_map" / f"{PROTEINS[number][2]}.npy", map_of(number))
        np.save(graphs / "Feature" / "dssp" / f"{PROTEINS[number][2]}.npy", dssp_of(number))
    np.save(graphs / "Feature" / "distance_map" / "1e4kA.npy", np.zeros((3, 3)))
    return root


@pytest.mark.parametrize(("as_numpy", "protocol"), [(False, 0), (False, 4), (True, 0), (True, 2), (True, 4)])
def test_proteins(tmp_path: Path, out: Path, as_numpy: bool, protocol: int) -> None:
    path = prepare_ppisp(write_ppisp(tmp_path / "upstream", as_numpy, protocol), out)
    assert path == out / "ppisp" / "ppisp.npz" and list(path.parent.iterdir()) == [path]
    with np.load(path, allow_pickle=False) as stored:
        arrays = dict(stored)
    kinds = {"pssm": "|i1", "dssp": "<f4", "label": "|u1", "contact": "<i2", "distance": "<f2"}
    kinds |= {"ids": "<U6", "split": "<U5", "sequence": "<U6", "ptr": "<i8", "contact_ptr": "<i8"}
    assert {key: array.dtype.str for key, array in arrays.items()} == kinds
    assert arrays["ids"].tolist() == [PROTEINS[number][1] for number in KEEP]
    assert arrays["split"].tolist() == ["train", "train", "train", "test"]
    assert arrays["sequence"].tolist() == ["FGKDA", "CACW", "VWY", "MNPQRS"]
    assert arrays["ptr"].tolist() == [0, 5, 9, 12, 18]
    np.testing.assert_array_equal(arrays["pssm"], np.concatenate([pssm_of(number) for number in KEEP]))
    np.testing.assert_allclose(arrays["dssp"], np.concatenate([dssp_of(number) for number in KEEP]), rtol=1e-6)
    assert arrays["label"].tolist() == [label for number in KEEP for label in label_of(number)]
    # Of the last protein: residues up to three apart, 11.4 Å; four apart are 15.2 Å, the ends unknown.
    assert arrays["contact_ptr"].tolist() == [0, 9, 14, 16, 28]
    last = slice(16, 28)
    assert arrays["contact"][last].tolist() == [[i, j] for i in range(6) for j in range(i + 1, min(i + 4, 6))]
    distance = 3.8 * (arrays["contact"][last][:, 1] - arrays["contact"][last][:, 0])
    np.testing.assert_allclose(arrays["distance"][last], distance, rtol=1e-3)

    task = PpispTask()
    assert task.missing() is None and [len(task.graphs(split)) for split in ("train", "val", "test")] == [2, 1, 1]
    assert task.graphs("test").y.tolist() == label_of(3)
    assert task.graphs("test").x[:, 7:27].tolist() == pssm_of(3)


@pytest.mark.parametrize("suffix", ["-master", "-0c1d1c9"])
def test_names_of_copies(tmp_path: Path, suffix: str) -> None:
    root = write_ppisp(tmp_path / "upstream", suffix=suffix)
    (root / f"DeepPPISP{suffix}").rename(root / f"deepppisp{suffix.upper()}")
    (root / "DeepPPISPXGB").mkdir()  # another project
    assert prepare_ppisp(root, tmp_path / "out").exists()


class Touch:
    """A pickle of it makes a file when read by anyone who trusts it."""

    def __init__(self, call: Callable[..., Any], *arguments: Any) -> None:
        self.call, self.arguments = call, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self.call, self.arguments


@pytest.mark.parametrize("file", ["dset72_label", "all_dset_list", "testing_list"])
@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize("kind", ["system", "exec", "getattr", "object array"])
def test_a_malicious_pickle_does_not_run(tmp_path: Path, file: str, protocol: int, kind: str) -> None:
    root, mark = write_ppisp(tmp_path / "upstream"), tmp_path / "mark"
    calls = {
        "system": Touch(os.system, f"touch {mark}"),
        "exec": Touch(exec, f"open({str(mark)!r}, 'w')"),
        "getattr": Touch(getattr, [], "append"),
        "object array": np.array([Touch(os.system, f"touch {mark}")], dtype=object),
    }
    content = pickle.dumps([calls[kind]], protocol=protocol)
    if kind == "system":
        pickle.loads(content)
        assert mark.exists()
        mark.unlink()
    (root / "DeepPPISP" / "data_cache" / f"{file}.pkl").write_bytes(content)
    with pytest.raises(UserError) as error:
        prepare_ppisp(root, tmp_path / "out")
    assert f"{file}.pkl is not a pickle of plain lists (it " in sentence(error)
    assert not mark.exists() and not (tmp_path / "out").exists()


CACHE, FEATURE = "DeepPPISP/data_cache", "GraphPPIS/Feature"


def pickled(file: str, content: Any) -> Edit:
    return replaced(f"{CACHE}/{file}.pkl", pickle.dumps(content))


def saved(file: str, array: NDArray[Any]) -> Edit:
    return lambda root: np.save(root / FEATURE / file, array)


@pytest.mark.parametrize(
    ("edit", "part"),
    [
        (lambda root: (root / "GraphPPIS").rename(root / "Graph"), "no folder GraphPPIS in"),
        (lambda root: (root / CACHE / "dset72_label.pkl").unlink(), "dset72_label.pkl: No such file"),
        (replaced(f"{CACHE}/dset72_label.pkl", "hello"), "dset72_label.pkl is not a pickle"),
        (replaced(f"{CACHE}/dset72_label.pkl", pickle.dumps([1])[:-3]), "dset72_label.pkl is not a pickle"),
        (pickled("dset72_label", {"a": 1}), "dset72_label.pkl holds a dict"),
        (pickled("dset72_label", []), "do not hold protein 4, 1e4k_AB"),
        (pickled("dset186_label", [[0, 1, 0, 1, 2], label_of(1)]), "the labels of 1acb_I"),
        (pickled("dset186_label", [[0, 1], label_of(1)]), "the labels of 1acb_I"),
        (pickled("dset186_pssm_data", [[[200] * 20] * 5, pssm_of(1)]), "the PSSM of 1acb_I"),
        (pickled("dset186_pssm_data", [[[1] * 19] * 5, pssm_of(1)]), "the PSSM of 1acb_I"),
        (pickled("dset186_pssm_data", [[["x"] * 20] * 5, pssm_of(1)]), "the PSSM of 1acb_I"),
        (pickled("dset186_sequence_data", [[0, 1, 20, 3, 4], [1, 0, 1, 18]]), "do not hold protein 0, 1acb_I"),
        (pickled("all_dset_list", [(0, 0, 0)]), "all_dset_list.pkl is not a list of residues in six columns"),
        (pickled("testing_list", [0, 1]), "1acb_I is not in one of training_list and testing_list"),
        (pickled("training_list", []), "1acb_I is not in one of training_list and testing_list"),
        (saved("distance_map/1acbI.npy", np.zeros((5, 4))), "1acbI.npy: 5 x 5 numbers are expected"),
        (saved("distance_map/1acbI.npy", np.triu(np.ones((5, 5)))), "not the same both ways"),
        (saved("dssp/1acbI.npy", np.zeros((5, 13))), "1acbI.npy: 5 x 14 numbers are expected"),
        (saved("dssp/1acbI.npy", np.full((5, 14), np.nan)), "1acbI.npy: 5 x 14 numbers are expected"),
        (lambda root: (root / FEATURE / "dssp/1acbI.npy").unlink(), "1acbI.npy cannot be read as an array"),
        (replaced(f"{FEATURE}/dssp/1acbI.npy", pickle.dumps([1])), "1acbI.npy cannot be read as an array"),
        (replaced("GraphPPIS/Dataset/Test_60.fa", ">1acbI\nFGKDA\n"), "Test_60.fa is not made of"),
        (lambda root: (root / FEATURE / "distance_map").rename(root / "maps"), "has a distance map"),
    ],
)
def test_bad_proteins(tmp_path: Path, edit: Edit, part: str) -> None:
    root = write_ppisp(tmp_path / "upstream")
    edit(root)
    with pytest.raises(UserError) as error:
        prepare_ppisp(root, tmp_path / "out")
    assert part in sentence(error)
    assert not (tmp_path / "out").exists()


# --- Both ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["shapenet", "ppisp"])
def test_every_preparer_tells_what_it_needs(tmp_path: Path, name: str) -> None:
    assert f"mpnp data prepare {name} --from DIR" in instructions(name)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    for wrong, part in (("nowhere", "no folder"), ("file", "no folder"), ("empty", "There is no")):
        with pytest.raises(UserError) as error:
            PREPARERS[name](tmp_path / wrong, tmp_path / "out")
        assert part in sentence(error) and str(tmp_path / wrong) in str(error.value)
    with pytest.raises(UserError, match="did you mean"):
        instructions(name[:-1])
