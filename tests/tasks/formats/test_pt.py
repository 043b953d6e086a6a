"""Files of ``torch.save``: what they may hold, and that nothing in them runs or unfolds."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric import EdgeIndex
from torch_geometric.data import Data

from mpnp.errors import UserError
from mpnp.tasks.formats import as_graphs

from .sources import EDGES, X, Y, as_pt, fails, save


def test_one_data_a_dict_or_lists(tmp_path: Path) -> None:
    data = Data(x=X.double(), edge_index=EdgeIndex(EDGES, sparse_size=(4, 4)), y=Y.to(torch.int8))
    data.get_all_tensor_attrs()  # fills a cache that is saved with the rest
    for content in (data, {"x": X, "edge_index": EDGES, "y": Y}, [data, {"x": X, "edge_index": EDGES}], (data,)):
        own = as_graphs(save(tmp_path, content))
        assert torch.equal(own.graphs[0].x, X) and torch.equal(own.graphs[0].y, Y)
        assert type(own.graphs[0].edge_index) is torch.Tensor
    assert as_graphs(save(tmp_path, Data(x=X, edge_index=EDGES))).graphs[0].y.tolist() == [-1] * 4
    assert torch.equal(as_graphs(save(tmp_path, Data(edge_index=EDGES, y=Y))).graphs[0].x, torch.ones(4, 1))


def test_weights_types_and_the_training_mask_are_read(tmp_path: Path) -> None:
    mask = torch.tensor([True, False, False, True])
    weight, kind = torch.arange(5.0), torch.tensor([0, 0, 2, 2, 1])
    data = Data(x=X, edge_index=EDGES, y=Y, edge_weight=weight, edge_type=kind, train_mask=mask, colour=X)
    own = as_graphs(save(tmp_path, data))
    assert own.graphs[0].edge_weight.tolist() == [0, 1, 2, 3, 4]
    assert own.graphs[0].edge_type.tolist() == [0, 0, 2, 2, 1] and own.edge_type_names == ["0", "1", "2"]
    assert own.graphs[0].y.tolist() == [1, -1, -1, -1]
    assert "2 labels outside of train_mask are hidden." in own.notes
    assert any("Ignored: colour;" in note for note in own.notes)


def test_reading_leaves_the_safe_globals_as_they_were(tmp_path: Path) -> None:
    before = set(torch.serialization.get_safe_globals())
    as_graphs(as_pt(tmp_path))
    (tmp_path / "g.pt").write_text("damaged")
    with pytest.raises(UserError):
        as_graphs(tmp_path / "g.pt")
    assert set(torch.serialization.get_safe_globals()) == before


def test_a_malicious_pickle_is_not_executed(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "executed"),)

    for content in (Evil(), [Data(x=X, edge_index=EDGES, y=Y, evil=Evil())], {"x": Evil()}):
        for zipped in (True, False):
            torch.save(content, tmp_path / "g.pt", _use_new_zipfile_serialization=zipped)
            fails(tmp_path / "g.pt", "mkdir")
    assert not (tmp_path / "executed").exists()


def test_repeated_tensors_are_not_written_out(tmp_path: Path) -> None:
    """A few bytes may stand for terabytes; a little repetition is as good as any tensor."""
    huge = torch.zeros(1).expand(2**20, 2**20)
    fails(save(tmp_path, Data(x=huge, edge_index=EDGES)), "1,099,511,627,7", "far more than it holds")
    fails(save(tmp_path, Data(x=X, edge_index=torch.zeros(2, 1).long().expand(2, 2**40))), "far more")
    large = Data(x=torch.zeros(2**22, 1), edge_index=EDGES)
    fails(save(tmp_path, [large] * 100), "far more")
    small = Data(x=torch.ones(1, 1).expand(4, 3), edge_index=EDGES)
    assert as_graphs(save(tmp_path, [small] * 10)).graphs[9].x.tolist() == [[1, 1, 1]] * 4


def test_compressed_entries_are_not_unfolded(tmp_path: Path) -> None:
    plain, packed = save(tmp_path, Data(x=torch.zeros(10_000, 1), edge_index=EDGES)), tmp_path / "packed.pt"
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for entry in source.infolist():
            target.writestr(entry.filename, source.read(entry))
    fails(packed, "compressed", "save it again")


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ([], "empty list"),
        ([1], "int"),
        ("text", "str"),
        (Data(edge_index=EDGES), "no x"),
        (Data(x=X), "edge_index"),
        (Data(x=X[:0], edge_index=EDGES[:, :0]), "no nodes"),
        (Data(x=X[:, 0], edge_index=EDGES), "shape [4]"),
        (Data(x=X / 0, edge_index=EDGES), "feature 0 of node 0"),
        (Data(x=X.double() * 1e300, edge_index=EDGES), "inf"),
        (Data(x=X.to_sparse(), edge_index=EDGES), "sparse"),
        (Data(x=X.to(torch.complex64), edge_index=EDGES), "complex"),
        (Data(x=X.tolist(), edge_index=EDGES), "list"),
        (Data(x=X, edge_index=EDGES + 2), "names node 4"),
        (Data(x=X, edge_index=EDGES - 1), "names node -1"),
        (Data(x=X, edge_index=EDGES.float()), "torch.float32"),
        (Data(x=X, edge_index=EDGES, edge_type=EDGES[0].float()), "edge_type is of type torch.float32"),
        (Data(x=X, edge_index=EDGES, edge_weight=-torch.ones(5)), "weight of edge 0 is -1.0"),
        (Data(x=X, edge_index=EDGES, edge_weight=torch.ones(4)), "edge_weight has 4 rows"),
        (Data(x=X, edge_index=EDGES, y=Y, train_mask=torch.ones(3).bool()), "train_mask"),
        (Data(x=X, edge_index=EDGES, y=Y, train_mask=torch.arange(4)), "train_mask"),
        (Data(x=X, edge_index=EDGES, y=Y.float()), "torch.float32"),
        (Data(x=X, edge_index=EDGES, y=Y - 1), "-2"),
        (Data(x=X, edge_index=EDGES, y=Y * 20_000), "20000"),
        (Data(x=X, edge_index=EDGES, y=torch.tensor([1])), "shape [1]"),
        ([Data(x=X, edge_index=EDGES), Data(x=X[:, :1], edge_index=EDGES)], "graph 1 has 1 features"),
    ],
)
def test_bad_content(tmp_path: Path, content: Any, part: str) -> None:
    fails(save(tmp_path, content), part)


def test_damaged_files(tmp_path: Path) -> None:
    path = as_pt(tmp_path)
    whole = path.read_bytes()
    for content in (whole[:100], whole[: len(whole) // 2], b"hello", b"\x80\x02.", b"\x00" * 50):
        path.write_bytes(content)
        fails(path, "torch.save")
    fails(save(tmp_path, Data.__new__(Data)), "damaged")
    foreign = bytearray(whole)
    foreign[whole.index(b"PK\x01\x02") + 6] = 99  # a version of archives that Python cannot read
    path.write_bytes(bytes(foreign))
    fails(path, "torch.save")


def test_an_archive_over_several_disks_is_refused(tmp_path: Path) -> None:
    ends = b"PK\x06\x07" + (0).to_bytes(12, "little") + (2).to_bytes(4, "little") + b"PK\x05\x06" + bytes(18)
    (tmp_path / "g.pt").write_bytes(bytes(100) + ends)
    fails(tmp_path / "g.pt", "cannot be read as a file written by torch.save")
