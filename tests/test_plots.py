"""Pictures: the right panels, whole files or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from matplotlib.figure import Figure
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.models.mode import Mode
from mpnp.plots import accuracy_figure, board_figure, episode_figure, layout, save


def graph(nodes: int, edges: list[tuple[int, int]], **more: Any) -> Data:
    edge_index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()
    x = torch.nn.functional.one_hot(torch.arange(nodes) % 2, 2).float()
    return Data(x=x, edge_index=edge_index, y=torch.arange(nodes) % 3 - 1, **more)


def episode() -> Episode:
    """Two graphs, the second with labels that are not shown, and nodes without a label in both."""
    context = torch.tensor([True] * 5 + [False] * 3)
    return Episode.from_graphs([graph(5, [(0, 1), (1, 0), (2, 3)]), graph(3, [(0, 2)])], context)


def figures() -> dict[str, tuple[Figure, int]]:
    """Each figure with the number of axes it should have."""
    board = Episode.from_graphs([graph(4, [])], torch.tensor([True, False, False, True]), num_classes=2)
    board.y.clamp_(min=0)
    guess = Mode().predict(board)
    row = {"accuracy": 0.8, "accuracy_std": 0.01}
    table = {"model": "mode", "task": "ca/voronoi", "rates": {"0.1": row, "0.3": row}}
    return {
        "episode": (episode_figure(episode(), Mode().predict(episode())), 4 + 1),  # and the colour bar
        "board": (board_figure(board, {"mode": guess, "mode again": guess}, side=2), 3 + 2 * 2),
        "accuracy": (accuracy_figure([table, table], {"MPNP": (88.0, 95.0)}), 1),
    }


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_figures_are_written(tmp_path: Path, ending: str) -> None:
    for name, (figure, axes) in figures().items():
        assert len(figure.axes) == axes
        path = save(figure, tmp_path / "new" / f"{name}.{ending}")
        start = {"png": b"\x89PNG", "svg": b"<?xml"}[ending]
        assert path.read_bytes().startswith(start)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        f"{name}.{ending}" for name in ("accuracy", "board", "episode")
    ]


def test_accuracy_bars_are_the_figures_of_the_tables() -> None:
    (axis,) = figures()["accuracy"][0].axes
    assert [bar.get_height() for bar in axis.patches] == pytest.approx([80] * 4 + [88, 95])  # type: ignore[attr-defined]
    names = [text.get_text() for text in axis.get_legend().get_texts()]  # type: ignore[union-attr]
    assert names == ["mode", "mode", "paper: MPNP"]


def test_mistakes_are_ringed_and_counted() -> None:
    """In graph 1 the label 1 of node 2 is hidden and its graph without context, so the mode says 0."""
    figure = episode_figure(episode(), Mode().predict(episode()), graph=1, title="a title")
    shown, _, predicted, _ = figure.axes[:4]
    assert "0 of 3" in shown.get_title()
    assert "50.0 %" in predicted.get_title()  # node 1 right, node 2 wrong, node 0 without a label
    assert predicted.get_legend() is not None


@pytest.mark.parametrize("data", [graph(1, []), graph(4, []), graph(4, [(1, 1)])], ids=["one node", "no edges", "loop"])
def test_odd_graphs_can_be_drawn(tmp_path: Path, data: Data) -> None:
    everything = Episode.from_graphs([data], num_classes=2)
    save(episode_figure(everything, Mode().predict(everything)), tmp_path / "odd.png")
    assert (tmp_path / "odd.png").stat().st_size > 0


def test_nodes_lie_at_their_own_positions_in_the_plane() -> None:
    plane, space = torch.rand(6, 2), torch.rand(6, 3)
    flat = Episode.from_graphs([graph(3, [(0, 1)], pos=plane[:3]), graph(3, [], pos=plane[3:])])
    assert torch.equal(torch.from_numpy(layout(flat, 1)), plane[3:].double())
    assert layout(Episode.from_graphs([graph(6, [(0, 1)], pos=space)])).shape == (6, 2)


@pytest.mark.parametrize("earlier", [None, b"an earlier picture"])
def test_nothing_half_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, earlier: bytes | None) -> None:
    path = tmp_path / "picture.png"
    if earlier:
        path.write_bytes(earlier)

    def half(self: Figure, file: Path, **_: Any) -> None:
        Path(file).write_bytes(b"half")
        raise MemoryError

    monkeypatch.setattr(Figure, "savefig", half)
    with pytest.raises(MemoryError):
        save(Figure(), path)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == ([earlier] if earlier else [])


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UserError, match="Cannot write"):
        save(Figure(), tmp_path / "file" / "picture.png")
