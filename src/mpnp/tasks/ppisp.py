"""Protein-protein interaction sites (Zeng et al. 2019): which residues of a protein touch another protein.

A node is a residue, its label whether it belongs to an interaction site (16.1 % do). The 38 features:

| columns | what                                                                                              |
|---------|---------------------------------------------------------------------------------------------------|
| 0-6     | properties of the amino acid (Meiler et al. 2001)                                                 |
| 7-26    | position-specific scoring matrix                                                                  |
| 27-30   | sin phi, sin psi, cos phi, cos psi of the backbone                                                |
| 31      | relative solvent accessibility                                                                    |
| 32-37   | secondary structure, one-hot: H, E or B, G or I, T, S, coil or unknown                            |

DSSP has eight states, and the file a ninth for residues DSSP does not know. Six make the paper's 38 columns: the rare B
(780 of 73,806 residues), I (336) and unknown (12) join their nearest kin. The paper does not list its columns.

Edges carry the type of an interaction. The files have no side-chain atoms, so types follow from the amino acids, their
places i and j in the sequence and the distance d of their C-alpha atoms; the limits of d are common ones, or those of
side-chain contacts widened by the reach of the side chains. All types but the first are between residues that are no
neighbours in the sequence.

| type            | between                                                | d           |
|-----------------|--------------------------------------------------------|-------------|
| 0 sequence      | neighbours in the sequence, j = i + 1                  | any         |
| 1 contact       | any two                                                | below 8 Å   |
| 2 hydrophobic   | two of A V L I M F W P Y                               | below 9 Å   |
| 3 ionic         | one of R K H and one of D E                            | below 10 Å  |
| 4 aromatic      | two of F W Y H                                         | below 10 Å  |
| 5 disulphide    | two C                                                  | below 7.5 Å |
| 6 hydrogen bond | a donor R K N Q H S T Y W, an acceptor D E N Q H S T Y | below 8 Å   |
| 7 cation-pi     | one of R K and one of F W Y                            | below 10 Å  |

Every edge has its reverse. A pair with several interactions has one edge for each: a model with edge types reads each with
weights of its own, a model without sees parallel edges, so that the pair counts once per interaction in a sum or a mean.
Type 0 ignores d: where residues are missing from the structure (d > 4.2 Å in 268 places) the ends of the gap are joined.

The paper has 408 proteins of 207.64 residues on average; the 376 with a published distance map have 196.29.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..errors import UserError
from ..graphs import GraphSet
from .base import Split, Task
from .caches import Arrays, read_arrays
from .sources import find_data

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

# Steric parameter, polarizability, volume, hydrophobicity, isoelectric point, helix probability, sheet probability:
# Meiler, Müller, Zeidler, Schmäschke: Generation and evaluation of dimension-reduced amino acid parameter
# representations by artificial neural networks. J. Mol. Model. 7 (2001), 360-369.
MEILER = {
    "A": (1.28, 0.05, 1.00, 0.31, 6.11, 0.42, 0.23),
    "C": (1.77, 0.13, 2.43, 1.54, 6.35, 0.17, 0.41),
    "D": (1.60, 0.11, 2.78, -0.77, 2.95, 0.25, 0.20),
    "E": (1.56, 0.15, 3.78, -0.64, 3.09, 0.42, 0.21),
    "F": (2.94, 0.29, 5.89, 1.79, 5.67, 0.30, 0.38),
    "G": (0.00, 0.00, 0.00, 0.00, 6.07, 0.13, 0.15),
    "H": (2.99, 0.23, 4.66, 0.13, 7.69, 0.27, 0.30),
    "I": (4.19, 0.19, 4.00, 1.80, 6.04, 0.30, 0.45),
    "K": (1.89, 0.22, 4.77, -0.99, 9.99, 0.32, 0.27),
    "L": (2.59, 0.19, 4.00, 1.70, 6.04, 0.39, 0.31),
    "M": (2.35, 0.22, 4.43, 1.23, 5.71, 0.38, 0.32),
    "N": (1.60, 0.13, 2.95, -0.60, 6.52, 0.21, 0.22),
    "P": (2.67, 0.00, 2.72, 0.72, 6.80, 0.13, 0.34),
    "Q": (1.56, 0.18, 3.95, -0.22, 5.65, 0.36, 0.25),
    "R": (2.34, 0.29, 6.13, -1.01, 10.74, 0.36, 0.25),
    "S": (1.31, 0.06, 1.60, -0.04, 5.70, 0.20, 0.28),
    "T": (3.03, 0.11, 2.60, 0.26, 5.60, 0.21, 0.36),
    "V": (3.67, 0.14, 3.00, 1.22, 6.02, 0.27, 0.49),
    "W": (3.21, 0.41, 8.08, 2.25, 5.94, 0.32, 0.42),
    "Y": (2.94, 0.30, 6.47, 0.96, 5.66, 0.25, 0.41),
}
AMINO_ACIDS = "".join(MEILER)
# The six columns that the file's nine secondary structures H, B, E, G, I, T, S, C (coil), unknown go into.
STRUCTURE = (0, 1, 1, 2, 2, 3, 4, 5, 5)


@dataclass(frozen=True)
class Interaction:
    """Between an amino acid of ``one`` and one of ``other`` whose C-alpha atoms are less than ``below`` Å apart."""

    name: str
    one: str
    other: str
    below: float  # distances are stored as float16, which holds all cut-offs exactly


# The types of edges from 1 on.
INTERACTIONS = (
    Interaction("contact", AMINO_ACIDS, AMINO_ACIDS, 8.0),
    Interaction("hydrophobic", "AVLIMFWPY", "AVLIMFWPY", 9.0),
    Interaction("ionic", "RKH", "DE", 10.0),
    Interaction("aromatic", "FWYH", "FWYH", 10.0),
    Interaction("disulphide", "C", "C", 7.5),
    Interaction("hydrogen bond", "RKNQHSTYW", "DENQHSTY", 8.0),
    Interaction("cation-pi", "RK", "FWY", 10.0),
)
# What the file holds per residue or per contact, and how wide.
WIDTHS: dict[str, tuple[int, ...]] = {"label": (), "pssm": (20,), "dssp": (14,), "contact": (2,), "distance": ()}


@dataclass
class PpispTask(Task):
    """The published split; ``seed`` holds out a tenth of the training proteins for validation."""

    seed: int = 0

    name = "ppisp"
    standardise = True
    metrics = ("binary",)
    appendix = "interfaces"
    context = (0.1, 0.5)
    extra = (0.1, 0.5)
    rates = (0.05, 0.3)
    num_features = 38
    num_classes = 2
    num_relations = 1 + len(INTERACTIONS)
    source = "DeepPPISP, GraphPPIS"

    @property
    def class_names(self) -> list[str]:
        return ["non-site", "site"]

    @property
    def path(self) -> Path:
        return find_data("ppisp/ppisp.npz")

    def missing(self) -> str | None:
        if self.path.exists():
            return None
        return (
            "The data is prepared by 'mpnp data prepare ppisp --from DIR', DIR being a copy of DeepPPISP and GraphPPIS."
        )

    def scale(self) -> tuple[int, int]:
        return 376, 196

    def load(self) -> dict[Split, GraphSet]:
        missing = self.missing()
        if missing is not None:
            raise UserError(missing)
        arrays = _read(self.path)
        acid = _amino_acids(arrays, self.path)
        ptr = arrays["ptr"].astype(np.int64)
        edge_index, edge_type = typed_edges(arrays, acid, ptr)
        everything = GraphSet(
            x=torch.from_numpy(features(arrays, acid)),
            y=torch.from_numpy(arrays["label"].astype(np.int64)),
            edge_index=torch.from_numpy(edge_index),
            ptr=torch.from_numpy(ptr),
            edge_type=torch.from_numpy(edge_type),
        )
        train, test = (torch.from_numpy(np.flatnonzero(arrays["split"] == split)) for split in ("train", "test"))
        shuffled = train[torch.randperm(train.numel(), generator=torch.Generator().manual_seed(self.seed))]
        val = max(1, round(0.1 * train.numel()))
        parts: dict[Split, Tensor] = {"train": shuffled[val:], "val": shuffled[:val], "test": test}
        return {split: everything.subset(part) for split, part in parts.items()}


def features(arrays: Arrays, acid: Ints) -> NDArray[np.float32]:
    """The 38 columns of every residue, [N, 38]; ``acid`` [N] counts through :data:`AMINO_ACIDS`."""
    dssp = arrays["dssp"]
    structure = dssp[:, 5:] @ np.eye(6)[list(STRUCTURE)]  # type: ignore[operator]
    columns = [np.array(list(MEILER.values()))[acid], arrays["pssm"], dssp[:, :5], structure]
    return np.concatenate(columns, axis=1).astype(np.float32)


def typed_edges(arrays: Arrays, acid: Ints, ptr: Ints) -> tuple[Ints, Ints]:
    """All edges [2, E], numbered through all proteins and in both directions, and their types [E]."""
    last = np.zeros(len(acid), dtype=bool)
    last[ptr[1:] - 1] = True
    here = np.flatnonzero(~last)
    pairs, types = [np.stack([here, here + 1])], [np.zeros_like(here)]

    contact, distance = arrays["contact"].astype(np.int64).T, arrays["distance"].astype(np.float64)
    contact = contact + np.repeat(ptr[:-1], _sizes(arrays["contact_ptr"]))
    near = (contact[1] - contact[0] > 1) & (distance < max(kind.below for kind in INTERACTIONS))
    contact, distance = contact[:, near], distance[near]
    first, second = acid[contact]
    for number, kind in enumerate(INTERACTIONS, start=1):
        one, other = _among(kind.one), _among(kind.other)
        fits = (one[first] & other[second]) | (other[first] & one[second])
        found = contact[:, fits & (distance < kind.below)]
        pairs.append(found)
        types.append(np.full(found.shape[1], number))
    once, kinds = np.concatenate(pairs, axis=1), np.concatenate(types)
    return np.concatenate([once, once[::-1]], axis=1), np.concatenate([kinds, kinds])


def _among(letters: str) -> Bools:
    """Which of :data:`AMINO_ACIDS` are among ``letters``, [20]."""
    return np.array([letter in letters for letter in AMINO_ACIDS])


def _amino_acids(arrays: Arrays, path: Path) -> Ints:
    """The place of every residue's amino acid in :data:`AMINO_ACIDS`, [N]."""
    letters = "".join(arrays["sequence"].tolist())
    strange = next((letter for letter in letters if letter not in MEILER), None)
    if strange is not None:
        raise UserError(f"In {path}: there is no amino acid '{strange}'; one of {', '.join(AMINO_ACIDS)} is expected.")
    place = np.zeros(128, dtype=np.int64)
    place[[ord(letter) for letter in AMINO_ACIDS]] = np.arange(len(AMINO_ACIDS))
    return place[np.frombuffer(letters.encode(), dtype=np.uint8)]


def _read(path: Path) -> Arrays:
    """The arrays of the file, checked to fit together."""
    names = ("split", "sequence", "ptr", "contact_ptr", *WIDTHS)
    try:
        arrays = read_arrays(path, names)
    except ValueError as error:
        raise UserError(f"The file {path} cannot be read ({error}); prepare it again.") from error
    try:
        fits = _consistent(arrays)
    except (ValueError, TypeError, IndexError):  # arrays of words, or of other shapes
        fits = False
    if not fits:
        raise UserError(f"The arrays of {path} do not fit together; prepare it again.")
    if (arrays["split"] == "train").sum() < 2 or not (arrays["split"] == "test").any():
        raise UserError(f"The file {path} needs two proteins for training and one for testing; prepare it again.")
    return arrays


def _consistent(arrays: Arrays) -> bool:
    sizes, contacts = _sizes(arrays["ptr"]), _sizes(arrays["contact_ptr"])
    rows = dict.fromkeys(WIDTHS, sizes.sum()) | dict.fromkeys(("contact", "distance"), contacts.sum())
    if any(arrays[name].shape != (rows[name], *width) for name, width in WIDTHS.items()):
        return False
    if any(arrays[name].dtype.kind not in "iufb" for name in ("ptr", "contact_ptr", *WIDTHS)):
        return False
    if [len(sequence) for sequence in arrays["sequence"].tolist()] != sizes.tolist():
        return False
    if not len(arrays["split"]) == len(contacts) == len(sizes):
        return False
    low, high = arrays["contact"].astype(np.int64).T
    inside = (low >= 0) & (low < high) & (high < np.repeat(sizes, contacts))
    binary = np.isin(arrays["label"], (0, 1))
    finite = np.isfinite(arrays["dssp"].astype(np.float32))
    return bool(inside.all() and binary.all() and finite.all())


def _sizes(ptr: NDArray[np.generic]) -> Ints:
    offsets = ptr.astype(np.int64)
    return offsets[1:] - offsets[:-1]
