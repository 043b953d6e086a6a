"""ShapeNet parts: point clouds of things whose points belong to parts, a wing, a leg, a handle.

A node is a point, its features are x, y, z, its label is its part, and it is joined to its nearest neighbours.

Coordinates are taken as they are stored: every shape already has the middle of its box at the origin and a diagonal of
about 1, so that centring or scaling it again would only add the noise of how its points were sampled. Networks
standardise the three axes by the training shapes.

Each point is joined to its eight nearest, in both directions. The paper does not say how many it took. Over 84 shapes of
seven categories, k = 4 leaves 39 % of the shapes in pieces, 6 leaves 6 %, 8 leaves 2 %, 10 to 16 leave 1 % (a lamp whose
parts really are apart); the share of edges that join two parts, at which labels are mixed up, grows from 3.0 to 3.4, 3.8,
4.1 and (16) 4.8 %, and the edges, which cost time and memory, from 4.8 to 7.0, 9.2, 11.4 and 18 per point.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data
from tqdm import tqdm

from ..errors import UserError, unknown_name
from ..graphs import GraphSet
from .base import SPLITS, Split, Task, cache_folder
from .caches import Arrays, kept, read_arrays
from .sources import find_data

Ints = NDArray[np.int64]

VERSION = 1
NEIGHBOURS = 8


class Category(NamedTuple):
    synset: str
    parts: int
    shapes: int  # in the official release; fewer may be prepared


CATEGORIES = {
    "airplane": Category("02691156", 4, 2690),
    "bag": Category("02773838", 2, 76),
    "cap": Category("02954340", 2, 55),
    "car": Category("02958343", 4, 898),
    "chair": Category("03001627", 4, 3758),
    "earphone": Category("03261776", 3, 69),
    "guitar": Category("03467517", 3, 787),
    "knife": Category("03624134", 2, 392),
    "lamp": Category("03636649", 4, 1547),
    "laptop": Category("03642806", 2, 451),
    "motorbike": Category("03790512", 6, 202),
    "mug": Category("03797390", 2, 184),
    "pistol": Category("03948459", 3, 283),
    "rocket": Category("04099429", 3, 66),
    "skateboard": Category("04225987", 3, 152),
    "table": Category("04379243", 3, 5271),
}
MIXED = (2, 3, 4)
NAMES = (*(f"shapenet/{category}" for category in CATEGORIES), *(f"shapenet/mixed-{parts}" for parts in MIXED))


@dataclass
class ShapeNet(Task):
    """The shapes of one category, ``shapenet/<category>``, in the official splits; parts mean the same in all of them.

    Graphs carry ``pos`` [N, 3].
    """

    name: str
    neighbours: int = NEIGHBOURS

    version = VERSION
    standardise = True
    places = True
    appendix = "shapes"
    metrics = ("shapes",)
    context = (0.05, 0.25)
    extra = (0.05, 0.25)
    num_features = 3
    source = "ShapeNet parts"

    def __post_init__(self) -> None:
        known = [name for name in NAMES if ("/mixed-" in name) == self.arbitrary]
        if self.name not in known:
            raise unknown_name("task", self.name, known)

    @property
    def rates(self) -> tuple[float, ...]:
        return (0.001, 0.01, 0.05, 0.1) if self.arbitrary else (0.001, 0.01, 0.05, 0.1, 0.3)

    @property
    def categories(self) -> list[str]:
        return [self.name.removeprefix("shapenet/")]

    @property
    def num_classes(self) -> int:
        return CATEGORIES[self.categories[0]].parts

    def missing(self) -> str | None:
        absent = [category for category in self.categories if not _file(category).exists()]
        if not absent:
            return None
        files = ", ".join(f"{CATEGORIES[category].synset}.npz" for category in absent)
        return (
            f"{files} of ShapeNet {'is' if len(absent) == 1 else 'are'} not in {_file(absent[0]).parent}; download the data "
            "with torch_geometric.datasets.ShapeNet(DIR) and run 'mpnp data prepare shapenet --from DIR'."
        )

    def augment(self, graph: Data, generator: torch.Generator) -> Data:
        """A shape seen in a mirror, and stretched along each axis by up to a quarter.

        z is the axis across: of eight shapes of each of the 16 categories, at least 90 % of the points find their own part
        at their mirror image (a test asks this of all).
        """
        shapes = graph.ptr.numel() - 1
        stretch = 1.25 ** (2 * torch.rand(shapes, 3, generator=generator) - 1)
        stretch[:, 2] *= 1 - 2 * torch.randint(2, (shapes,), generator=generator)
        graph.x = graph.x * stretch[graph.batch]
        return graph

    def scale(self) -> tuple[int, int]:
        return sum(CATEGORIES[category].shapes for category in self.categories), 2600

    def size(self) -> tuple[int, float]:
        sizes = []
        for category in self.categories:
            sizes.append(np.diff(_stored(_file(category), "ptr")["ptr"]))
        points = np.concatenate(sizes)
        return len(points), float(points.mean())

    def load(self) -> dict[Split, GraphSet]:
        """All shapes of each split; edges take 16 bytes each, 0.4 GB per thousand shapes, and twice that while loading."""
        absent = self.missing()
        if absent:
            raise UserError(absent)
        clouds = {category: _with_edges(category, self.neighbours) for category in self.categories}
        return {split: self._pack(clouds, split) for split in SPLITS}

    def _pack(self, clouds: dict[str, dict[str, NDArray[Any]]], split: Split) -> GraphSet:
        # One split at a time and with its edges sorted: a store of everything, to be cut, would take twice the memory.
        xyz, label, category, sizes, edges = [], [], [], [], []
        start = 0
        for name, cloud in clouds.items():
            shapes = np.flatnonzero(cloud["split"] == split)
            points, size = _rows(cloud["ptr"], shapes)
            degree = cloud["degree"][points]
            first = start + np.cumsum(size) - size  # of each shape
            target = np.repeat(np.arange(start, start + len(points)), degree)
            source = np.repeat(np.repeat(first, size), degree)
            source += cloud["source"][_rows(cloud["edge_ptr"], shapes)[0]]
            edges.append(torch.from_numpy(np.stack([source, target])))
            xyz.append(cloud["xyz"][points])
            label.append(cloud["label"][points])
            category.append(np.full(len(points), list(CATEGORIES).index(name)))
            sizes.append(size)
            start += len(points)
        edge_index = torch.cat(edges, 1)
        edges.clear()
        x = torch.from_numpy(np.concatenate(xyz))
        extra = {"pos": x}
        if self.arbitrary:
            extra["category"] = torch.from_numpy(np.concatenate(category))
        ptr = np.concatenate([[0], np.concatenate(sizes).cumsum()])
        y = torch.from_numpy(np.concatenate(label)).long()
        return GraphSet(x, y, edge_index, torch.from_numpy(ptr), extra=extra, undirected=True)


@dataclass
class MixedShapeNet(ShapeNet):
    """All categories with as many parts, ``shapenet/mixed-<parts>``: what a label means changes from shape to shape.

    Graphs also carry ``category`` [N], the place of the point's category in :data:`CATEGORIES`.
    """

    arbitrary = True
    appendix = "mixed shapes"

    @property
    def categories(self) -> list[str]:
        parts = int(self.name.rpartition("-")[2])
        return [category for category, about in CATEGORIES.items() if about.parts == parts]


def shapenet_task(name: str) -> ShapeNet:
    """The task ``name``, one of :data:`NAMES`."""
    return MixedShapeNet(name) if name.startswith("shapenet/mixed-") else ShapeNet(name)


def nearest(points: NDArray[np.floating[Any]], k: int) -> tuple[Ints, Ints]:
    """The graph that joins points [n, 3] to their ``k`` nearest: neighbours per point [n], and these one after the other."""
    size = len(points)
    k = min(k, size - 1)
    if k < 1:
        return np.zeros(size, dtype=np.int64), np.empty(0, dtype=np.int64)
    from scipy.spatial import cKDTree  # slow to import

    _, near = cKDTree(points).query(points, k=k + 1, workers=1)
    me = np.arange(size)[:, None]
    # A point's nearest is itself; where more than k others lie on the same spot it may be none, and the last one goes.
    drop = near == me
    drop[~drop.any(1), -1] = True
    other = near[~drop].reshape(size, k)
    pairs = np.unique(np.concatenate([(me * size + other).ravel(), (other * size + me).ravel()]))
    return np.bincount(pairs // size, minlength=size), pairs % size


def read(category: str) -> dict[str, NDArray[Any]]:
    """The shapes of a category: ``xyz`` [N, 3] float32, ``label`` [N] from 0, ``ptr`` [B + 1], ``split``, ``ids`` [B]."""
    path = _file(category)
    stored = _stored(path, "label", "ptr", "split", "ids", "xyz", "scale")
    try:
        scale = float(stored.pop("scale"))
        cloud = {**stored, "xyz": (stored["xyz"] * scale).astype(np.float32)}
        fits = _fit(cloud)
    except (ValueError, TypeError):  # arrays of words, or of other shapes
        fits = False
    if not fits:
        raise UserError(f"The arrays of {path} do not fit together; prepare the data again.")
    parts = CATEGORIES[category].parts
    if cloud["label"].min() < 1 or cloud["label"].max() > parts:
        raise UserError(f"In {path}: parts 1 to {parts} are expected of a {category}; prepare the data again.")
    cloud["label"] = cloud["label"] - 1
    return cloud


def _stored(path: Path, *names: str) -> Arrays:
    try:
        return read_arrays(path, names)
    except ValueError as error:
        raise UserError(f"Cannot read {path} as shapes: {error}; prepare the data again.") from error


def _fit(cloud: Arrays) -> bool:
    """Whether there is one place and one part per point, one split and one name per shape, and no shape without a point."""
    points, ptr = len(cloud["label"]), cloud["ptr"]
    shaped = cloud["label"].shape == (points,) and cloud["xyz"].shape == (points, 3) and ptr.ndim == 1 and len(ptr) > 1
    whole = all(np.issubdtype(cloud[name].dtype, np.integer) for name in ("label", "ptr"))
    if not shaped or not whole or not cloud["split"].shape == cloud["ids"].shape == (len(ptr) - 1,):
        return False
    ends = ptr[0] == 0 and ptr[-1] == points and bool((np.diff(ptr.astype(np.int64)) > 0).all())
    return ends and bool(np.isin(cloud["split"], SPLITS).all()) and bool(np.isfinite(cloud["xyz"]).all())


def _file(category: str) -> Path:
    return find_data(f"shapenet/{CATEGORIES[category].synset}.npz")


def _with_edges(category: str, k: int) -> dict[str, NDArray[Any]]:
    """What :func:`read` gives, with ``degree`` [N], ``source`` [E] (counted from the shape's first point), ``edge_ptr``."""
    cloud = read(category)
    content = hashlib.sha256(_file(category).read_bytes()).hexdigest()
    identity = hashlib.sha256(f"{VERSION}-{k}-{content}".encode()).hexdigest()[:12]
    path = cache_folder() / f"shapenet-{category}-{k}nn-{identity}.npz"

    def make() -> Arrays:
        shapes = np.split(cloud["xyz"], cloud["ptr"][1:-1])
        bar = tqdm(shapes, desc=f"Nearest neighbours of {category}", unit="shape", leave=False)
        graphs = [tuple(part.astype(np.int32) for part in nearest(points, k)) for points in bar]
        degree, source = (np.concatenate(parts) for parts in zip(*graphs, strict=True))
        return {"degree": degree, "source": source}

    cloud |= kept(path, ("degree", "source"), make)
    until = np.concatenate([[0], cloud["degree"].cumsum(dtype=np.int64)])
    cloud["edge_ptr"] = until[cloud["ptr"]]
    return cloud


def _rows(ptr: Ints, index: Ints) -> tuple[Ints, Ints]:
    """The rows of the segments ``index`` of something with offsets ``ptr``, and how many each has."""
    size = ptr[index + 1] - ptr[index]
    before = np.cumsum(size) - size
    return np.arange(size.sum()) + np.repeat(ptr[index] - before, size), size
