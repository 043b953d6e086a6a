"""Point clouds: what stands out, and from where they are seen."""

from __future__ import annotations

import numpy as np
import pytest

from mpnp.plots import cloud_figure
from mpnp.plots.clouds import CloudCanvas, seen_from
from mpnp.plots.panels import Row, figure_of, predicted, shown

from .drawn import cloud, sure, unsure


def test_a_shape_beside_the_uncertainty_of_two_models() -> None:
    episode = cloud()
    figure = cloud_figure(episode, {"np": unsure(episode), "ampnp": sure(episode)}, "a thing")
    titles = [axis.get_title() for axis in figure.axes[:3]]
    assert titles == ["a thing", "np: uncertainty, 44.4 % right", "ampnp: uncertainty, 100.0 % right"]  # 12 of 27
    large, small = (axis.collections[0].get_sizes() for axis in figure.axes[1:3])  # type: ignore[attr-defined]
    assert large.min() > small.max()


def test_borders_and_context_stand_out_in_the_truth() -> None:
    """Of a path of 30 nodes 14 and 15 are on the border, and two more on each side near it."""
    points, rings = cloud_figure(cloud(), {}).axes[0].collections
    sizes = points.get_sizes()  # type: ignore[attr-defined]
    assert (sizes == sizes.max()).sum() == 6 and len(set(sizes)) == 2
    assert len(rings.get_offsets()) == 3


def test_what_is_shown_lies_above_what_is_not() -> None:
    episode = cloud()
    (axis,) = figure_of([Row(CloudCanvas(episode), [shown(episode)], episode)]).axes
    sizes = axis.collections[0].get_sizes()  # type: ignore[attr-defined]
    assert (np.diff(sizes) >= 0).all() and (sizes == sizes.max()).sum() == 3


def test_mistakes_are_marked() -> None:
    episode = cloud()
    drawn = predicted(episode, sure(episode, wrong=(5, 7)), "it")
    (axis,) = figure_of([Row(CloudCanvas(episode), [drawn], episode)]).axes
    assert axis.get_title() == "it: 92.6 % right"
    assert np.allclose(axis.collections[1].get_offsets(), CloudCanvas(episode).place[[5, 7]])


@pytest.mark.parametrize(
    ("turn", "tilt", "place", "near"),
    [(0, 0, (1, 2), 3), (np.pi / 2, 0, (3, 2), -1), (0, np.pi / 2, (1, -3), 2)],
    ids=["from the front", "turned", "from above"],
)
def test_turning(turn: float, tilt: float, place: tuple[float, float], near: float) -> None:
    found, depth = seen_from(np.array([[1.0, 2.0, 3.0]]), turn, tilt)
    assert found[0] == pytest.approx(place) and depth[0] == pytest.approx(near)
