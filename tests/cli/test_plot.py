"""``mpnp plot``: what it draws, and what it refuses in one sentence."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from mpnp import tasks
from mpnp.models.configs import build, config
from mpnp.models.pretrained import save
from mpnp.tasks import Task, get_task
from mpnp.tasks.cellular_automata import CellularAutomaton
from mpnp.tasks.own import OwnTask

from .commands import Run


class Place(NamedTuple):
    automaton: Path
    other: Path
    own: Path
    graphs: Path


def untrained(folder: Path, name: str, task: Task) -> Path:
    """A model as if trained; what it believes does not matter here."""
    torch.manual_seed(0)
    folder.mkdir()
    model = build(config(name, task))
    model.feature_names = task.own.feature_names if isinstance(task, OwnTask) else None
    save(model, folder, {})
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("user")
    graphs = folder / "graphs"
    graphs.mkdir()
    rows = [f"n{i},{i % 5},{i % 3},{i % 7},{'yes' if i % 2 else 'no'}" for i in range(20)]
    (graphs / "nodes.csv").write_text("\n".join(["id,a,b,c,label", *rows]) + "\n")
    edges = [f"n{i},n{(i + 1) % 20}" for i in range(20)]
    (graphs / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    voronoi = CellularAutomaton("voronoi", graphs_total=20)
    return Place(
        untrained(folder / "automaton", "ampnp", voronoi),
        untrained(folder / "other", "np-c", CellularAutomaton("small-world", graphs_total=20)),
        untrained(folder / "own", "ampnp", get_task(str(graphs))),
        graphs,
    )


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for family in ("voronoi", "small-world"):
        monkeypatch.setitem(tasks.TASKS, f"ca/{family}", partial(CellularAutomaton, family, graphs_total=20))


@pytest.fixture
def run(prints: Run) -> Run:
    return partial(prints, "plot")


@pytest.fixture
def refused(refuses: Run) -> Run:
    def refused(*arguments: object) -> str:
        said = refuses("plot", *arguments)
        assert not list(Path().iterdir())  # nothing was written
        return said

    return refused


def test_models_side_by_side(made: Place, run: Run) -> None:
    said = run(made.automaton, made.other, "label-propagation", "--task", "ca/voronoi", "--kind", "uncertainty")
    assert said == "ampnp, np-c, label-propagation on test graph 0 of ca/voronoi: plot.png.\n"
    assert Path("plot.png").read_bytes().startswith(b"\x89PNG")


def test_a_gallery_takes_the_first_graphs_there_are(made: Place, run: Run) -> None:
    assert "test graphs 0, 1, 2, 3 of" in run(made.automaton, "--kind", "gallery")
    assert "gallery" not in run(made.automaton, "--graph", 3, 1, "--rate", 0.5, "--out", "some.html")
    scene = json.loads(Path("some.html").read_text().partition("const scene = ")[2].partition(";\n")[0])
    assert [sum(row["shown"]) for row in scene["rows"]] == [round(0.5 * len(row["shown"])) for row in scene["rows"]]


def test_own_graphs_have_names_for_their_classes(made: Place, run: Run) -> None:
    run(made.own, "--out", "own.html")
    scene = json.loads(Path("own.html").read_text().partition("const scene = ")[2].partition(";\n")[0])
    assert sorted(scene["classes"]) == ["no", "yes"]


def test_your_own_graph_alone_or_after_its_models(made: Place, run: Run) -> None:
    assert run(made.graphs, "--out", "mine.html") == f"universal on {made.graphs}: mine.html.\n"
    scene = json.loads(Path("mine.html").read_text().partition("const scene = ")[2].partition(";\n")[0])
    assert scene["rows"][0]["names"][:2] == ["n0", "n1"] and len(scene["rows"][0]["panels"]) == 3
    assert run(made.own, "label-propagation", made.graphs).startswith("ampnp, label-propagation on ")


def test_your_own_graph_takes_no_options_of_tasks(made: Place, refused: Run) -> None:
    assert "all labels are drawn" in refused(made.graphs, "--rate", 0.5)
    assert "no graph 3" in refused(made.graphs, "--graph", 3)


def test_two_models_of_one_name_are_called_by_their_folders(made: Place, run: Run, tmp_path: Path) -> None:
    again = untrained(tmp_path / "again", "ampnp", CellularAutomaton("voronoi", graphs_total=20))
    assert run(made.automaton, again).startswith(f"{made.automaton}, {again} on")


def test_what_is_refused(made: Place, refused: Run) -> None:
    assert "no graph 9: ca/voronoi has test graphs 0 to 3" in refused(made.automaton, "--graph", 9)
    assert "'plot.gif'" in refused(made.automaton, "--out", "plot.gif")
    assert "cannot be written as 'plot'" in refused(made.automaton, "--out", "plot")
    assert "no trained model at './nowhere'" in refused("./nowhere")
    assert "'own' " in refused(made.automaton, made.own, "--task", "ca/voronoi").replace(str(made.own), "own")
    assert "trained on different tasks" in refused(made.automaton, made.other)
    assert "--task" in refused("label-propagation")
    assert "once" in refused(made.automaton, made.automaton)
    assert "'2' is not a context rate" in refused(made.automaton, "--rate", 2)
    assert "--samples 0" in refused(made.automaton, "--samples", 0)
    assert "did you mean 'gallery'" in refused(made.automaton, "--kind", "galery")


def test_models_that_read_other_features(made: Place, refused: Run) -> None:
    said = refused(made.automaton, made.own, "--task", "ca/voronoi")
    assert "trained on graphs with 3 features per node, ca/voronoi has 2" in said


def test_your_own_graph_is_read_as_you_say_and_as_the_model_knows_it(made: Place, run: Run, tmp_path: Path) -> None:
    """Columns in another order, labels under another name, an edge type that no one reads."""
    graphs = tmp_path / "turned"
    graphs.mkdir()
    rows = [f"n{i},{i % 7},{i % 3},{i % 5},{'yes' if i % 2 else 'no'}" for i in range(20)]
    (graphs / "nodes.csv").write_text("\n".join(["id,c,b,a,side", *rows]) + "\n")
    edges = [f"n{i},n{(i + 1) % 20},{'xy'[i % 2]}" for i in range(20)]
    (graphs / "edges.csv").write_text("\n".join(["source,target,type", *edges]) + "\n")
    for folder, more, out in ((made.graphs, (), "a.html"), (graphs, ("--label-column", "side"), "b.html")):
        said = run(made.own, folder, *more, "--out", out)
    assert "'ampnp' makes no use of edge types" in said and "Column 'side' holds the labels." in said
    panels = [
        json.loads(Path(out).read_text().partition("const scene = ")[2].partition(";\n")[0])["rows"][0]["panels"]
        for out in ("a.html", "b.html")
    ]
    assert panels[0] == panels[1]
