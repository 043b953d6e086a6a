"""Single graphs with published splits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix

from mpnp.errors import UserError
from mpnp.tasks import get_task, nodes
from mpnp.tasks.nodes import GRAPHS, PER_CLASS, NodeTask, read, stratified


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A path of six nodes under the name of a published graph, with two splits."""
    x = csr_matrix(np.eye(6, 4, dtype=np.float32))
    train = np.array([[1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0]], dtype=bool)
    val = np.array([[0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]], dtype=bool)
    once = np.stack([np.arange(5), np.arange(1, 6)])
    file = tmp_path / "nodes" / "texas.npz"
    file.parent.mkdir()
    np.savez(
        file,
        x_data=x.data, x_indices=x.indices, x_indptr=x.indptr, x_shape=np.array(x.shape),
        edge_index=np.concatenate([once, once[::-1]], 1).astype(np.int32), y=np.array([0, 0, 0, 1, 1, 1], dtype=np.int8),
        train=train, val=val, test=~(train | val),
    )  # fmt: skip
    monkeypatch.setenv("MPNP_DATA", str(tmp_path))
    return file


def test_a_file_is_read_as_it_was_written(written: Path) -> None:
    public = read(written)
    assert torch.equal(public.graph.x, torch.eye(6)[:, :4])
    assert public.graph.y.tolist() == [0, 0, 0, 1, 1, 1] and public.graph.num_edges == 10
    assert public.mask("train", 1).tolist() == [False, True, False, False, True, False]
    assert torch.equal(public.mask("train", 2), public.mask("train", 0))  # beyond the last split they begin again


def test_a_published_split_shows_its_training_labels_and_hides_those_asked_for(written: Path) -> None:
    task = NodeTask("texas")
    assert task.missing() is None and task.num_splits == 2 and task.rates == (0.4754,)
    first = task.published(task.rates[0], 0)
    second = task.published(task.rates[0], 1, "val")
    assert first is not None and second is not None
    assert first.context.nonzero().flatten().tolist() == [0, 3]
    assert first.unlabelled_targets.nonzero().flatten().tolist() == [2, 4, 5]
    assert second.unlabelled_targets.nonzero().flatten().tolist() == [0]
    assert task.published(0.5, 0) is None


def test_other_rates_are_drawn_from_training_and_test_labels(written: Path) -> None:
    stores = NodeTask("texas").load()
    assert stores["train"].y.tolist() == [0, -1, -1, 1, -1, -1]
    assert stores["val"].y.tolist() == [0, 0, -1, 1, -1, -1]
    assert stores["test"].y.tolist() == [0, -1, 0, 1, 1, 1]


def test_a_damaged_file_is_one_sentence(written: Path) -> None:
    written.write_bytes(b"nothing")
    with pytest.raises(UserError, match="is damaged"):
        _ = NodeTask("texas").public


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPNP_DATA", str(tmp_path))
    assert "downloaded by PyG" in str(NodeTask("cora").missing())
    assert str(NodeTask("acm").missing()).startswith("Set MPNP_DATA")
    with pytest.raises(UserError, match="no loader for node/acm"):
        nodes.by_pyg("acm")
    with pytest.raises(UserError, match="cora"):
        NodeTask("coar")


def test_sizes_are_known_without_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPNP_DATA", str(tmp_path))
    for key, source in GRAPHS.items():
        task = get_task(f"node/{key}")
        assert task.size() == (1, source.nodes) and task.num_classes == source.classes


def test_splits_of_our_own_share_labels_out_by_the_sizes_of_the_classes() -> None:
    y = torch.tensor([0] * 300 + [1] * 100 + [2])
    train, val, test = stratified(y)
    assert torch.equal(train.int() + val.int() + test.int(), torch.ones(5, 401, dtype=torch.int))
    for mask in train:
        counts = torch.bincount(y[mask])
        assert counts[2] == 1 and int(counts.sum()) == pytest.approx(3 * PER_CLASS, abs=2)
        assert float(counts[0] / counts[1]) == pytest.approx(3, rel=0.1)
    assert not torch.equal(train[0], train[1])
