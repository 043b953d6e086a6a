"""Cora-Branched: papers of several disciplines of computer science, linked by citations, to be told apart.

Transductive (``cora/transductive-N``): a task is N of the 11 disciplines, the graph is what they induce, the label is the
discipline. Features, edges and labels of *all* nodes are seen in training, and so is (nearly) every choice of disciplines;
between training and test only the draw of the context and the names of the classes differ. It measures how well a
network that knows the citation graph finds out which discipline has which name, not how it generalises to new papers.

Few-shot (``cora/few-shot-N``): a task is N of the 70 leaf classes, each of another discipline. The leaf classes of training
(48), validation (11) and test (11) are disjoint, and so are the nodes; edges between splits are dropped, and the
principal components are fitted on training nodes alone.

``cora-graph/transductive-N``: the same as the first on the exact citation graph of Cora Full without its features (each
node has a constant 1), for predictors that need none.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch_geometric.data import Data

from ..errors import UserError, unknown_name
from ..graphs import GraphSet
from .base import SPLITS, Split, Task, cache_folder
from .caches import Arrays, kept, read_arrays
from .sources import find_data
from .subgraphs import SubgraphSet

Ints = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]

VERSION = 1
HIDDEN = 0.3  # share of the features hidden in training, see Cora.augment
CLASSES = 70
ATTRIBUTES = ("attr_data", "attr_indices", "attr_indptr", "attr_shape")  # of a paper: its words, as a sparse matrix
PAPERS = 19_793  # in Cora Full
DISCIPLINES = {
    "Information Retrieval": (0, 1, 4, 12),
    "Databases": (2, 10, 28, 42, 44, 46, 60),
    "Artificial Intelligence": (5, 8, 9, 11, 14, 22, 33, 34, 48, 53, 54),
    "Machine Learning": (3, 20, 29, 55, 57, 58, 59),
    "Encryption and Compression": (6, 15, 26),
    "Operating Systems": (7, 27, 45, 62),
    "Networking": (13, 16, 24, 30),
    "Hardware and Architecture": (17, 40, 41, 50, 67, 68, 69),
    "Data Structures, Algorithms and Theory": (18, 19, 21, 31, 32, 35, 61, 64, 66),
    "Programming": (23, 36, 37, 49, 51, 52, 56, 63, 65),
    "Human Computer Interaction": (25, 38, 39, 43, 47),
}
VAL_CLASSES = (4, 10, 53, 29, 26, 45, 30, 17, 21, 56, 47)  # one of each discipline, in their order
TEST_CLASSES = (1, 42, 48, 59, 15, 62, 16, 67, 61, 49, 38)
DISCIPLINE_OF = np.empty(CLASSES, dtype=np.int64)
for _number, _classes in enumerate(DISCIPLINES.values()):
    DISCIPLINE_OF[list(_classes)] = _number

NAMES = (
    *(f"cora/transductive-{ways}" for ways in (2, 3, 7, 11)),
    *(f"cora/few-shot-{ways}" for ways in (2, 3, 5, 11)),
    *(f"cora-graph/transductive-{ways}" for ways in (2, 3, 7, 11)),
)
LEAST_TRAINING = 50  # tasks per epoch: the one choice of 11 disciplines is repeated
FEW_SHOT_TRAINING = 500  # of up to 1.3 million choices
VALIDATION = 20
ALL_TESTED, SOME_TESTED = 165, 100

REAL = "cora_full/cora/raw/cora.npz"  # where PyG's CitationFull(root / "cora_full", "Cora") puts it
STAND_IN = "cora_standin/cora/raw/cora.npz"
GRAPH = "cora_full_graph/cora_full_graph.npz"


@dataclass
class Cora(Task):
    """One of :data:`NAMES`. ``components``: how many principal components of the bag of words are the features.

    Training, transductive: all choices of disciplines. Training, few-shot: N disciplines at random, one training class of
    each at random, because that is what a test task looks like; N of the 48 classes would often put two of the same
    discipline against each other, which no test task does. Validation and test: choices drawn once, by ``seed``.
    """

    name: str
    seed: int = 0
    components: int = 100

    version = VERSION
    arbitrary = True
    context = (0.1, 0.5)
    extra = (0.1, 0.5)

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise unknown_name("task", self.name, NAMES)
        self.with_features = self.name.startswith("cora/")
        self.few_shot = "few-shot" in self.name

    @property
    def transductive(self) -> bool:
        return not self.few_shot

    @property
    def appendix(self) -> str:
        return "few-shot citations" if self.few_shot else "transductive citations"

    @property
    def rates(self) -> tuple[float, ...]:
        return (0.01, 0.05, 0.1) if self.few_shot else (0.01, 0.05, 0.1, 0.3)

    @property
    def num_classes(self) -> int:
        return int(self.name.rpartition("-")[2])

    @property
    def num_features(self) -> int:
        return self.components if self.with_features else 1

    def scale(self) -> tuple[int, int]:
        ways = self.num_classes
        every = math.comb(len(DISCIPLINES), ways)
        training = FEW_SHOT_TRAINING if self.few_shot else max(every, LEAST_TRAINING)
        tested = every if every <= ALL_TESTED else SOME_TESTED
        return training + VALIDATION + tested, PAPERS * ways // (CLASSES if self.few_shot else len(DISCIPLINES))

    def augment(self, graph: Data, generator: torch.Generator) -> Data:
        """Few-shot: three tenths of the principal components are hidden from each graph, others in each.

        Not a symmetry, but new classes will differ in other words than the 48 of training do, and a network that
        cannot count on any one component has to compare papers with each other.
        """
        if self.few_shot:
            kept = (torch.rand(graph.ptr.numel() - 1, graph.x.size(1), generator=generator) >= HIDDEN).float()
            graph.x = graph.x * kept[graph.batch] / (1 - HIDDEN)
        return graph

    @property
    def path(self) -> Path | None:
        """The file that is read: the real one where there is one."""
        places = (REAL, STAND_IN) if self.with_features else (GRAPH, REAL)
        return next((file for file in map(find_data, places) if file.exists()), None)

    @property
    def stand_in(self) -> bool:
        """Whether other papers stand in for Cora Full, so that no figure can be held against the paper's."""
        return self.path == find_data(STAND_IN)

    @property
    def source(self) -> str:
        return "stand-in" if self.stand_in else "present"

    def missing(self) -> str | None:
        if self.path is not None:
            return None
        return (
            f"Cora Full is not at {find_data(REAL)}; PyG downloads it with "
            f"torch_geometric.datasets.CitationFull('{find_data(REAL).parents[2]}', 'Cora')."
        )

    def load(self) -> dict[Split, GraphSet]:
        path = self.path
        if path is None:
            raise UserError(str(self.missing()))
        words, edges, label = read(path, self.with_features)
        held_out = np.isin(label, VAL_CLASSES + TEST_CLASSES) if self.few_shot else np.zeros(len(label), dtype=bool)
        x = np.ones((len(label), 1)) if words is None else self._features(path, words, ~held_out)
        sets: dict[Split, GraphSet] = {}
        for number, split in enumerate(SPLITS):
            choices = self._choices(split, np.random.default_rng([self.seed, number]))
            group, mine = DISCIPLINE_OF[label], np.ones(len(label), dtype=bool)
            if self.few_shot:
                group = label
                mine = ~held_out if split == "train" else np.isin(label, np.unique(choices))
            position = np.cumsum(mine) - 1
            inside = position[edges[:, mine[edges].all(0)]]
            arrays = (x[mine].astype(np.float32), group[mine], inside, choices)
            sets[split] = SubgraphSet(*map(torch.from_numpy, arrays))
        return sets

    def _choices(self, split: Split, rng: np.random.Generator) -> Ints:
        """The tasks of a split [B, N]: disciplines, or in the few-shot setting leaf classes."""
        ways = self.num_classes
        if self.few_shot and split == "train":
            held_out = VAL_CLASSES + TEST_CLASSES
            open_classes = [[c for c in classes if c not in held_out] for classes in DISCIPLINES.values()]
            drawn = [rng.permutation(len(DISCIPLINES))[:ways] for _ in range(FEW_SHOT_TRAINING)]
            return np.array([[rng.choice(open_classes[d]) for d in np.sort(some)] for some in drawn])
        every = np.array(list(itertools.combinations(range(len(DISCIPLINES)), ways)))
        if split == "train":
            return np.resize(every, (max(len(every), LEAST_TRAINING), ways))
        if split == "val":  # in random order, as training may look at the first ones only
            choices = np.resize(rng.permutation(every), (VALIDATION, ways))
        else:
            choices = every if len(every) <= ALL_TESTED else rng.permutation(every)[:SOME_TESTED]
        if not self.few_shot:
            return choices
        return np.array(VAL_CLASSES if split == "val" else TEST_CLASSES)[choices]

    def _features(self, path: Path, words: sparse.csr_matrix, training: NDArray[np.bool_]) -> Floats:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        setting = "few-shot" if self.few_shot else "transductive"
        identity = hashlib.sha256(f"{VERSION}-{setting}-{self.components}-{content}".encode()).hexdigest()[:12]
        cached = cache_folder() / f"cora-{setting}-{identity}.npz"

        def make() -> Arrays:
            return {"x": principal_components(words, training, self.components).astype(np.float32)}

        return kept(cached, ("x",), make)["x"]


def principal_components(words: sparse.csr_matrix, training: NDArray[np.bool_], count: int) -> Floats:
    """All rows on the first ``count`` principal axes of the ``training`` rows.

    One factor for all components makes their mean variance in training 1, a scale that networks are initialised for,
    and keeps distances in proportion. A component's sign is such that its largest loading is positive.
    """
    seen = words[training].astype(np.float64)
    rows, columns = seen.shape
    if count >= min(rows, columns):
        raise UserError(
            f"{count} components were asked of {rows} papers with {columns} words; ask for fewer than either."
        )
    mean = np.asarray(seen.mean(0)).ravel()
    # The centred matrix is dense, a few thousand times as large: it is only ever multiplied with.
    from scipy.sparse.linalg import LinearOperator, svds  # slow to import

    centred = LinearOperator(
        (rows, columns),
        dtype=np.float64,
        matvec=lambda v: seen @ v - mean @ v,
        rmatvec=lambda u: seen.T @ u - mean * u.sum(),
        matmat=lambda v: seen @ v - mean @ v,
        rmatmat=lambda u: seen.T @ u - np.outer(mean, u.sum(0)),
    )
    start = np.random.default_rng(0).normal(size=min(rows, columns))  # else ARPACK draws one, another each time
    _, singular, axes = svds(centred, k=count, v0=start)
    order = singular.argsort()[::-1]
    singular, axes = singular[order], axes[order]
    axes = axes * np.sign(axes[np.arange(count), np.abs(axes).argmax(1)])[:, None]
    scale = np.sqrt(rows * count / np.square(singular).sum())
    return scale * (words @ axes.T - mean @ axes.T)


def read(path: Path, with_features: bool) -> tuple[sparse.csr_matrix | None, Ints, Ints]:
    """A file in graph2gauss's layout: which words a paper has [n, W] (or ``None``), edges [2, E] both ways, labels [n].

    As PyG's CitationFull does it: words count as there or not, edges lose their direction, self-loops go.
    """
    try:
        needed = ("labels", "adj_indptr", "adj_indices")
        stored = read_arrays(path, (*needed, *ATTRIBUTES) if with_features else needed)
        label, pointer, near = (stored[name].astype(np.int64) for name in needed)
        words = None
        if with_features:
            *parts, shape = (stored[name] for name in ATTRIBUTES)
            words = (sparse.csr_matrix(tuple(parts), shape=tuple(shape)) > 0).tocsr()
    except (ValueError, TypeError) as error:
        raise UserError(f"Cannot read {path} as a graph2gauss file: {error}; delete it and get it again.") from error
    size = len(label)
    if len(pointer) != size + 1 or label.min() < 0 or label.max() >= CLASSES:
        raise UserError(f"{path} is not Cora Full: {CLASSES} classes and one label per paper are expected.")
    from_node = np.repeat(np.arange(size), np.diff(pointer))
    apart = from_node != near
    pair = np.stack([from_node[apart], near[apart]])
    both = np.unique(np.concatenate([pair[0] * size + pair[1], pair[1] * size + pair[0]]))
    return words, np.stack(np.divmod(both, size)), label
