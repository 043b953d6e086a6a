"""Ours against the paper's, compared by hand."""

from __future__ import annotations

import math

import pytest

from mpnp.reproduce import compare
from mpnp.reproduce.compare import Comparison, Row, Section
from mpnp.reproduce.counting import OTHER_WAY
from mpnp.reproduce.records import Record
from mpnp.reproduce.sizes import in_part

from .made_up import record


def section(name: str, *records: Record) -> Section:
    return next(section for section in compare.sections(records) if section.name == name)


def comparison(name: str, task: str, *records: Record, table: str | None = None) -> Comparison:
    found = [c for c in section(name, *records).comparisons if c.task == task and (table is None or c.table == table)]
    return found[0]


def row(rows: tuple[Row, ...], name: str) -> Row:
    return next(row for row in rows if row.name == name)


# The paper on enzymes at 5, 10, 30 %: np 79.23 93.43 95.75, mpnp 79.09 94.10 95.78, gnn 94.23 thrice, LP 58.93 63.91 76.42.
AMPNP = record("tud/enzymes", "ampnp", {"0.05": 0.95, "0.1": 0.94, "0.3": 0.96})


def test_differences_to_the_same_system_the_model_and_the_best() -> None:
    gnn = record("tud/enzymes", "gnn", {"0.05": 0.90, "0.1": 0.9423, "0.3": 0.97})
    found = comparison("tud", "tud/enzymes", AMPNP, gnn)
    assert found.rates == (0.05, 0.1, 0.3) and found.unit == "percent" and found.decimals == 2
    ours = row(found.ours, "gnn")
    assert ours.against == "GNN"
    assert [round(d, 2) for d in ours.differences if d is not None] == [-4.23, 0.0, 2.77]
    assert [round(g.difference or 0, 2) for g in found.to_theirs] == [15.91, -0.1, 0.22]
    assert [g.verdict for g in found.to_theirs] == ["above", "below", "above"]
    assert [g.rival for g in found.to_best] == ["GNN", "GNN", "MPNP"]
    assert [round(g.difference or 0, 2) for g in found.to_best] == [0.77, -0.23, 0.22]
    # Ours spread by 0.2 points, the paper gives none: 0.4 points are needed to be clear.
    assert [g.clear for g in found.to_best] == [True, False, False]


def test_winners_among_ours_and_theirs() -> None:
    gnn = record("tud/enzymes", "gnn", {"0.05": 0.90, "0.1": 0.90, "0.3": 0.97})
    found = comparison("tud", "tud/enzymes", AMPNP, gnn)
    assert row(found.ours, "ampnp").wins == (True, False, False)
    assert row(found.theirs, "gnn").wins == (False, True, False)
    assert row(found.ours, "gnn").wins == (False, False, True)
    assert not any(row(found.theirs, "mpnp").wins)


def test_spread_over_seeds_or_draws() -> None:
    one, two = (record("tud/enzymes", "gnn", {"0.05": value}, seed=i) for i, value in enumerate((0.90, 0.94)))
    single = row(comparison("tud", "tud/enzymes", one).ours, "gnn")
    assert single.cells[0] is not None and single.cells[0].spread == pytest.approx(0.2)
    assert single.over == "3 context draws"
    both = row(comparison("tud", "tud/enzymes", one, two).ours, "gnn")
    assert both.cells[0] is not None and both.cells[0].value == pytest.approx(92.0)
    assert both.cells[0].spread == pytest.approx(math.sqrt(8)) and both.over == "2 seeds"
    assert both.cells[1:] == (None, None)  # not measured at these rates
    lone = row(comparison("tud", "tud/enzymes", record("tud/enzymes", "gnn", {"0.05": 0.9}, draws=1)).ours, "gnn")
    assert lone.cells[0] is not None and lone.cells[0].spread is None and lone.over == "one context draw"


def test_metrics_and_units() -> None:
    cap = comparison("shapenet", "shapenet/cap", record("shapenet/cap", "ampnp", {"0.001": 0.70}))
    assert cap.metric.key == "miou" and cap.to_theirs[0].difference == pytest.approx(69 - 64.00)
    ours = row(cap.ours, "ampnp")
    assert ours.beside[0] is not None and ours.beside[0].value == pytest.approx(70)
    assert ours.nll[0] is not None and ours.nll[0].value == 0.25
    assert ours.ece[0] is not None and ours.ece[0].value == pytest.approx(3)
    mcc = comparison("ppisp", "ppisp", record("ppisp", "ampnp", {"0.05": 0.4, "0.3": 0.5}), table="ppisp-mcc")
    assert mcc.unit == "coefficient" and mcc.decimals == 3
    assert [g.difference for g in mcc.to_theirs] == pytest.approx([0.4 - 0.236, 0.5 - 0.284])
    assert mcc.to_theirs[0].rival == "R-MPNP"


def test_figures_that_cannot_be_right_decide_nothing() -> None:
    """The paper's best on Life-like boards, the state mode's 84, is suspect; its MPNP's 64 is not."""
    values = {"0.1": 0.7, "0.3": 0.7, "1.0": 0.7}
    board = comparison(
        "cellular-automata",
        "ca/life-like",
        record("ca/life-like", "ampnp", values),
        record("ca/life-like", "rule-table", dict.fromkeys(values, 0.99)),
    )
    assert {g.verdict for g in board.to_theirs} == {"above"}
    assert {g.verdict for g in board.to_best} == {"suspect"}
    assert board.to_best[0].reason and "67.6 to 68.6" in board.to_best[0].reason
    assert row(board.ours, "ampnp").wins == (True, True, True)  # neither the suspect figure nor the limit
    assert not any(row(board.theirs, "state-mode").wins) and not any(row(board.ours, "rule-table").wins)


def test_a_suspect_spread_leaves_the_figure() -> None:
    chair = comparison("shapenet", "shapenet/chair", record("shapenet/chair", "ampnp", {"0.001": 0.80}))
    assert chair.to_theirs[0].verdict == "above" and chair.to_theirs[1].verdict == "not run"
    assert any("spread" in reason for _, _, reason in section("shapenet").suspects)


def test_stand_in_data_is_not_compared() -> None:
    task = "cora/few-shot-3"
    rates = {"0.01": 0.9, "0.05": 0.9, "0.1": 0.9}
    rows = [record(task, name, rates, data="stand-in") for name in ("ampnp", "mpnp-c")]
    found = comparison("cora-few-shot", task, *rows)
    assert found.stand_in
    assert {g.verdict for g in (*found.to_theirs, *found.to_best)} == {"stand-in"}
    assert {g.difference for g in found.to_theirs} == {None}
    assert row(found.ours, "mpnp-c").against is None
    assert not any(win for r in found.theirs for win in r.wins)


def test_the_nearest_relative_where_the_paper_has_only_the_plain_model() -> None:
    found = comparison("tud", "tud/dhfr", record("tud/dhfr", "mpnp-c", {"0.05": 0.90}))
    assert row(found.ours, "mpnp-c").against == "MPNP" and row(found.ours, "mpnp-c").relative
    assert row(found.ours, "mpnp-c").differences[0] == pytest.approx(90 - 88.65)


def test_a_relative_is_not_compared_where_the_same_model_was_run() -> None:
    runs = [record("tud/dhfr", name, {"0.05": 0.90}) for name in ("mpnp-c", "mpnp")]
    found = comparison("tud", "tud/dhfr", *runs)
    assert row(found.ours, "mpnp-c").against is None
    assert row(found.ours, "mpnp").against == "MPNP" and not row(found.ours, "mpnp").relative


def test_label_propagation_is_compared_with_given_labels_as_given() -> None:
    """Learned models on unlabelled points, here one point less; the paper's best on bags at 30 % is LP with 95.67."""
    runs = [record("shapenet/bag", name, {"0.3": 0.96}) for name in ("ampnp", "label-propagation")]
    bag = comparison("shapenet", "shapenet/bag", *runs)
    assert [row(bag.ours, name).counted for name in ("ampnp", "label-propagation")] == ["miou", "miou_paper"]
    beside = next(r for r in bag.ours if r.label == "ampnp, given as given")
    assert beside.cells[4] is not None and beside.cells[4].value == pytest.approx(96) and beside.counted == "miou_paper"
    assert bag.to_best[4].rival == "labelprop" and bag.to_best[4].difference == pytest.approx(96 - 95.67)
    assert bag.to_theirs[4].difference == pytest.approx(95 - 73.21)
    # The best of those counted alike: of the learned models ampnp, of those that give labels back ampnp and ours.
    assert row(bag.ours, "ampnp").wins[4] and beside.wins[4] and not row(bag.theirs, "label-propagation").wins[4]


def test_label_propagation_on_molecules_counts_given_labels_as_right() -> None:
    found = comparison("tud", "tud/dhfr", record("tud/dhfr", "label-propagation", {"0.3": 0.345}))
    ours = row(found.ours, "label-propagation")
    assert ours.cells[2] is not None and ours.cells[2].value == pytest.approx(30 + 0.7 * 34.5)
    assert ours.cells[2].spread == pytest.approx(0.7 * 0.2)
    assert ours.differences[2] == pytest.approx(30 + 0.7 * 34.5 - 53.63)


def test_tasks_of_which_a_part_is_at_hand_are_counted_apart() -> None:
    parts = in_part({"shapenet/chair": [1000, 2700, 3, 4], "shapenet/pistol": [275, 2650, 3, 3]})
    assert parts == ["shapenet/chair"]
    runs = [record("shapenet/chair", "ampnp", {"0.001": 0.80})]
    chair = next(s for s in compare.sections(runs, parts=parts) if s.name == "shapenet")
    line = next(t for t in compare.tallies([chair]) if t.name == "shapenet")
    assert line.to_theirs["part"] == 1 and line.to_theirs["above"] == 0 and line.clearly_theirs == 0


def test_no_difference_is_neither_a_win_nor_a_loss() -> None:
    found = comparison("tud", "tud/enzymes", record("tud/enzymes", "ampnp", {"0.05": 0.790899}))
    assert found.to_theirs[0].verdict == "level" and found.to_theirs[0].difference == 0


def test_tallies_add_up() -> None:
    lines = {tally.name: tally for tally in compare.tallies(compare.sections([AMPNP]))}
    tud = lines["tud"]
    assert tud.cells == 6
    assert tud.to_theirs == {"above": 2, "below": 1, "not run": 3}
    assert tud.to_best == {"above": 2, "below": 1, "not run": 3}
    assert (tud.clearly_theirs, tud.clearly_best) == (1, 1)
    total = lines["total"]
    # 2 x 3 TUD, 3 metrics x 2 interfaces, 3 x 4 and 4 x 3 Cora, 3 x 4 and 16 x 5 shapes, 5 x 3 automata.
    assert total.cells == 6 + 6 + 12 + 12 + 12 + 80 + 15 == sum(total.to_theirs.values())
    assert total.to_theirs["above"] == 2 and total.to_theirs["not run"] == total.cells - 3
    other = compare.tallies(compare.sections([AMPNP], OTHER_WAY))[-1]
    assert other.to_theirs["above"] == 1  # 96.00 - 1 is below 95.78


def test_tasks_the_paper_does_not_print_and_the_ablation() -> None:
    proteins = comparison("tud", "tud/proteins", record("tud/proteins", "ampnp", {"0.3": 0.8, "0.05": 0.7}))
    assert proteins.table is None and proteins.theirs == () and proteins.rates == (0.05, 0.3)
    assert not section("ablation", AMPNP).comparisons  # nothing to compare it with
    closed = record("tud/enzymes", "ampnp-no-local", {"0.05": 0.93, "0.1": 0.95})
    found = comparison("ablation", "tud/enzymes", AMPNP, closed)
    assert [r.name for r in found.ours] == ["ampnp", "ampnp-no-local"] and found.theirs == ()
    less = row(found.ours, "ampnp-no-local")
    assert less.against == "ampnp" and less.differences[2] is None
    assert less.differences[:2] == pytest.approx((-2.0, 1.0))
