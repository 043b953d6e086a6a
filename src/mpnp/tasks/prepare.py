"""Published benchmarks that no library downloads ready for use, packed into the files that the tasks read.

ShapeNet parts come in two layouts, told apart by each category's folder; both name their shapes in
``train_test_split/shuffled_{train,val,test}_file_list.json``. The official lists name 35 shapes twice: these stay in the
first of train, val, test that names them, so that nothing trained on is tested on.

Interaction sites come from two repositories. DeepPPISP has, in ``data_cache``, per protein its amino acids (numbers in the
order of :data:`ppisp.AMINO_ACIDS`), PSSM and labels, as one list per set of proteins, and which residues train and test.
GraphPPIS has, in ``Feature``, distances and DSSP per chain, and in ``Dataset`` the sequences of its chains. A chain is the
same in both if name and length agree, or, for entries the PDB has renamed since (3VDO is 4NQW), the sequence.

Assumed, as the pickles themselves could not be looked into: what DeepPPISP's own code does with them; the order of amino
acids, which code built on it uses and which matters for renamed entries only; numbers of Python or of NumPy, both are read.
"""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ..errors import UserError, unknown_name
from ..files import replacing
from .base import SPLITS, Split
from .ppisp import AMINO_ACIDS
from .shapenet import CATEGORIES, Category

Floats = NDArray[np.floating[Any]]

CUTOFF = 14.0  # Å, of what counts as a contact
SETS = ("dset186", "dset164", "dset72")  # in this order DeepPPISP numbers its proteins


INSTRUCTIONS = {
    "shapenet": """\
ShapeNet parts (Yi et al. 2016) are published by the ShapeNet project for non-commercial research, as the archives
shapenetcore_partanno_segmentation_benchmark_v0 and, with normals, ..._v0_normal; torch_geometric.datasets.ShapeNet(DIR)
downloads the latter. In DIR, or in a folder in it such as raw, are expected:
  train_test_split/shuffled_{train,val,test}_file_list.json
  v0:        <synset>/points/<id>.pts and <synset>/points_label/<id>.seg
  v0_normal: <synset>/<id>.txt of seven columns x y z nx ny nz label
Categories that are not there are skipped. Then run: mpnp data prepare shapenet --from DIR""",
    "ppisp": """\
Interaction sites (Zeng et al. 2019) are published on GitHub: clone CSUBioGroup/DeepPPISP and biomed-AI/GraphPPIS, both
into a folder DIR. In it are expected:
  DeepPPISP/data_cache/{dset186,dset164,dset72}_{sequence_data,pssm_data,label}.pkl
  DeepPPISP/data_cache/{all_dset_list,training_list,testing_list}.pkl
  GraphPPIS/Dataset/{Train_335,Test_60}.fa
  GraphPPIS/Feature/{distance_map,dssp}/<chain>.npy
Proteins without a distance map are left out. Then run: mpnp data prepare ppisp --from DIR""",
}


def instructions(name: str) -> str:
    """Where the data of ``name`` is published and what its folder must look like."""
    if name not in INSTRUCTIONS:
        raise unknown_name("data set to prepare", name, INSTRUCTIONS)
    return INSTRUCTIONS[name]


def _folders(source: Path) -> list[Path]:
    """The folders in ``source``, which must be there."""
    if not source.is_dir():
        raise UserError(f"There is no folder {source}; give the one that holds the downloaded data.")
    try:
        return sorted(folder for folder in source.iterdir() if folder.is_dir())
    except OSError as error:
        raise UserError(f"Cannot read {source}: {error.strerror}; give a folder you can read.") from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror}; download the data again.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"The file {path} is not text; download the data again.") from error


def _save(path: Path, arrays: dict[str, NDArray[Any]]) -> Path:
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return path


# --- ShapeNet --------------------------------------------------------------------------------------------------------


def prepare_shapenet(source: Path, out: Path) -> list[Path]:
    """Write ``out/shapenet/<synset>.npz`` for every category in ``source``, in either layout; the files written."""
    root = next((f for f in [source, *_folders(source)] if (f / "train_test_split").is_dir()), None)
    if root is None:
        raise UserError(
            f"There is no train_test_split in {source} or a folder in it; give the folder of ShapeNet parts."
        )
    shapes = _shapenet_splits(root / "train_test_split")
    written, offset = [], -1  # of a category's parts among the 50 of all categories; v0_normal counts them from 0
    for name, category in CATEGORIES.items():
        folder, listed = root / category.synset, sorted(shapes.get(category.synset, {}).items())
        if folder.is_dir() and listed:
            bar = tqdm(listed, desc=f"Reading {name}", unit="shape", leave=False)
            points, labels = zip(*[_cloud(folder, shape, category, offset) for shape, _ in bar], strict=True)
            xyz = np.concatenate(points)
            scale = np.float32(np.abs(xyz).max() / np.iinfo(np.int16).max or 1)
            arrays: dict[str, NDArray[Any]] = {
                "xyz": np.rint(xyz / scale).astype(np.int16),
                "scale": np.array(scale),
                "label": np.concatenate(labels),
                "ptr": np.cumsum([0, *map(len, labels)], dtype=np.int64),
                "ids": np.array([shape for shape, _ in listed]),
                "split": np.array([split for _, split in listed], dtype="U5"),
                "category": np.array(name.capitalize()),
            }
            written.append(_save(out / "shapenet" / f"{category.synset}.npz", arrays))
        offset += category.parts
    if not written:
        raise UserError(f"No category of ShapeNet parts is in {root}; unpack the whole download.")
    return written


def _shapenet_splits(folder: Path) -> dict[str, dict[str, Split]]:
    """Per synset the split of each shape; the first list that names a shape has it."""
    shapes: dict[str, dict[str, Split]] = {}
    for split in SPLITS:
        path = folder / f"shuffled_{split}_file_list.json"
        try:
            # Entries read shape_data/<synset>/<id>.
            names = [entry.split("/")[1:] for entry in json.loads(_text(path))]
            for synset, shape in names:
                shapes.setdefault(synset, {}).setdefault(shape, split)
        except (ValueError, TypeError, AttributeError) as error:
            raise UserError(f"The file {path} is not a list of shape_data/<synset>/<id>; download it again.") from error
    return shapes


def _cloud(folder: Path, shape: str, category: Category, offset: int) -> tuple[Floats, NDArray[np.uint8]]:
    """The points [n, 3] of a shape and their parts [n], from 1."""
    if (folder / "points").is_dir():
        path, offset, file = folder / "points_label" / f"{shape}.seg", 0, folder / "points" / f"{shape}.pts"
        xyz, part = _table(file, 3), _table(path, 1)[:, 0]
        if len(xyz) != len(part):
            line = min(len(xyz), len(part)) + 1
            raise UserError(
                f"In {path}, line {line}: {len(part)} labels were given, one for each of the {len(xyz)} points in {file} "
                "is expected; download the data again."
            )
    else:
        path = folder / f"{shape}.txt"
        table = _table(path, 7)
        xyz, part = table[:, :3], table[:, 6]
    bad = np.flatnonzero(~np.isin(part - offset, np.arange(1, category.parts + 1)))
    if len(bad):
        first, last = 1 + offset, category.parts + offset
        raise UserError(
            f"In {path}, line {bad[0] + 1}: the label {part[bad[0]]:g} was given, {first} to {last} are expected here; "
            "download the data again."
        )
    return xyz.astype(np.float32), (part - offset).astype(np.uint8)


def _table(path: Path, width: int) -> NDArray[np.float64]:
    """A file of ``width`` finite numbers per line."""
    lines = _text(path).rstrip().splitlines()
    if not lines:
        raise UserError(f"The file {path} is empty; download the data again.")
    values = _numbers(lines, width)
    if values is None:
        number, line = next((n, line) for n, line in enumerate(lines, start=1) if _numbers([line], width) is None)
        given = f"'{line.strip()[:60]}' was given" if line.strip() else "nothing was given"
        numbers = "a number is" if width == 1 else f"{width} numbers are"
        raise UserError(f"In {path}, line {number}: {given}, {numbers} expected; download the data again.")
    return values


def _numbers(lines: list[str], width: int) -> NDArray[np.float64] | None:
    if not all(map(str.strip, lines)):  # NumPy would pass over blank lines
        return None
    try:
        values = np.loadtxt(lines, ndmin=2, comments=None)
    except ValueError:
        return None
    return values if values.shape[1] == width and np.isfinite(values).all() else None


# --- Interaction sites -----------------------------------------------------------------------------------------------


def prepare_ppisp(source: Path, out: Path) -> Path:
    """Write ``out/ppisp/ppisp.npz`` from copies of DeepPPISP and GraphPPIS in ``source``; the file written."""
    folders = _folders(source)
    cache = _repository(source, folders, "DeepPPISP") / "data_cache"
    graphs = _repository(source, folders, "GraphPPIS")
    chains = _chains(graphs / "Dataset")
    renamed = {sequence: chain for chain, sequence in chains.items()}
    contents = {
        kind: [item for name in SETS for item in _unpickled_list(cache / f"{name}_{kind}.pkl")]
        for kind in ("sequence_data", "pssm_data", "label")
    }
    parts: dict[str, list[NDArray[Any]]] = {}
    for number, (name, split) in tqdm(_proteins(cache).items(), desc="Reading proteins", unit="protein", leave=False):
        try:
            code, pssm, label = (content[number] for content in contents.values())
            size = len(code)
            decoded = "".join(AMINO_ACIDS[acid] for acid in code)
        except (IndexError, TypeError) as error:
            raise UserError(f"The lists in {cache} do not hold protein {number}, {name}; clone it again.") from error
        own = name[:4].lower() + name[4:].lstrip("_")  # 1acb_I and 2WD5A are 1acbI and 2wd5A there
        chain = own if len(chains.get(own, "")) == size else renamed.get(decoded)
        path = graphs / "Feature" / "distance_map" / f"{chain}.npy"
        if chain is None or not path.exists():
            continue
        distance = _checked(_array(path), (size, size), str(path))
        if not np.allclose(distance, distance.T):
            raise UserError(f"The distances in {path} are not the same both ways; clone GraphPPIS again.")
        near = np.triu((distance > 0) & (distance < CUTOFF), 1)  # -1 stands for unknown
        dssp = graphs / "Feature" / "dssp" / f"{chain}.npy"
        found = {
            "ids": np.array([name]),
            "split": np.array([split]),
            "sequence": np.array([chains[chain]]),
            "pssm": _checked(pssm, (size, 20), f"the PSSM of {name} in {cache}", (-128, 127)).astype(np.int8),
            "dssp": _checked(_array(dssp), (size, 14), str(dssp)).astype(np.float32),
            "label": _checked(label, (size,), f"the labels of {name} in {cache}", (0, 1)).astype(np.uint8),
            "contact": np.argwhere(near).astype(np.int16),
            "distance": distance[near].astype(np.float16),
        }
        for key, value in found.items():
            parts.setdefault(key, []).append(value)
    if not parts:
        raise UserError(f"No protein in {cache} has a distance map in {graphs}; clone GraphPPIS as a whole.")
    arrays = {key: np.concatenate(values) for key, values in parts.items()}
    for key, counted in (("ptr", "label"), ("contact_ptr", "contact")):
        arrays[key] = np.cumsum([0, *map(len, parts[counted])], dtype=np.int64)
    return _save(out / "ppisp" / "ppisp.npz", arrays)


def _repository(source: Path, folders: list[Path], name: str) -> Path:
    """The copy of a repository: a folder of its name, perhaps with a branch behind it as GitHub's archives have."""
    found = next((f for f in folders if re.fullmatch(rf"{name}(-.*)?", f.name, re.IGNORECASE)), None)
    if found is None:
        raise UserError(f"There is no folder {name} in {source}; clone DeepPPISP and GraphPPIS into it.")
    return found


def _proteins(cache: Path) -> dict[int, tuple[str, str]]:
    """Name and split of each protein, by its number."""
    path = cache / "all_dset_list.pkl"
    residues = _unpickled_list(path)
    lists = {split: _unpickled_list(cache / f"{split}ing_list.pkl") for split in ("train", "test")}
    proteins: dict[int, tuple[str, set[str]]] = {}
    try:
        members = {split: set(rows) for split, rows in lists.items()}
        # A row per residue: its number, the protein's, its place, the set, the protein's name, the protein's length.
        for row, (_, number, _, _, name, _) in enumerate(residues):
            _, splits = proteins.setdefault(int(number), (str(name), set()))
            splits.update(split for split, rows in members.items() if row in rows)
    except (TypeError, ValueError) as error:
        raise UserError(f"The file {path} is not a list of residues in six columns; clone DeepPPISP again.") from error
    for name, splits in proteins.values():
        if len(splits) != 1:
            raise UserError(f"In {cache}: {name} is not in one of training_list and testing_list; clone it again.")
    return {number: (name, splits.pop()) for number, (name, splits) in proteins.items()}


def _chains(folder: Path) -> dict[str, str]:
    """The sequence of each chain of GraphPPIS that DeepPPISP also has: name, sequence and labels on three lines."""
    chains: dict[str, str] = {}
    for path in (folder / "Train_335.fa", folder / "Test_60.fa"):
        lines = _text(path).split()
        if len(lines) % 3 or not all(line.startswith(">") for line in lines[::3]):
            raise UserError(f"The file {path} is not made of a name, a sequence and labels; clone GraphPPIS again.")
        chains |= {name[1:]: sequence for name, sequence in zip(lines[::3], lines[1::3], strict=True)}
    return chains


def _array(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise UserError(f"The file {path} cannot be read as an array; clone GraphPPIS again.") from error


def _checked(values: Any, shape: Sequence[int], where: str, whole: tuple[int, int] | None = None) -> Floats:
    """``values`` as finite numbers of this shape, ``whole`` ones within these limits if given."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.full(shape, np.nan)
    good = array.shape == tuple(shape) and bool(np.isfinite(array).all())
    if good and whole is not None:
        good = bool(((array % 1 == 0) & (array >= whole[0]) & (array <= whole[1])).all())
    if not good:
        limits = "numbers" if whole is None else f"whole numbers from {whole[0]} to {whole[1]}"
        raise UserError(f"In {where}: {' x '.join(map(str, shape))} {limits} are expected; clone the repository again.")
    return array


class _Type:
    """In place of ``numpy.dtype``, which trusts the state it is given; numbers only."""

    def __init__(self, code: str, *_: Any) -> None:
        self.dtype = np.dtype(code)
        if self.dtype.kind not in "biuf":
            raise pickle.UnpicklingError(f"it holds an array of {self.dtype}")

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.dtype = self.dtype.newbyteorder(state[1])

    def read(self, content: bytes | str) -> NDArray[Any]:
        return np.frombuffer(content.encode("latin1") if isinstance(content, str) else content, self.dtype)


class _Array(list[Any]):
    """In place of ``numpy.ndarray``: its numbers as nested lists."""

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, fortran, content = state
        self.extend(kind.read(content).reshape(shape, order="F" if fortran else "C").tolist())


# All that a pickle may name, under the module names of old and new NumPy, and what stands in for it.
ADMITTED: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Type,
    ("numpy.core.multiarray", "_reconstruct"): lambda *_: _Array(),
    ("numpy._core.multiarray", "_reconstruct"): lambda *_: _Array(),
    ("numpy.core.multiarray", "scalar"): lambda kind, content: kind.read(content)[0].item(),
    ("numpy._core.multiarray", "scalar"): lambda kind, content: kind.read(content)[0].item(),
    ("_codecs", "encode"): lambda text, _: text.encode("latin1"),  # how old pickles spell bytes
}


class _PlainUnpickler(pickle.Unpickler):
    """Containers, numbers, strings and NumPy's numbers; a pickle that names anything else ends there, nothing called."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ADMITTED:
            raise pickle.UnpicklingError(f"it names {module}.{name}")
        return ADMITTED[module, name]


def _unpickled_list(path: Path) -> list[Any]:
    try:
        with path.open("rb") as file:
            content = _PlainUnpickler(file, encoding="latin1").load()  # latin1: for pickles of Python 2
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror}; clone DeepPPISP as a whole.") from error
    except Exception as error:  # a damaged file can provoke any
        raise UserError(f"The file {path} is not a pickle of plain lists ({error}); clone DeepPPISP again.") from error
    if not isinstance(content, list):
        raise UserError(f"The file {path} holds a {type(content).__name__}, a list is expected; clone DeepPPISP again.")
    return content


PREPARERS: dict[str, Callable[[Path, Path], list[Path] | Path]] = {
    "shapenet": prepare_shapenet,
    "ppisp": prepare_ppisp,
}
