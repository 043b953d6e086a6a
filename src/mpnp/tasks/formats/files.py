"""A path to graphs: which format is it?"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from ...errors import UserError
from ...graphs import all_sound, check_graph
from .csv_files import read_csv
from .frames import read_parquet
from .gexf import read_gexf
from .graphml import read_graphml
from .node_link import read_json
from .npz import read_npz
from .own_graphs import Choices, OwnGraphs
from .pt import read_pt
from .tud import read_tud

KINDS = (
    "a .pt, .graphml, .gexf, .json or .npz file, a folder with nodes.csv and edges.csv (or .parquet), or a TUDataset "
    "folder with NAME_A.txt and NAME_graph_indicator.txt"
)
BY_ENDING: dict[str, Callable[[Path, Choices], OwnGraphs]] = {
    ".pt": read_pt,
    ".graphml": read_graphml,
    ".gexf": read_gexf,
    ".json": read_json,
    ".npz": read_npz,
}
BY_NAME: dict[str, Callable[[Path, Choices], OwnGraphs]] = {"nodes.csv": read_csv, "nodes.parquet": read_parquet}


def load(path: Path, choices: Choices) -> OwnGraphs:
    """The graphs at ``path``; whatever is wrong with them is a :class:`UserError`."""
    try:
        with _nothing_collected():
            return checked(_dispatch(path, choices))
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror or error}; check its permissions.") from error


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Very many objects are made here, all of which stay: Python had better not look again and again for those that do not,
    which takes half of the time of 10,000 graphs."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def checked(own: OwnGraphs) -> OwnGraphs:
    """The same, once every graph is known to be sound; nodes without features get the constant 1."""
    for graph in own.graphs:
        if graph.x is not None and graph.x.dim() == 2 and graph.x.size(1) == 0:
            graph.x = torch.ones(graph.x.size(0), 1)
    for i, graph in enumerate([] if all_sound(own.graphs) else own.graphs):
        check_graph(graph, own.where if len(own.graphs) == 1 else f"graph {i} of {own.where}")
        if graph.x.size(1) != own.graphs[0].x.size(1):
            raise UserError(
                f"In {own.where}: graph {i} has {graph.x.size(1)} features per node, graph 0 has "
                f"{own.graphs[0].x.size(1)}; give all graphs the same features."
            )
    if not own.feature_names:
        own.feature_names, own.feature_kinds = ["constant"], ["constant"]
        own.notes.append("There are no features; every node has the constant 1.")
    return own


def _dispatch(path: Path, choices: Choices) -> OwnGraphs:
    if not path.exists():
        raise UserError(f"There is nothing at {path}; give {KINDS}.")
    if path.is_dir():
        for name, read in BY_NAME.items():
            if (path / name).exists():
                return read(path, choices)
        for folder in (path, path / "raw"):
            adjacencies = sorted(folder.glob("*_A.txt"))
            named = [file for file in adjacencies if file.name == f"{path.resolve().name}_A.txt"]
            if len(adjacencies) > 1 and not named:
                names = ", ".join(file.name for file in adjacencies)
                raise UserError(f"The folder {folder} holds several datasets ({names}); keep one per folder.")
            if adjacencies:
                return read_tud(folder, (named or adjacencies)[0].name.removesuffix("_A.txt"), choices)
        raise UserError(f"The folder {path} holds no graphs that can be read; give {KINDS}.")
    if path.stat().st_size == 0:
        raise UserError(f"The file {path} is empty; give {KINDS}.")
    if path.suffix.lower() in BY_ENDING:
        return BY_ENDING[path.suffix.lower()](path, choices)
    beside = path.with_name(path.name.replace("edges.", "nodes.")).name
    if beside in BY_NAME:
        return BY_NAME[beside](path.parent, choices)
    raise UserError(f"The file {path} is of an unknown kind; give {KINDS}.")
