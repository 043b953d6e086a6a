"""Very many graphs in one file: read as ``torch.load`` reads them, and left to it where there is anything else in it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric import EdgeIndex
from torch_geometric.data import Data

from mpnp.errors import UserError
from mpnp.tasks.formats import as_graphs
from mpnp.tasks.formats.torch_archive import UnknownError, read_archive, run

from .sources import EDGES, X, Y, save


def test_what_is_read_is_what_torch_reads(tmp_path: Path) -> None:
    shared = torch.randn(300, 4)
    graphs = [
        Data(
            x=shared[i : i + 4],
            edge_index=EDGES.t().contiguous().t(),
            y=Y.to(torch.int8),
            mask=Y > 0,
            name="a",
            none=None,
        )
        for i in range(300)
    ]
    graphs.append(Data(x=X.double(), edge_index=torch.zeros(2, 0, dtype=torch.long), y=Y))
    file = save(tmp_path, graphs)
    found = read_archive(file)
    assert found is not None and len(found) == 301
    for given, got in zip(graphs, found, strict=True):
        expected = given.to_dict()
        assert expected.keys() == got.keys()
        for name, value in expected.items():
            same = torch.equal(value, got[name]) if isinstance(value, torch.Tensor) else value == got[name]
            assert same and type(value) is type(got[name])
            assert not isinstance(value, torch.Tensor) or value.dtype == got[name].dtype


@pytest.mark.parametrize(
    "content",
    [
        Data(x=X, edge_index=EDGES),
        {"x": X},
        [{"x": X, "edge_index": EDGES}],
        [Data(x=X, edge_index=EdgeIndex(EDGES, sparse_size=(4, 4)))],
        [Data(x=torch.nn.Parameter(X), edge_index=EDGES)],
        [Data(x=X.to_sparse(), edge_index=EDGES)],
        [1],
    ],
)
def test_anything_else_is_left_to_torch(tmp_path: Path, content: Any) -> None:
    assert read_archive(save(tmp_path, content)) is None


def test_no_instruction_calls_anything_or_makes_much_of_little() -> None:
    calls = b"\x80\x02cos\nmkdir\n(X\x01\x00\x00\x00ate."  # os.mkdir('a')
    far = b"\x80\x02]r\xff\xff\xff\x7f."  # kept under the number 2**31 - 1
    assert run(far, lambda key: (0, 0), bytearray()) == []
    for program in (calls, pickle.dumps(print, 2), pickle.dumps(bytearray(8), 5), b"\x80\x02ctorch\nLongStorage\n)R."):
        with pytest.raises(UnknownError):
            run(program, lambda key: (0, 0), bytearray())


def test_a_tensor_beyond_its_storage_is_refused(tmp_path: Path) -> None:
    file = save(tmp_path, [Data(x=torch.ones(7, 5), edge_index=EDGES, y=torch.zeros(7, dtype=torch.long))])
    content = file.read_bytes()
    assert content.count(b"K\x07K\x05\x86") == 1
    file.write_bytes(content.replace(b"K\x07K\x05\x86", b"K\x09K\x05\x86"))  # of nine rows
    assert read_archive(file) is None
    with pytest.raises(UserError):
        as_graphs(file)


def test_a_truncated_file_is_told(tmp_path: Path) -> None:
    file = save(tmp_path, [Data(x=X, edge_index=EDGES, y=Y)] * 3)
    content = file.read_bytes()
    for size in (0, 10, len(content) // 2, len(content) - 30):
        file.write_bytes(content[:size])
        with pytest.raises(UserError):
            as_graphs(file)
