"""The command line: what it prints, where, and with which status."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

import mpnp
from mpnp.cli import main
from mpnp.cli.main import COMMANDS, GROUPS
from mpnp.training.learner import Learner

from .commands import Place, Run, strict

METRICS = {"accuracy", "accuracy_paper", "nll", "brier", "ece"}


def test_the_console_script() -> None:
    script = Path(sys.executable).with_name("mpnp")
    whole = subprocess.run([script, "--help"], capture_output=True, text=True, timeout=120)
    assert whole.returncode == 0 and not whole.stderr
    assert all(f"  {name} " in whole.stdout for name in COMMANDS)
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    wrong = subprocess.run([script, "predict", "/no/model", "x"], capture_output=True, text=True, env=environment)
    assert wrong.returncode == 2 and not wrong.stdout
    assert wrong.stderr.startswith("mpnp: There is no trained model at '/no/model'")


def test_bare_mpnp_and_help_show_every_command_with_what_it_is_for(prints: Run) -> None:
    bare = prints()
    assert prints("--help") == prints("-h") == bare
    for name, module in COMMANDS.items():
        assert f"  {name} " in bare and " ".join(module.HELP.split()[:5]) in bare
    assert all(title in bare for title in GROUPS)


def test_version(prints: Run) -> None:
    assert prints("--version") == f"mpnp {mpnp.__version__}\n"


LIGHT = """
import sys
from mpnp.cli import main
try: main(sys.argv[1:])
except SystemExit: pass
print(*sorted({"torch", "numpy", "lightning", "torch_geometric"} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    "command",
    [
        "",
        "--version",
        "trian",
        "predict",
        "predict --help",
        "predict /no/such/graph.csv",
        "predict mode . --samples 0",
        "evaluate /no/model",
        "evaluate mode --task ca/nowhere",
        "evaluate mode --task ca/voronoi --rates 2",
        "train ca/nowhere",
        "train ca/voronoi --model nobody",
        "train ca/voronoi --epochs many",
        "train ca/voronoi --set width",
        "train ca/voronoi --nodes 2",
        "plot nobody",
        "plot mode --task ca/voronoi --kind oil",
        "suggest /no/such/graph.csv",
        "suggest mode . --strategy guess",
        "active ca/voronoi mode --strategies guess",
        "calibrate nobody",
        "check /no/such/graph.csv",
        "studio /no/such/graph.csv",
        "reproduce nothing",
        "demo --epochs 0",
    ],
)
def test_wrong_arguments_are_told_before_anything_heavy_is_imported(command: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIGHT, *command.split()], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "", done.stdout
    assert not done.stderr or (done.stderr.startswith("mpnp: ") and len(done.stderr.splitlines()) == 1)


@pytest.mark.parametrize(
    ("command", "before", "after"),
    [
        ("predict", {}, "PASSIVE"),
        ("train", {}, "None"),
        ("predict", {"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE"),
    ],
)
def test_threads_sleep_while_they_wait_where_no_one_trains(command: str, before: dict[str, str], after: str) -> None:
    program = f"""
import os
from mpnp.cli import main
try: main(["{command}", "nowhere"])
except SystemExit: print(os.environ.get("OMP_WAIT_POLICY"))"""
    kept = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=kept | before)
    assert done.stdout == f"{after}\n"


def test_help_of_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        with pytest.raises(SystemExit) as end:
            main([name, "--help"])
        assert end.value.code == 0
        said = capsys.readouterr().out
        assert said.startswith(f"usage: mpnp {name} ") and "--config FILE" in said
        assert not any(noise in said for noise in ("type:", "null", "default: False", "print_config", "required"))


def test_warnings_of_libraries_are_silent_and_no_others(
    prints: Run, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    def warned(_: object) -> None:
        warnings.warn_explicit("of no use", UserWarning, "x.py", 1, module="torch_geometric.utils")
        warnings.warn_explicit("of use", UserWarning, "x.py", 1, module="mpnp.tasks")

    monkeypatch.setattr(COMMANDS["tasks"], "run", warned)
    before = list(warnings.filters)
    prints("tasks")
    assert [str(one.message) for one in recwarn] == ["of use"]
    assert warnings.filters == before, "whoever calls main from Python keeps their own filters"


@pytest.mark.parametrize("kind", ["csv", "pt"])
def test_train_evaluate_predict(place: Place, prints: Run, kind: str) -> None:
    graphs, model, table = getattr(place, kind), place.new, place.folder / "out.csv"
    said = prints("train", graphs, "--out", model, "--epochs", 1, "--model", "mpnp-c", "--set", "learning_rate=1e-3")
    assert f"The model is in {model}." in said
    result = strict(prints("evaluate", model, "--json", "--rates", "0.10", "1", "--draws", 1, "--samples", 2))
    assert (result["task"], result["model"]) == (f"own:{graphs}", "mpnp-c")
    assert list(result["rates"]) == ["0.10", "1"]
    for row in result["rates"].values():
        assert set(row) >= METRICS | {f"{name}_std" for name in METRICS}
    assert result["made"]["training"]["epochs"] == 1
    assert f"see {table}." in prints("predict", model, graphs, "--out", table)
    lines = table.read_text().splitlines()
    names = "p_no,p_yes" if kind == "csv" else "p_0,p_1"
    assert lines[0] == f"graph,node,given,label,{names},total,aleatoric,epistemic,set"
    assert len(lines) == (42 if kind == "csv" else 41)


def test_evaluate_prints_a_table(made: Place, prints: Run) -> None:
    lines = prints("evaluate", "mode", "--task", made.pt, "--draws", 1).splitlines()
    assert lines[0].startswith(f"mode on own:{made.pt}")
    assert lines[2].split()[0] == "0.9", "on one graph: nine of ten labelled nodes are context, as they will be in use"
    assert lines[3].startswith("95 % interval of the accuracy")


def test_scores_of_no_node_at_all_are_null(made: Place, prints: Run) -> None:
    """At 99 % of eight labelled test nodes nothing is left to predict."""
    result = strict(prints("evaluate", "mode", "--task", made.pt, "--rates", "0.99", "--draws", 1, "--json"))
    assert result["rates"]["0.99"]["accuracy"] is None


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


def test_what_a_file_leaves_empty_has_its_default(made: Place, prints: Run, refuses: Run, tmp_path: Path) -> None:
    file, out = tmp_path / "empty.yaml", tmp_path / "out.csv"
    prints("predict", made.csv, "--out", out)
    plain = out.read_text()
    file.write_text(
        "given:\nseed: null\nsamples: null\ncoverage: null\ndevice: null\nignore: null\nengine: null\njobs: null\n"
    )
    prints("predict", made.csv, "--config", file, "--out", out)
    assert out.read_text() == plain
    file.write_text("model: null\nset: null\nrecipe: null\ndevices: null\n")
    assert "no task" in refuses("train", "no/such", "--config", file)
    file.write_text("given: []\n")
    assert "0 arguments were given" in refuses("predict", "--config", file)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: 8 bytes")])
def test_no_memory_left_is_told(error: Exception, made: Place, refuses: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(options: object) -> None:
        raise error

    monkeypatch.setattr(COMMANDS["predict"], "run", fail)
    assert "not enough memory" in refuses("predict", made.csv)


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


def on_a_terminal(command: list[str], seen: bytes, number: int | None = None) -> tuple[str, int]:
    """All that a command writes to a terminal, and its status; ``number``: the signal it gets once ``seen`` is on it."""
    process, terminal = pty.fork()
    if process == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # which a shell in the background has its children ignore
        os.execv(sys.executable, [sys.executable, "-c", "from mpnp.cli import main; main()", *command])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 40, 120, 0, 0))  # rows and columns
    written, sent = b"", False
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # how a terminal ends on Linux
            break
        if not part:
            break
        written += part
        if number is not None and not sent and seen in written:
            os.kill(process, number)
            sent = True
    os.close(terminal)
    return written.decode(errors="replace"), os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_training_on_a_terminal_shows_how_far_it_is_and_ends_gently(place: Place, number: int) -> None:
    command = ["train", str(place.pt), "--out", str(place.new), "--epochs", "200", "--set", "width=16"]
    written, status = on_a_terminal(command, b"epoch=2", number)
    assert status == 130
    assert "training:" in written and "step/s" in written and "<" in written, "steps and the time left"
    said = written.replace("\r", "\n").splitlines()
    assert any(line.startswith("Interrupted after") for line in said), "on a line of its own"
    assert not any(word in written for word in ("Traceback", "GPU available", "litlogger", "Warning"))
    assert (place.new / "model.safetensors").is_file()


def test_sigterm_elsewhere_says_that_it_stopped(place: Place) -> None:
    program = (
        "import os, signal; from mpnp.cli import main; from mpnp.cli.main import COMMANDS\n"
        "COMMANDS['tasks'].run = lambda _: os.kill(os.getpid(), signal.SIGTERM)\nmain(['tasks'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (143, "", "\nmpnp: stopped.\n")


def test_two_processes_tell_the_result_once(place: Place) -> None:
    """In a process of its own: Lightning runs the whole command again for the second one."""
    command = ["train", str(place.csv), "--out", str(place.new), "--epochs", "2", "--set", "width=16", "--devices", "2"]
    script = Path(sys.executable).with_name("mpnp")
    ran = subprocess.run([script, *command], capture_output=True, text=True, check=True)
    out, err = ran.stdout, ran.stderr
    assert out.count("2 epochs") == 1 and len(set(out.splitlines())) == len(out.splitlines()) and "Traceback" not in err
    one, two = (json.loads((folder / "metrics.json").read_text()) for folder in (place.model, place.new))
    assert (one["devices"], two["devices"], two["finished"]) == (1, 2, True)
    assert two["val_nll"] == pytest.approx(one["val_nll"], rel=1e-3)


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
