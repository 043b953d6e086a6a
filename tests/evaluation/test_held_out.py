"""Few graphs: every labelled node is asked about once, the others shown, and how far the score can be trusted."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

import mpnp
from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.evaluation.evaluate import evaluate
from mpnp.evaluation.given import GivenGraphs
from mpnp.evaluation.held_out import ask, interval, labelled, stratified
from mpnp.models import configs
from mpnp.prediction import Prediction
from mpnp.tasks.own import OwnTask


def ring(nodes: int = 60, labels: int = 30) -> Data:
    around = torch.arange(nodes)
    ends = torch.stack([around, (around + 3) % nodes])
    y = torch.where(around < labels, around % 3, -1)
    return Data(x=torch.randn(nodes, 2), edge_index=torch.cat([ends, ends.flip(0)], 1), y=y)


@dataclass
class Spy:
    """Remembers what it was shown, and answers the first class."""

    name: str = "spy"
    sees_own_label: bool = True
    asked: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    config: object = None

    def predict(self, episode: Episode, *, samples: int = 1, seed: int = 0, nodes: Tensor | None = None) -> Prediction:
        assert nodes is not None
        self.asked.append((episode.context, nodes))
        return Prediction.certain(torch.eye(episode.num_classes)[torch.zeros_like(nodes)])


def test_every_label_is_asked_once_with_all_others_shown() -> None:
    spy = Spy()
    few = labelled(OwnTask(ring()), spy)
    assert few is not None and (few.count, few.folds) == (30, 10)
    answers = list(ask(spy, few))
    assert torch.cat([one.nodes for one in answers]).sort().values.tolist() == list(range(30))
    for context, nodes in spy.asked:
        assert not context[nodes].any() and int(context.sum()) == 27


def test_a_model_is_asked_about_labels_that_it_never_saw_and_shown_those_it_learned_from() -> None:
    task, spy = OwnTask(ring()), Spy()
    spy.config = configs.config("gnn", task)
    few = labelled(task, spy)
    assert few is not None and torch.equal(few.asked, task.part("test")) and few.count == 6
    list(ask(spy, few))
    trained = task.part("train", "val")
    assert all((context & trained).equal(trained) for context, _ in spy.asked)
    spy.config = configs.config("gnn", OwnTask(ring(), reading={"label_column": "y"}))
    spy.config.task = "own:elsewhere"
    other = labelled(task, spy)
    assert other is not None and other.count == 30


def test_a_model_knows_its_labels_again_wherever_they_are_read_from(tmp_path: Path) -> None:
    graph = ring()
    torch.save(graph, tmp_path / "ring.pt")
    fitted = mpnp.fit(tmp_path / "ring.pt", "gnn", out=tmp_path / "run", progress=False, epochs=1)
    for model in (fitted.model, mpnp.from_pretrained(tmp_path / "run")):
        kept = labelled(GivenGraphs(mpnp.as_graphs(graph)), model)
        assert kept is not None and kept.count == 6
        renamed = labelled(
            OwnTask(mpnp.as_graphs(graph, [["c", "a", "b"][y] if y >= 0 else None for y in graph.y])), model
        )
        assert renamed is not None and torch.equal(renamed.asked, kept.asked)
        graph.y[0] = 1  # another graph, as far as anyone can tell
        other = labelled(OwnTask(graph), model)
        assert other is not None and other.count == 30
        graph.y[0] = 0


def test_folds_hold_every_class_alike() -> None:
    y = torch.tensor([0] * 20 + [1] * 10 + [2] * 2 + [-1] * 8)
    fold = stratified(y, y >= 0, 5, torch.Generator().manual_seed(0))
    assert [torch.bincount(fold[y == c], minlength=5).tolist() for c in (0, 1)] == [[4] * 5, [2] * 5]
    assert fold[y == 2].unique().numel() == 2 and (fold[y < 0] == -1).all()


@pytest.mark.parametrize(
    ("share", "nodes", "low", "high"), [(0.9, 40, 0.769, 0.960), (1.0, 10, 0.722, 1.0), (0.5, 1000, 0.469, 0.531)]
)
def test_intervals_by_the_book(share: float, nodes: int, low: float, high: float) -> None:
    assert interval(share, nodes) == pytest.approx((low, high), abs=1e-3)


def test_the_table_says_how_many_nodes_it_stands_on() -> None:
    table = evaluate(Spy(), ring(), draws=2)
    row = table.at(0.9)
    assert (row.nodes, row.accuracy) == (30, pytest.approx(1 / 3))
    assert row.low is not None and row.high is not None and row.low < 1 / 3 < row.high
    assert row.f1_macro == pytest.approx(1 / 6) and row.mcc == 0 and row.auc == 0.5
    assert "cross-validation" in repr(table)
    half = evaluate(Spy(), ring(), [0.5], draws=1).at(0.5)
    assert half.nodes == 15


def test_few_labels_are_enough_and_one_is_not() -> None:
    torch.manual_seed(0)
    assert evaluate(mpnp.from_pretrained("universal"), ring(20, 6), draws=1, samples=2).rates["0.833333"].nodes == 6
    with pytest.raises(UserError, match="1 node is labelled, at least 2"):
        evaluate(Spy(), ring(20, 1))
