"""Files that ``torch.save`` wrote: PyG's ``Data``, dicts of tensors, or lists of these."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch_geometric.data import Data
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import AttrType, GlobalStorage
from torch_geometric.edge_index import EdgeIndex, SortOrder

from ...errors import UserError
from .arrays import from_items
from .own_graphs import Choices, OwnGraphs
from .torch_archive import read_archive

FREE = 2**24  # numbers that a file may stand for however small it is, since graphs may share tensors


def read_pt(path: Path, choices: Choices) -> OwnGraphs:
    """Tensors and PyG's data classes alone are unpickled; anything else in the file is refused before it can run."""
    content = read_archive(path) or _load(path)
    items = list(content) if isinstance(content, list | tuple) else [content]
    if not items:
        raise UserError(f"The file {path} holds an empty list; save at least one PyG Data.")
    return from_items(items, str(path), choices, most=max(FREE, 2 * path.stat().st_size))


def _load(path: Path) -> Any:
    _refuse_compressed(path)
    try:
        with _only_pyg():
            return torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:  # a damaged or foreign file can provoke any
        found = re.search(r"GLOBAL (\S+)", str(error))
        what = f"holds '{found[1]}'" if found else "cannot be read as a file written by torch.save"
        raise UserError(f"The file {path} {what}; save a PyG Data or a list of them, made of tensors only.") from error


def _refuse_compressed(path: Path) -> None:
    """``torch.save`` never compresses; a compressed entry may unfold to a thousand times its size."""
    try:
        if not zipfile.is_zipfile(path):  # which may raise as well
            return
        with zipfile.ZipFile(path) as archive:
            compressed = any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist())
    except OSError:
        raise
    except Exception as error:  # a damaged archive can provoke any
        raise UserError(f"The file {path} cannot be read as a file written by torch.save; save it again.") from error
    if compressed:
        raise UserError(f"The file {path} is compressed, which torch.save does not do; load it and save it again.")


def _plain_dict(*_: Any) -> dict[Any, Any]:
    """In place of the defaultdict of cached names in a ``Data``, which torch admits but cannot fill."""
    return {}


@contextmanager
def _only_pyg() -> Iterator[None]:
    """Let ``torch.load`` admit what a saved ``Data`` needs, and nothing else.

    Not ``torch.serialization.safe_globals``: it would add to what other packages registered, and on leaving withdraw
    ``Data``, which PyG registered for the whole process.
    """
    pyg = [Data, DataTensorAttr, DataEdgeAttr, GlobalStorage, AttrType, EdgeIndex, SortOrder]
    before = torch.serialization.get_safe_globals()
    torch.serialization.clear_safe_globals()
    torch.serialization.add_safe_globals([*pyg, (_plain_dict, "collections.defaultdict")])
    try:
        yield
    finally:
        torch.serialization.clear_safe_globals()
        torch.serialization.add_safe_globals(before)
