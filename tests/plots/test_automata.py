"""Automata: boards as they lie, spheres from the near side."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from mpnp.plots import CLASS_COLOURS, UNKNOWN, board_figure, sphere_figure
from mpnp.plots.automata import BoardCanvas

from .drawn import board, sphere, sure, unsure


def test_a_board_lies_row_by_row() -> None:
    episode = board()
    figure = board_figure(episode, {"it": sure(episode, wrong=(6,)), "none": unsure(episode)})
    assert [axis.get_title() for axis in figure.axes[:-1]] == [
        "start", "shown: 4 of 16 labels", "true labels", "it: 91.7 % right", "it: uncertainty",
        "none: 50.0 % right", "none: uncertainty",
    ]  # fmt: skip
    blue, amber = CLASS_COLOURS[:2]

    def row(panel: int, number: int) -> list[str]:
        image = np.asarray(figure.axes[panel].images[0].get_array())
        return [to_hex(colour).upper() for colour in image[number]]

    assert row(0, 3) == [blue, amber] * 2
    assert row(1, 0) == [amber, blue] * 2 and row(1, 1) == [UNKNOWN] * 4
    assert row(2, 3) == [amber, blue] * 2
    assert figure.axes[3].collections[0].get_offsets().tolist() == [[2, 1]]  # node 6: column 2, row 1
    doubt = np.asarray(figure.axes[6].images[0].get_array())
    assert doubt == pytest.approx(np.full((4, 4), np.log(2)), rel=1e-5)


def test_a_board_is_rolled_up_so_that_neighbours_stay_neighbours() -> None:
    canvas = BoardCanvas(board(12))
    grid = canvas.points.reshape(12, 12, 3)
    across = np.linalg.norm(np.diff(grid, axis=0, append=grid[:1]), axis=-1)
    assert across == pytest.approx(np.full((12, 12), across[0, 0]))  # the last row lies beside the first
    along = np.linalg.norm(np.diff(grid, axis=1, append=grid[:, :1]), axis=-1)
    assert along.max() < 1


def test_the_sphere_shows_each_near_cell_once_and_mistakes_in_front() -> None:
    episode = sphere()
    height = episode.graph.pos[:, 2]
    front, back = int(height[4:].argmax()) + 4, int(height[4:].argmin()) + 4
    figure = sphere_figure(episode, {"it": sure(episode, wrong=(front, back))})
    for axis in figure.axes[:5]:
        assert len(axis.collections[0].get_paths()) == int((height > -0.1).sum())
    assert figure.axes[3].get_title() == "it: 94.4 % right"
    marked = figure.axes[3].collections[1].get_offsets()
    assert np.allclose(marked, episode.graph.pos[[front], :2])
