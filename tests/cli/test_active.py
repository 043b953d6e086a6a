"""``mpnp suggest`` and ``mpnp active``: what they print, what they write, what they refuse."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from mpnp import tasks
from mpnp.active import STRATEGIES
from mpnp.cli import main
from mpnp.models.configs import build, config
from mpnp.models.pretrained import save
from mpnp.tasks import get_task
from mpnp.tasks.cellular_automata import CellularAutomaton

from .commands import Run, strict


class Place(NamedTuple):
    """A user's folders: a ring of which three nodes are labelled, one all labelled, one not at all; and a model."""

    ring: Path
    full: Path
    bare: Path
    model: Path


def write_ring(folder: Path, labels: list[str], nodes: int = 12) -> Path:
    folder.mkdir()
    rows = [f"n{i},{i % 5},{i % 3},{i % 2},{label}" for i, label in enumerate(labels)]
    (folder / "nodes.csv").write_text("\n".join(["id,a,b,c,label", *rows]) + "\n")
    edges = [f"n{i},n{(i + 1) % nodes}" for i in range(nodes)]
    (folder / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("user")
    some = ["yes", "no", "yes", *[""] * 9]
    place = Place(
        write_ring(folder / "ring", some),
        write_ring(folder / "full", ["yes", "no"] * 6),
        write_ring(folder / "bare", [""] * 12),
        folder / "model",
    )
    torch.manual_seed(0)
    model = build(config("ampnp", get_task(str(place.full))))  # as if trained; what it believes does not matter here
    place.model.mkdir()
    save(model, place.model, {})
    return place


@pytest.fixture(autouse=True)
def few_automata(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small task."""
    monkeypatch.setattr(tasks, "TASKS", {"ca/small-world": partial(CellularAutomaton, "small-world", graphs_total=20)})


# --- suggest ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", ["model", "label-propagation"])
def test_suggest_names_unlabelled_nodes_and_says_why(made: Place, prints: Run, strategy: str, kind: str) -> None:
    model = made.model if kind == "model" else kind
    command = ("suggest", model, made.ring, "--strategy", strategy, "--count", 4)
    told = strict(prints(*command, "--json"))
    assert told["strategy"] == strategy
    rows = told["suggestions"]
    names = [row["node"] for row in rows]
    assert len(set(names)) == 4 and set(names) <= {f"n{i}" for i in range(3, 12)}
    for row in rows:
        assert {row["label"], row["second"]} == {"yes", "no"}
        assert row["probability"] >= row["second_probability"]
        assert row["probability"] + row["second_probability"] == pytest.approx(1, abs=1e-5)
    lines = prints(*command).splitlines()
    assert lines[0].startswith(f"Label these next ({strategy}; the score is ")
    for line, row in zip(lines[1:5], rows, strict=True):
        assert line.split()[:2] == [row["node"], f"{row['score']:.4f}"]
        assert line.endswith(row["why"])
        assert f"'{row['label']}' ({100 * row['probability']:.0f} %)" in row["why"]


def test_suggest_far_from_labels_and_apart(made: Place, prints: Run) -> None:
    """n0 to n2 are labelled: of the other nine on the ring the first to ask is well away from both ends."""
    command = ("suggest", "label-propagation", made.ring, "--strategy", "spread", "--count", 2, "--json")
    first, second = (int(row["node"][1:]) for row in strict(prints(*command))["suggestions"])
    assert 5 <= first <= 9
    assert abs(first - second) >= 2


def test_suggest_without_any_label(made: Place, prints: Run) -> None:
    """A predictor that knows no class asks all the same; on a ring all nodes are alike, and it says so."""
    out = prints("suggest", "label-propagation", made.bare, "--count", 2)
    assert out.count("no class is known yet") == 2
    assert "All of them score the same, so which came first was left to chance." in out.splitlines()
    assert strict(prints("suggest", made.model, made.bare, "--json"))["suggestions"][0]["label"] in ("yes", "no")


def test_suggest_from_several_graphs(made: Place, prints: Run) -> None:
    Path("two").mkdir()
    nodes = "id,graph,label\na,first,yes\nb,first,\nc,second,\nd,second,no\ne,second,\n"
    Path("two/nodes.csv").write_text(nodes)
    Path("two/edges.csv").write_text("source,target\na,b\nc,d\n")
    rows = strict(prints("suggest", "mode", "two", "--count", 2, "--json"))["suggestions"]
    assert [(row["graph"], row["node"]) for row in rows if row["graph"] == 0] == [(0, "b")]
    assert {row["node"] for row in rows if row["graph"] == 1} == {"c", "e"}
    assert "  graph 0  b  " in prints("suggest", "mode", "two")


def test_suggest_says_what_was_ignored(made: Place, prints: Run) -> None:
    Path("typed").mkdir()
    Path("typed/nodes.csv").write_text("id,side,size\na,yes,1\nb,,\nc,no,3\n")
    Path("typed/edges.csv").write_text("source,target,type,since\na,b,x,1990\nb,c,y,2000\n")
    said = prints("suggest", "label-propagation", "typed", "--label-column", "side")
    assert "Column 'size': 1 of 3 values are missing" in said and "Ignored of the edges: since" in said
    assert "'label-propagation' makes no use of edge types" in said
    told = strict(prints("suggest", "label-propagation", "typed", "--label-column", "side", "--json"))
    assert all(note in said for note in told["notes"]) and len(told["notes"]) == 4


# --- active ----------------------------------------------------------------------------------------------------------


def test_active_prints_a_table_and_writes_curves(prints: Run) -> None:
    command = ("active", "ca/small-world", "rule-posterior", "--steps", 2, "--strategies", "entropy", "spread")
    common = ("--per-step", 2, "--graphs", 3, "--draws", 1, "--out", "new")
    out = prints(*command, *common)
    assert "3 graphs, 1 to 5 labels each" in out
    assert [line.split()[0] for line in out.splitlines()[2:5]] == ["random", "entropy", "spread"]
    assert sorted(path.name for path in Path("new").iterdir()) == ["active.json", "asked.png", "curves.png"]
    assert all(Path(f"new/{name}.png").read_bytes().startswith(b"\x89PNG") for name in ("asked", "curves"))
    table = strict(prints(*command, *common, "--json"))
    assert table == strict(Path("new/active.json").read_text())
    assert table["labels"] == [1, 3, 5] and table["graphs"] == 3
    spread = table["strategies"]["spread"]
    assert spread["gain"] == pytest.approx(spread["area"] - table["strategies"]["random"]["area"], abs=1e-6)
    assert spread["gain_low"] <= spread["gain"] <= spread["gain_high"]
    assert len(spread["curves"]["accuracy"]) == len(spread["curves"]["accuracy_hidden"]) == 3


def test_active_on_one_graph_has_no_interval(prints: Run) -> None:
    command = ("active", "ca/small-world", "mode", "--steps", 1, "--graphs", 1, "--strategies", "margin", "--start", 0)
    assert strict(prints(*command, "--json"))["strategies"]["margin"]["gain_low"] is None
    row = prints(*command).splitlines()[3]
    assert row.startswith("margin") and " to " not in row and "nan" not in row


# --- What is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("suggest {model}", "graph"),
        ("suggest {model} {ring} --strategy entropi", "no strategy named 'entropi': did you mean 'entropy'"),
        ("suggest {model} {ring} --count 0", "--count 0"),
        ("suggest {model} {ring} --samples 0", "--samples 0"),
        ("suggest {model} {ring} --seed -1", "--seed -1"),
        ("suggest {model} /no/such/graph", "nothing at /no/such/graph"),
        ("suggest label-propagatio {ring}", "did you mean 'label-propagation'"),
        ("suggest {ring} {ring}", "config.json and model.safetensors missing"),
        ("suggest {model} {full}", "All 12 nodes are labelled"),
        ("suggest rule-table {ring}", "cellular automaton"),
        ("active ca/small-world {model}", "has 2 features per node, but the model is made for 3"),
        ("active ca/smal-world mode", "did you mean 'ca/small-world'"),
        ("active /no/such/task mode", "no file or folder '/no/such/task'"),
        ("active ca/small-world mod", "did you mean 'mode'"),
        ("active ca/small-world mode --strategies entropy margins", "did you mean 'margin'"),
        ("active ca/small-world mode --steps 0", "--steps 0"),
        ("active ca/small-world mode --per-step 0", "--per-step 0"),
        ("active ca/small-world mode --start -1", "--start -1"),
        ("active ca/small-world mode --start 9999", "nothing on ca/small-world is left to ask for"),
        ("active ca/small-world mode --graphs 0", "--graphs 0"),
        ("active ca/small-world mode --draws 0", "--draws 0"),
        ("active ca/small-world mode --steps 1 --graphs 1 --out {ring}/nodes.csv", "Cannot write"),
    ],
)
def test_bad_commands(made: Place, capsys: pytest.CaptureFixture[str], command: str, words: str) -> None:
    paths = {name: str(path) for name, path in made._asdict().items()}
    with pytest.raises(SystemExit) as end:
        main(command.format(**paths).split())
    out, err = capsys.readouterr()
    assert end.value.code == 2 and out == ""
    assert err.startswith("mpnp: ") and len(err.splitlines()) == 1
    assert words.format(**paths) in err


def test_a_model_of_another_feature_size(made: Place, refuses: Run) -> None:
    write_ring(Path("narrow"), ["yes", *[""] * 11])
    text = Path("narrow/nodes.csv").read_text().splitlines()
    narrow = [",".join(cell for i, cell in enumerate(line.split(",")) if i != 2) for line in text]
    Path("narrow/nodes.csv").write_text("\n".join(narrow) + "\n")
    assert "has 2 features per node, but the model is made for 3" in refuses("suggest", made.model, "narrow")
