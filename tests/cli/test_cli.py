"""The command line: what it prints, where, and with which status; every bad input in one line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from commands import Run, strict
from safetensors.torch import load_file, save_file
from torch_geometric.data import Data

from mpnp import tasks
from mpnp.cli import main
from mpnp.tasks.cellular_automata import CellularAutomaton
from mpnp.training import Learner

METRICS = {"accuracy", "accuracy_paper", "nll", "brier", "ece"}


class Place(NamedTuple):
    """A folder of a user's: graphs as CSV and .pt, and a model trained on the former."""

    folder: Path
    csv: Path
    pt: Path
    model: Path

    @property
    def new(self) -> Path:
        """An output that is not there yet."""
        return self.folder / "new"


def ring(nodes: int = 40, features: int = 2) -> Data:
    around = torch.arange(nodes)
    once = torch.stack([around, (around + 1) % nodes])
    x = torch.randn(nodes, features, generator=torch.Generator().manual_seed(0))
    return Data(x=x, edge_index=torch.cat([once, once.flip(0)], 1), y=(x[:, 0] > 0).long())


def changed(**fields: Any) -> Data:
    data = ring()
    for name, value in fields.items():
        data[name] = value
    return data


def write_csv(folder: Path, data: Data) -> Path:
    folder.mkdir()
    rows = [f"n{i},{x[0]},{x[1]},{['no', 'yes'][y]}" for i, (x, y) in enumerate(zip(data.x, data.y, strict=True))]
    (folder / "nodes.csv").write_text("\n".join(["id,a,b,label", *rows, "n40,0,0,"]) + "\n")
    edges = [f"n{u},n{v}" for u, v in data.edge_index.t().tolist()]
    (folder / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("user")
    place = Place(folder, write_csv(folder / "graph", ring()), folder / "graph.pt", folder / "model")
    torch.save(ring(), place.pt)
    main(["train", str(place.csv), "--out", str(place.model), "--epochs", "2", "--set", "width=16"])
    return place


@pytest.fixture
def place(made: Place, tmp_path: Path) -> Place:
    """A copy to spoil."""
    shutil.copytree(made.folder, tmp_path / "user")
    copy = tmp_path / "user"
    return Place(copy, copy / "graph", copy / "graph.pt", copy / "model")


# --- What works ------------------------------------------------------------------------------------------------------


def test_the_console_script() -> None:
    script = Path(sys.executable).with_name("mpnp")
    whole = subprocess.run([script, "--help"], capture_output=True, text=True, timeout=120)
    assert whole.returncode == 0 and not whole.stderr
    assert all(name in whole.stdout for name in ("demo", "tasks", "data", "train", "evaluate", "predict"))
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    wrong = subprocess.run([script, "predict", "/no/model", "x"], capture_output=True, text=True, env=environment)
    assert wrong.returncode == 2 and not wrong.stdout
    assert wrong.stderr.startswith("mpnp: There is no trained model at '/no/model'")


def test_help_of_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("demo", "tasks", "data", "train", "evaluate", "predict"):
        with pytest.raises(SystemExit) as end:
            main([name, "--help"])
        assert end.value.code == 0
        assert "--config" in capsys.readouterr().out


def test_tasks(prints: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {f"ca/{family}": partial(CellularAutomaton, family, graphs_total=20) for family in ("small-world", "voronoi")}
    monkeypatch.setattr(tasks, "TASKS", few)
    rows = strict(prints("tasks", "--json"))["tasks"]
    assert [row["task"] for row in rows] == ["ca/small-world", "ca/voronoi"]
    for row in rows:
        assert (row["graphs"], row["features"], row["classes"], row["present"]) == (20, 2, 2, True)
        assert 100 <= row["nodes"] <= 200
    table = prints("tasks").splitlines()
    assert len(table) == 3 and table[0].split() == ["task", "graphs", "nodes", "features", "classes", "data"]


def test_tasks_with_missing_data_are_listed_with_how_to_get_it(prints: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "TASKS", {"ca/small-world": partial(CellularAutomaton, "small-world")})
    monkeypatch.setattr(CellularAutomaton, "missing", lambda self: "Buy a ticket.")
    (row,) = strict(prints("tasks", "--json"))["tasks"]
    assert (row["present"], row["graphs"], row["nodes"], row["data"]) == (False, None, None, "Buy a ticket.")
    assert prints("tasks").endswith("Buy a ticket.\n")


@pytest.mark.parametrize("kind", ["csv", "pt"])
def test_train_evaluate_predict(place: Place, prints: Run, kind: str) -> None:
    graphs, model, table = getattr(place, kind), place.new, place.folder / "out.csv"
    said = prints("train", graphs, "--out", model, "--epochs", 1, "--model", "mpnp-c", "--set", "learning_rate=1e-3")
    assert f"The model is in {model}." in said
    result = strict(prints("evaluate", model, "--json", "--rates", "0.10", "1", "--draws", 1, "--samples", 2))
    assert (result["task"], result["model"]) == (f"own:{graphs}", "mpnp-c")
    assert list(result["rates"]) == ["0.10", "1"]
    for row in result["rates"].values():
        assert set(row) == METRICS | {f"{name}_std" for name in METRICS}
    assert result["made"]["training"]["epochs"] == 1
    assert f"see {table}." in prints("predict", model, graphs, "--out", table)
    lines = table.read_text().splitlines()
    names = "p_no,p_yes" if kind == "csv" else "p_0,p_1"
    assert lines[0] == f"graph,node,given,label,{names},total,aleatoric,epistemic"
    assert len(lines) == (42 if kind == "csv" else 41)


def test_evaluate_prints_a_table(made: Place, prints: Run) -> None:
    lines = prints("evaluate", "mode", "--task", made.pt, "--draws", 1).splitlines()
    assert lines[0].startswith(f"mode on own:{made.pt}")
    assert [line.split()[0] for line in lines[2:]] == ["0.05", "0.1", "0.3"]


def test_scores_of_no_node_at_all_are_null(made: Place, prints: Run) -> None:
    """At 99 % of eight labelled test nodes nothing is left to predict."""
    result = strict(prints("evaluate", "mode", "--task", made.pt, "--rates", "0.99", "--draws", 1, "--json"))
    assert result["rates"]["0.99"]["accuracy"] is None
    assert result["rates"]["0.99"]["accuracy_paper"] is not None


def test_a_model_folder_is_only_read(made: Place, prints: Run, tmp_path: Path) -> None:
    def state() -> dict[Path, tuple[int, int]]:
        return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in made.model.rglob("*")}

    before = state()
    for path in (*made.model.iterdir(), made.model):
        path.chmod(0o555)
    try:
        prints("predict", made.model, made.csv, "--out", tmp_path / "out.csv")
        prints("evaluate", made.model, "--rates", "0.3", "--draws", 1)
    finally:
        for path in (made.model, *made.model.iterdir()):
            path.chmod(0o755)
    assert state() == before


def test_options_from_a_file(place: Place, prints: Run) -> None:
    config = place.folder / "options.yaml"
    config.write_text(f"task: {place.pt}\nepochs: 1\nseed: 5\nmodel: np\nset: [z_width=8, r_width=16]\n")

    def run(out: str, *arguments: object) -> Any:
        prints("train", *arguments, "--out", place.folder / out)
        return json.loads((place.folder / out / "metrics.json").read_text())

    plain = run("a", "--config", config)
    assert (plain["recipe"]["epochs"], plain["seed"], plain["model"]["name"]) == (1, 5, "np")
    assert (plain["model"]["z_width"], plain["model"]["r_width"]) == (8, 16)
    # What is given by hand wins, wherever it stands.
    for out, arguments in {
        "b": ("--seed", 6, "--config", config, "--set", "z_width=9"),
        "c": (place.csv, f"--config={config}", "--seed=6", "--set", "epochs=1", "--set", "z_width=9"),
    }.items():
        got = run(out, *arguments)
        assert (got["seed"], got["model"]["z_width"], got["model"]["r_width"]) == (6, 9, 16)
        assert got["task"] == f"own:{place.csv if out == 'c' else place.pt}"


def test_rates_from_a_file(made: Place, prints: Run, tmp_path: Path) -> None:
    (tmp_path / "rates.yaml").write_text("rates: [0.1, 1.0]\ndraws: 1\njson: true\n")
    result = strict(prints("evaluate", "mode", "--task", made.pt, "--config", tmp_path / "rates.yaml"))
    assert list(result["rates"]) == ["0.1", "1.0"]


def test_an_interrupted_training_says_how_to_go_on(
    place: Place, prints: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Learner.training_step

    def stopping(self: Learner, episode: Any, number: int) -> torch.Tensor:
        if self.current_epoch == 1:
            raise KeyboardInterrupt
        return step(self, episode, number)

    command = ["train", str(place.pt), "--out", str(place.new), "--epochs", "2", "--set", "width=16"]
    monkeypatch.setattr(Learner, "training_step", stopping)
    with pytest.raises(SystemExit) as end:
        main(command)
    assert end.value.code == 130
    assert "Interrupted after 1 epochs; continue with the same command and --resume." in capsys.readouterr().err
    monkeypatch.undo()
    assert "2 epochs" in prints(*command, "--resume")


def test_two_processes_tell_the_result_once(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    main(["train", str(place.csv), "--out", str(place.new), "--epochs", "2", "--set", "width=16", "--devices", "2"])
    out, err = capfd.readouterr()
    assert len(out.splitlines()) == 1 and "2 epochs" in out and "Traceback" not in err
    one, two = (json.loads((folder / "metrics.json").read_text()) for folder in (place.model, place.new))
    assert (one["devices"], two["devices"], two["finished"]) == (1, 2, True)
    assert two["val_nll"] == pytest.approx(one["val_nll"], rel=1e-3)


# --- What is refused -------------------------------------------------------------------------------------------------

COMMANDS: list[tuple[str, str]] = [
    ("", "subcommand"),
    ("trian", "invalid choice: 'trian'"),
    ("train", "task"),
    ("train {pt} --bogus 3", "--bogus"),
    ("train ca/smal-world", "did you mean 'ca/small-world'"),
    ("train /no/such/graphs", "no file or folder '/no/such/graphs'"),
    ("train graphs.pt", "no file or folder 'graphs.pt'"),
    ("train {pt} --model apnp", "did you mean 'ampnp'"),
    ("train {pt} --recipe papr", "did you mean 'paper'"),
    ("train {pt} --epochs abc", "abc"),
    ("train {pt} --epochs 0", "--epochs 0"),
    ("train {pt} --epochs -1", "--epochs -1"),
    ("train {pt} --threads 0", "--threads 0"),
    ("train {pt} --devices 0", "--devices 0"),
    ("train {pt} --devices 9999", "9999 devices"),
    ("train {pt} --nodes 0", "--nodes 0"),
    ("train {pt} --seed -1", "--seed -1"),
    ("train {pt} --seed 99999999999", "2^32"),
    ("train {pt} --set widht=3", "did you mean 'width'"),
    ("train {pt} --set width", "NAME=VALUE"),
    ("train {pt} --set width=abc", "width = abc"),
    ("train {pt} --set width=", "width = None"),
    ("train {pt} --set width=[1", "'[1' is not a value"),
    ("train {pt} --set latent=perhaps", "latent = perhaps"),
    ("train {pt} --set likelihood=gaussian", "no option named 'likelihood'"),
    ("train {pt} --config /no/such.yaml", "/no/such.yaml"),
    ("train {pt} --out {pt}", "is a file"),
    ("train {pt} --out {pt}/below", "Cannot write"),
    ("train {pt} --out {csv}", "not empty"),
    ("train {pt} --out {model}", "already holds a training run"),
    ("train {csv} --out {model} --resume", "another recipe"),
    ("demo --epochs 0", "--epochs 0"),
    ("evaluate state-mod", "did you mean 'state-mode'"),
    ("evaluate ampnp", "no predictor or model folder named 'ampnp'"),
    ("evaluate mode", "--task"),
    ("evaluate mode --task ca/vornoi", "did you mean 'ca/voronoi'"),
    ("evaluate rule-table --task {pt}", "cellular automaton"),
    ("evaluate {csv}", "config.json and model.safetensors missing"),
    ("evaluate {pt}", "is a file"),
    ("evaluate /no/such/model", "no trained model at '/no/such/model'"),
    ("evaluate {model} --rates 0.1 2", "'2' is not a context rate"),
    ("evaluate {model} --rates -1", "'-1' is not a context rate"),
    ("evaluate {model} --rates half", "'half' is not a context rate"),
    ("evaluate {model} --draws 0", "--draws 0"),
    ("evaluate {model} --draws -2", "--draws -2"),
    ("evaluate {model} --samples 0", "--samples 0"),
    ("evaluate {model} --threads -1", "--threads -1"),
    ("evaluate {model} --seed -1", "--seed -1"),
    ("predict {model}", "graph"),
    ("predict {model} /no/such/graph.pt", "nothing at /no/such/graph.pt"),
    ("predict /no/model {pt}", "no trained model at '/no/model'"),
    ("predict {model} {csv} --samples -1", "--samples -1"),
    ("predict {model} {csv} --out {csv}", "is a folder"),
    ("predict {model} {csv} --out {pt}/out.csv", "Cannot write"),
]


@pytest.mark.parametrize(("command", "words"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_bad_commands(made: Place, refuses: Run, command: str, words: str) -> None:
    before = sorted(made.folder.rglob("*"))
    paths = {name: str(path) for name, path in made._asdict().items()}
    assert words in refuses(*[word.format(**paths) for word in command.split()])
    assert sorted(made.folder.rglob("*")) == before
    assert not list(Path().iterdir())


GRAPHS: list[tuple[Any, str]] = [
    (changed(x=torch.full((40, 2), torch.nan)), "nan"),
    (changed(edge_index=torch.tensor([[0], [40]])), "node 40"),
    (changed(edge_index=torch.tensor([[0], [-1]])), "node -1"),
    (changed(y=torch.full((40,), -2)), "-2 was given"),
    (changed(y=torch.full((40,), 10**6)), "label 1000000"),
    (changed(y=torch.zeros(3, dtype=torch.long)), "one label per node"),
    (Data(x=torch.zeros(0, 2), edge_index=torch.zeros(2, 0, dtype=torch.long)), "no nodes"),
    ([], "empty list"),
    (Path("foreign"), "holds 'pathlib"),
    ("text", "a str was given"),
]


@pytest.mark.parametrize(("content", "words"), GRAPHS, ids=[words for _, words in GRAPHS])
def test_bad_graphs(place: Place, refuses: Run, content: Any, words: str) -> None:
    bad = place.folder / "bad.pt"
    torch.save(content, bad)
    for command in (
        ("train", bad, "--out", place.new),
        ("evaluate", place.model, "--task", bad),
        ("predict", place.model, bad, "--out", place.new),
    ):
        assert words in refuses(*command)
        assert not place.new.exists()


def test_graphs_that_do_not_fit_the_model(place: Place, refuses: Run) -> None:
    bad = place.folder / "bad.pt"
    for data, words in ((ring(features=3), "3 features per node"), (changed(y=torch.arange(40) % 3), "the label 2")):
        torch.save(data, bad)
        assert words in refuses("predict", place.model, bad, "--out", place.new)
    torch.save(ring(features=3), bad)
    assert "3 features per node" in refuses("evaluate", place.model, "--task", bad)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (torch.full((40,), -1), "No node"),
        (torch.zeros(40, dtype=torch.long), "two or more classes"),
        (torch.cat([torch.tensor([0, 1, 0, 1]), torch.full((36,), -1)]), "label at least 15 nodes"),
    ],
)
def test_graphs_with_too_few_labels(place: Place, refuses: Run, y: torch.Tensor, words: str) -> None:
    torch.save(changed(y=y), place.pt)
    assert words in refuses("train", place.pt, "--out", place.new)
    assert words in refuses("evaluate", "mode", "--task", place.pt)
    assert not place.new.exists()


def test_bad_tables(place: Place, refuses: Run) -> None:
    nodes = place.csv / "nodes.csv"
    good = nodes.read_text()
    for text, words in (("n40,0,nan,", "'nan' was given"), ("n40,0,0,maybe", "'maybe' was given")):
        nodes.write_text(good.replace("n40,0,0,", text))
        assert words in refuses("predict", place.model, place.csv, "--out", place.new)
    nodes.write_text(good.replace("n40,0,0,", ""))
    (place.csv / "edges.csv").write_text("source,target\nn0,n40\n")
    assert "node 'n40' is not in nodes.csv" in refuses("train", place.csv, "--out", place.new)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def without_a_layer(path: Path) -> None:
    weights = load_file(path)
    save_file({name: value for name, value in weights.items() if not name.startswith("logit")}, path)


def wider(path: Path) -> None:
    path.write_text(path.read_text().replace('"width": 16', '"width": 24'))


def unknown_kind(path: Path) -> None:
    path.write_text(path.read_text().replace('"kind": "ampnp"', '"kind": "oracle"'))


DAMAGE: list[tuple[str, Callable[[Path], object]]] = [
    ("config.json", Path.unlink),
    ("config.json", truncate),
    ("config.json", wider),
    ("config.json", unknown_kind),
    ("config.json", lambda path: path.write_text("[]")),
    ("config.json", lambda path: path.write_text('{"kind": "ampnp"}')),
    ("model.safetensors", Path.unlink),
    ("model.safetensors", truncate),
    ("model.safetensors", without_a_layer),
    ("model.safetensors", lambda path: path.write_bytes(b"")),
]


@pytest.mark.parametrize(("name", "damage"), DAMAGE)
def test_damaged_models(place: Place, refuses: Run, name: str, damage: Callable[[Path], object]) -> None:
    damage(place.model / name)
    assert str(place.model) in refuses("predict", place.model, place.csv, "--out", place.new)
    assert "train" in refuses("evaluate", place.model)
    assert not place.new.exists()


def test_a_damaged_note_on_the_training_spoils_no_evaluation(place: Place, prints: Run) -> None:
    truncate(place.model / "metrics.json")
    result = strict(prints("evaluate", place.model, "--task", place.csv, "--draws", 1, "--json"))
    assert "training" not in result["made"]


def test_the_graphs_a_model_was_trained_on_are_gone(place: Place, refuses: Run) -> None:
    config = place.model / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"task": "own:/gone/graphs"}))
    assert "no file or folder '/gone/graphs'" in refuses("evaluate", place.model)


def test_a_model_that_is_neither_here_nor_on_the_hub(
    made: Place, refuses: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(*_: Any, **__: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr("huggingface_hub.get_hf_file_metadata", offline)
    assert "no trained model at 'runs/typo'" in refuses("predict", "runs/typo", made.csv)


@pytest.mark.parametrize(
    "content",
    [b"epochs: [1\n", b"epoks: 1\n", b"epochs: many\n", b"- 1\n- 2\n", b"\xff\xfe\x00", b"{", b"epochs: 1\nepochs\n"],
)
def test_bad_files_of_options(place: Place, refuses: Run, content: bytes) -> None:
    (place.folder / "bad.yaml").write_bytes(content)
    refuses("train", place.pt, "--out", place.new, "--config", place.folder / "bad.yaml")
    assert not place.new.exists()


def test_a_disk_that_refuses(place: Place, refuses: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", denied)
    assert "Permission denied" in refuses("train", place.pt, "--out", place.new)
    assert "Permission denied" in refuses("predict", place.model, place.csv, "--out", place.folder / "out.csv")
    assert not (place.new / "run.json").exists() and not list(place.folder.glob("*out.csv*"))


def test_data_without_a_source_tells_what_to_get(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["data", "prepare", "ppisp"])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("mpnp: --from is missing.\n")
    assert "GraphPPIS/Feature" in said


def test_data_is_prepared_from_a_folder(prints: Run, tmp_path: Path) -> None:
    upstream = tmp_path / "upstream"
    splits = upstream / "train_test_split"
    splits.mkdir(parents=True)
    (upstream / "02773838").mkdir()
    for split in ("train", "val", "test"):
        (splits / f"shuffled_{split}_file_list.json").write_text(f'["shape_data/02773838/{split}"]')
        rows = "".join(f"0.{i} 0.{i} 0.1 0 0 1 {4 + i % 2}.0\n" for i in range(5))
        (upstream / "02773838" / f"{split}.txt").write_text(rows)
    said = prints("data", "prepare", "shapenet", "--from", upstream, "--out", tmp_path / "out")
    assert said == f"1 file(s) written to {tmp_path / 'out' / 'shapenet'}.\n"
    assert (tmp_path / "out" / "shapenet" / "02773838.npz").is_file()
