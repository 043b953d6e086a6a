"""Training from the Life-like solution: the solution stays, noise spoils it, and the page says by how much."""

from __future__ import annotations

from studies.life_like_return import measure, page

from mpnp.tasks.cellular_automata import CellularAutomaton


def test_the_more_noise_the_less_is_left() -> None:
    task = CellularAutomaton("life-like", graphs_total=30)
    at_it, away = (measure(task, share, 1e-3, steps=1) for share in (0.0, 1.0))
    assert at_it["curve"][0]["accuracy"] > 99  # but for situations that are not shown
    assert away["curve"][0]["accuracy"] < 90
    assert "| 1 |" in page([at_it, away])
