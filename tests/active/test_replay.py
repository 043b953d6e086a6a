"""The labelling loop counts what it says it counts."""

from __future__ import annotations

import json
from math import nan, sqrt

import pytest
import torch
from torch_geometric.data import Data

from mpnp.active import Gain, Replay, ReplayTable, replay
from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.models.label_propagation import LabelPropagation
from mpnp.models.mode import Mode, RulePosterior
from mpnp.plots import asked_figure, curves_figure
from mpnp.tasks.cellular_automata import CellularAutomaton


@pytest.fixture(scope="module")
def task() -> CellularAutomaton:
    return CellularAutomaton("small-world", graphs_total=60)


def test_curves_are_what_the_asked_labels_give(task: CellularAutomaton) -> None:
    played = replay(RulePosterior(), task, ["entropy"], 3, per_step=2, start=2, draws=1)
    graphs = task.graphs("test")
    assert played.labels.tolist() == [2, 4, 6, 8]
    assert list(played.curves) == list(played.asked) == ["random", "entropy"]
    for name, asked in played.asked.items():
        assert asked.shape == (len(graphs), 6) and played.started.shape == (len(graphs), 2)
        for g in range(0, len(graphs), 4):
            episode = Episode(data := graphs.select(torch.tensor([g])), data.y, data.y < 0, data.y >= 0, 2)
            known = torch.cat([played.started[g], asked[g]])
            assert known.unique().numel() == 8
            for step in range(4):
                context = torch.zeros_like(episode.context)
                context[known[: 2 + 2 * step]] = True
                right = RulePosterior().predict(episode.with_context(context)).label == episode.y
                got = {metric: float(curve[g, step]) for metric, curve in played.curves[name].items()}
                everything = float((right | context).float().mean())
                assert got == pytest.approx(
                    {"accuracy": everything, "accuracy_hidden": float(right[~context].float().mean())}
                )


def test_all_strategies_start_alike_and_the_seed_decides(task: CellularAutomaton) -> None:
    def play(**options: int) -> Replay:
        return replay(Mode(), task, ["margin", "spread"], 2, **{"draws": 2, **options})  # type: ignore[arg-type]

    first = play()
    starts = [curves["accuracy"][:, 0] for curves in first.curves.values()]
    assert all(torch.equal(start, starts[0]) for start in starts)
    again, other = play(), play(seed=1)
    assert all(torch.equal(first.asked[name], again.asked[name]) for name in first.asked)
    assert all(torch.equal(first.area(name), again.area(name)) for name in first.asked)
    assert not torch.equal(first.asked["random"], other.asked["random"])
    assert play(graphs=5, draws=1).graphs.numel() == 5


def test_in_the_end_everything_is_labelled(task: CellularAutomaton) -> None:
    nodes = int(task.graphs("test").sizes.max())
    played = replay(Mode(), task, [], 2, per_step=nodes, start=0, graphs=3, draws=1)
    accuracy, hidden = (played.curves["random"][metric] for metric in ("accuracy", "accuracy_hidden"))
    assert accuracy[:, 1:].tolist() == [[1, 1]] * 3
    assert hidden[:, 1:].isnan().all() and not hidden[:, 0].isnan().any()
    assert (played.asked["random"][:, nodes:] == -1).all()
    assert played.started.shape == (3, 0)


def test_the_exact_predictor_gains_by_asking_where_it_is_unsure(task: CellularAutomaton) -> None:
    """One fixed draw, to see that the advice is followed; with so few graphs no measure of what it is worth."""
    played = replay(RulePosterior(), task, ["entropy", "spread"], 8, draws=1)
    assert played.gain("entropy").mean > 0 and played.gain("spread").mean > 0
    assert played.gain("random") == (0, 0, 0, 0)


def made_up(**curves: list[list[float]]) -> Replay:
    tables = {name: {"accuracy": torch.tensor(rows)} for name, rows in curves.items()}
    nothing = torch.zeros(2, 0, dtype=torch.long)
    return Replay("task", "model", "accuracy", torch.tensor([1, 3, 5]), torch.arange(2), tables, {}, nothing)


def test_areas_and_gains_by_hand() -> None:
    played = made_up(random=[[0.5, 0.5, 0.7], [0.3, 0.5, 0.5]], good=[[0.5, 0.7, 0.9], [0.3, 0.7, 0.7]])
    torch.testing.assert_close(played.area("random"), torch.tensor([0.55, 0.45]))
    torch.testing.assert_close(played.area("good"), torch.tensor([0.7, 0.6]))
    assert played.gain("good").mean == pytest.approx(0.15)
    assert (played.labels_to_match("good"), played.labels_to_match("random")) == (3, 5)
    worse = made_up(random=[[0.5] * 3] * 2, bad=[[0.4] * 3] * 2)
    assert worse.labels_to_match("bad") is None


def test_a_replay_as_a_table() -> None:
    played = made_up(random=[[0.5, 0.5, 0.7], [0.3, 0.5, 0.5]], good=[[0.5, 0.7, 0.9], [0.3, 0.7, 0.7]])
    table = played.table()
    assert ReplayTable.from_dict(json.loads(table.to_json())) == table
    assert (table.strategies["good"].labels_to_match, table.labels, table.graphs) == (3, (1, 3, 5), 2)
    assert table.strategies["good"].gain == played.gain("good").mean
    assert played.to_dict()["strategies"]["good"]["curves"]["accuracy"] == pytest.approx([0.4, 0.7, 0.8])
    title, head, first, second = repr(played).splitlines()
    assert title == "model on task: accuracy on all nodes, 2 graphs, 1 to 5 labels each"
    assert (
        head.split()[:3] == ["strategy", "area", "gain"]
        and first.split()[0] == "random"
        and second.split()[0] == "good"
    )
    assert "<td>good</td>" in played._repr_html_()


def test_the_interval_of_a_gain_by_hand() -> None:
    """Four differences 1, 2, 3, 6: mean 3, deviation √(14/3), and t = 3.182 for three degrees of freedom."""
    gain, error = Gain.of(torch.tensor([1.0, 2.0, 3.0, 6.0])), sqrt(14 / 3) / 2
    assert gain == pytest.approx((3, error, 3 - 3.18245 * error, 3 + 3.18245 * error), rel=1e-5)
    assert Gain.of(torch.tensor([2.0])) == pytest.approx((2, nan, nan, nan), nan_ok=True)


def test_shapes_are_scored_by_miou() -> None:
    class Shapes(CellularAutomaton):
        metrics = ("shapes",)

    played = replay(LabelPropagation(), Shapes("small-world", graphs_total=60), [], 1, graphs=2, draws=1)
    assert played.metric == "miou"
    assert set(played.curves["random"]) == {"accuracy", "accuracy_hidden", "miou", "miou_hidden"}
    assert (played.curves["random"]["miou"] <= played.curves["random"]["accuracy"]).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"steps": 0}, "steps = 0"),
        ({"per_step": 0}, "per_step = 0"),
        ({"start": -1}, "start = -1"),
        ({"draws": 0}, "draws = 0"),
        ({"graphs": 0}, "graphs = 0"),
        ({"start": 10_000}, "nothing on ca/small-world is left to ask for; start with fewer"),
    ],
)
def test_bad_options(task: CellularAutomaton, options: dict[str, int], words: str) -> None:
    with pytest.raises(UserError, match=words):
        replay(Mode(), task, [], **{"steps": 1, **options})  # type: ignore[arg-type]


# --- Pictures --------------------------------------------------------------------------------------------------------


def test_curves_are_drawn_as_they_are() -> None:
    played = made_up(random=[[0.5, 0.5, 0.7], [0.3, 0.5, 0.5]], good=[[0.5, 0.7, 0.9], [0.3, 0.7, 0.7]])
    left, right = curves_figure(played).axes
    assert [line.get_label() for line in left.lines] == ["random", "good"]
    assert list(left.lines[1].get_ydata()) == pytest.approx([40, 70, 80])  # type: ignore[arg-type]
    assert list(right.lines[0].get_ydata()) == pytest.approx([0, 20, 20])  # type: ignore[arg-type]
    (alone,) = curves_figure(made_up(random=[[0.5] * 3], good=[[0.6] * 3])).axes[1].collections  # no band, no NaN
    assert not torch.tensor(alone.get_paths()[0].vertices).isnan().any()


@pytest.mark.parametrize("dimensions", [2, 3])
def test_asked_nodes_are_numbered_in_order(dimensions: int) -> None:
    around = torch.arange(6)
    data = Data(torch.ones(6, 1), torch.stack([around, around.roll(1)]), y=around % 3)
    data.pos = torch.rand(6, dimensions, generator=torch.Generator().manual_seed(0))
    asked = {"random": torch.tensor([4, 0, -1]), "spread": torch.tensor([3, 5, 1])}
    figure = asked_figure(Episode.from_graphs([data], around < 0, 3), asked, started=torch.tensor([2]))
    assert [axis.get_title() for axis in figure.axes] == ["random", "spread"]
    assert [[text.get_text() for text in axis.texts] for axis in figure.axes] == [[" 1", " 2"], [" 1", " 2", " 3"]]
    assert all((len(axis.collections[0].get_paths()) > 0) == (dimensions == 2) for axis in figure.axes)  # edges
