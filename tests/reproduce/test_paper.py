"""The paper's figures are all there, as printed, and under the library's names."""

from __future__ import annotations

import pytest

from mpnp.errors import UserError
from mpnp.models import MODELS, PREDICTORS
from mpnp.reproduce import paper
from mpnp.reproduce.paper import Cell
from mpnp.tasks import TASKS, get_task

# Of every table: tasks x predictors x rates, counted in the paper; how many have a ±; how many are suspect.
COUNTS = {
    "tud": (2 * 4 * 3, 0, 0),
    "ppisp-accuracy": (1 * 5 * 2, 0, 0),  # 7 printed: three systems read no context
    "ppisp-f1": (1 * 5 * 2, 0, 0),
    "ppisp-mcc": (1 * 5 * 2, 0, 2),
    "cora-transductive": (3 * 4 * 4, 48, 4),
    "cora-few-shot": (4 * 2 * 3, 0, 0),
    "shapenet-mixed": (3 * 4 * 4, 0, 0),
    "shapenet": (16 * 4 * 5, 16 * 3 * 5, 8),  # 256 printed: the GCN's once for all rates, and without a ±
    "cellular-automata": (5 * 4 * 3, 60, 4),
    "datasets": ((19 + 5 + 1 + 3 + 5) * 4, 0, 6),
    "text-counts": (6 + 2 + 1 + 4 + 1, 0, 3),
    "text-percentages": (1 + 1 + 2 + 2 + 4, 0, 1),
}
RIVALS = {"ISIS", "DeepPPISP"}  # of others, which the library does not have


def test_every_table_is_complete() -> None:
    entries = {name: [entry.cell for entry in table.cells()] for name, table in paper.tables().items()}
    counted = {
        name: (len(cells), sum(c.spread is not None for c in cells), sum(c.suspect is not None for c in cells))
        for name, cells in entries.items()
    }
    assert counted == COUNTS
    for table in paper.tables().values():
        assert (
            table.title
            and table.where
            and table.metric
            and table.unit in ("percent", "fraction", "coefficient", "count")
        )


@pytest.mark.parametrize(
    ("task", "predictor", "rate", "metric", "value", "spread"),
    [
        ("tud/enzymes", "mpnp", 0.1, "accuracy", 94.10, None),
        ("tud/dhfr", "label-propagation", 0.3, "accuracy", 53.63, None),
        ("ppisp", "r-mpnp", 0.3, "accuracy", 80.7, None),
        ("ppisp", "np", 0.05, "f1", 0.212, None),
        ("ppisp", "ISIS", 0.3, "mcc", 0.097, None),
        ("cora/transductive-3", "np-c", 0.01, "accuracy", 67.00, 1.83),
        ("cora/transductive-11", "label-propagation", 0.3, "accuracy", 71.73, 0.05),
        ("cora/few-shot-5", "mpnp-c", 0.05, "accuracy", 49.99, None),
        ("shapenet/mixed-4", "np-c", 0.001, "miou", 28.48, None),
        ("shapenet/mixed-2", "gnn", 0.1, "miou", 36.14, None),
        ("shapenet/motorbike", "mpnp", 0.3, "miou", 53.76, 0.02),
        ("shapenet/earphone", "np", 0.001, "miou", 36.42, 7.28),
        ("shapenet/lamp", "gnn", 0.05, "miou", 53.78, None),
        ("shapenet/rocket", "label-propagation", 0.01, "miou", 59.84, 7.51),
        ("ca/voronoi", "mpnp", 1.0, "accuracy", 92.39, 6.26),
        ("ca/life-like", "np", 0.1, "accuracy", 61.38, 0.77),
        ("ca/spherical-voronoi", "mode", 0.3, "accuracy", 67.31, 0.07),
        ("ca/small-world", "state-mode", 1.0, "accuracy", 82.11, 0.00),
    ],
)
def test_results_are_as_printed(
    task: str, predictor: str, rate: float, metric: str, value: float, spread: float | None
) -> None:
    assert paper.cell(task, predictor, rate, metric) == Cell(value, spread)


def test_sizes_are_as_printed() -> None:
    sizes = paper.table("datasets")
    assert sizes.rates == ()
    assert sizes.cell("shapenet/mixed-4", "mean-nodes") == Cell(2584.53)
    assert sizes.cell("ppisp", "features") == Cell(38)
    assert sizes.cell("cora/transductive", "mean-nodes") == Cell(19793)
    assert sizes.cell("ca/life-like", "graphs") == Cell(2659)
    for task, parts in {"mixed-2": 5, "mixed-3": 6, "mixed-4": 4}.items():
        classes = int(task[-1])
        single = [
            rows["graphs"][0]
            for name, rows in sizes.rows.items()
            if name.startswith("shapenet/") and "mixed" not in name and rows["classes"] == (Cell(classes),)
        ]
        assert len(single) == parts
        total = sizes.cell(f"shapenet/{task}", "graphs")
        assert total is not None and sum(cell.value for cell in single if cell) == total.value


def test_figures_are_in_the_range_of_their_unit() -> None:
    for table in paper.tables().values():
        high = {"percent": 100.0, "fraction": 1.0, "coefficient": 1.0, "count": 20_000.0}[table.unit]
        for entry in table.cells():
            assert 0 < entry.cell.value <= high, (table.name, entry)
            assert entry.cell.spread is None or 0 <= entry.cell.spread < 8, (table.name, entry)


def test_names_are_the_library_s() -> None:
    assert set(paper.not_tasks()).isdisjoint(TASKS)
    used = set()
    for table in paper.tables().values():
        used |= set(table.rows)
        for task, rows in table.rows.items():
            assert task in TASKS or task in paper.not_tasks(), task
            if table.rates:
                assert get_task(task).rates == table.rates
                assert set(rows) <= {*MODELS, *PREDICTORS, *RIVALS}
        assert set(table.labels) <= {*table.rows, *(row for rows in table.rows.values() for row in rows)}
    assert set(paper.not_tasks()) <= used
    assert paper.table("shapenet").labels["gnn"] == "GCN"


def test_suspects_have_reasons() -> None:
    found = {(table.name, entry.task, entry.row): entry.cell.suspect for table, entry in paper.suspects()}
    assert len(found) == 18
    assert all(reason and len(reason) > 20 and "\n" not in reason for reason in found.values())
    assert "756" in str(found["datasets", "tud/dhfr", "graphs"])
    assert "67.6" in str(found["cellular-automata", "ca/life-like", "state-mode"])
    assert "Laptop" in str(found["shapenet", "shapenet/lamp", "label-propagation"])


def test_no_other_two_rows_are_the_same() -> None:
    """But the one copy that is marked, rows with a ± are all different, and so are those that read their context."""
    seen: dict[object, tuple[str, str]] = {}
    copies = []
    for table in paper.tables().values():
        for task, rows in table.rows.items():
            for row, cells in rows.items():
                figures = tuple((c.value, c.spread) for c in cells if c)
                if len(set(figures)) == 1:  # no context is read, or a size
                    continue
                if figures in seen:
                    copies.append((*seen[figures], task, row))
                seen[figures] = (task, row)
    assert copies == [("shapenet/laptop", "label-propagation", "shapenet/lamp", "label-propagation")]


def test_label_propagation_gains_from_labels() -> None:
    for table in paper.tables().values():
        for rows in table.rows.values():
            values = [cell.value for cell in rows.get("label-propagation", ()) if cell]
            assert values == sorted(values)


def test_the_best_system() -> None:
    assert paper.best("tud/enzymes", 0.05) == ("gnn", Cell(94.23))
    assert paper.best("tud/enzymes", 0.3) == ("mpnp", Cell(95.78))
    assert paper.best("ppisp", 0.3) == ("r-mpnp", Cell(80.7))
    assert paper.best("ppisp", 0.3, "f1") == ("DeepPPISP", Cell(0.397))
    assert paper.best("shapenet/mixed-3", 0.001) == ("np-c", Cell(46.87))
    assert paper.best("cora/transductive-7", 3 * 0.1) == ("label-propagation", Cell(74.96, 0.20))
    assert paper.best("shapenet/lamp", 0.3)[1].suspect
    on_top = [
        task
        for task in paper.table("shapenet").rows
        if any(paper.best(task, rate)[0] == "mpnp" for rate in paper.table("shapenet").rates)
    ]
    assert len(on_top) == 13  # as the paper's text says


def test_tables_cannot_be_spoilt() -> None:
    paper.tables().clear()
    assert list(paper.tables()) == list(COUNTS)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            lambda: paper.table("shapenet-mixd"),
            "table of the paper named 'shapenet-mixd': did you mean 'shapenet-mixed'?",
        ),
        (
            lambda: paper.best("ppisp", 0.2),
            "context rate 0.2 was given, .* has results at 0.05, 0.3; choose one of them",
        ),
        (lambda: paper.table("tud").cell("tud/dhfr", "np"), "No context rate was given, .* has results at 0.05"),
        (lambda: paper.best("cora/few-shot", 0.1), "did you mean 'cora/few-shot-"),
        (lambda: paper.best("ppisp", 0.3, "miou"), "no metric of ppisp in the paper named 'miou'"),
        (lambda: paper.cell("ppisp", "mpnp", 0.3), "did you mean 'r-mpnp'?"),
        (lambda: paper.table("tud").best("tud/bzr", 0.3), "no task in the paper's table 'tud' named 'tud/bzr'"),
        (lambda: paper.table("datasets").cell("ppisp", "graphs", 0.1), "has no context rates; give none"),
        (lambda: paper.table("datasets").best("ppisp", 0.1), "holds sizes"),
    ],
)
def test_wrong_names_are_told_in_one_sentence(wrong: object, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence.replace("?", r"\?")) as error:
        wrong()  # type: ignore[operator]
    assert "\n" not in str(error.value)
