"""One function per format: damage a sound input, give it to the reader a user would.

Coming back is 'accepted', a :class:`UserError` is 'refused', anything else has failed. What is accepted must be sound.
"""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

from mpnp.errors import UserError

from . import sound
from .damage import ODD_WORDS, damaged_bytes, damaged_text, damaged_value, odd_json, odd_values

Trial = Callable[[Random, Path], None]


def _read(path: Path) -> None:
    """Graphs, and predictions for them: finite, one row per node."""
    from mpnp.models.label_propagation import LabelPropagation
    from mpnp.own.predict import episode_of, predict_episode
    from mpnp.tasks.own import load_graphs

    own = load_graphs(path)
    for graph in own.graphs:
        assert graph.x.isfinite().all() and int(graph.y.max()) < max(len(own.class_names), 1)
    episode = episode_of(LabelPropagation(), own, max(len(own.class_names), 1))
    if episode.num_nodes * episode.num_classes < 10**6:
        assert predict_episode(LabelPropagation(), episode, samples=1).probabilities.isfinite().all()


def csv(rng: Random, folder: Path) -> None:
    files = {"nodes.csv": sound.nodes_csv(), "edges.csv": sound.edges_csv()}
    _damage_one(rng, folder, files)
    _read(folder)


def tud(rng: Random, folder: Path) -> None:
    _damage_one(rng, folder, sound.tud())
    _read(folder)


def _damage_one(rng: Random, folder: Path, files: dict[str, str]) -> None:
    hurt = rng.choice(sorted(files))
    for name, text in files.items():
        (folder / name).write_bytes(damaged_text(rng, text) if name == hurt else text.encode())
    if rng.random() < 0.03:
        (folder / hurt).unlink()


def parquet(rng: Random, folder: Path) -> None:
    import pandas as pd

    columns: dict[str, list[Any]] = {
        "id": [f"n{i}" for i in range(6)],
        "p": [0.5] * 6,
        "label": ["a", "b", None, "a", "b", None],
    }
    ends: dict[str, list[Any]] = {"source": ["n0", "n1"], "target": ["n1", "n2"], "weight": [1.0, 2.0]}
    if rng.random() < 0.6:
        which = rng.choice((columns, ends))
        rows = len(next(iter(which.values())))
        odd = (rng.choice(odd_values(rng)[:12]), [1, 2], b"\xff", pd.Timestamp(0))
        words = [rng.choice(ODD_WORDS) for _ in range(rows)]
        which[rng.choice(sorted(which))] = rng.choice((words, *([value] * rows for value in odd)))
        if rng.random() < 0.3:
            which.pop(rng.choice(sorted(which)))
    for name, table in (("nodes", columns), ("edges", ends)):
        pd.DataFrame(table).to_parquet(folder / f"{name}.parquet")
    if rng.random() < 0.6:
        file = folder / f"{rng.choice(('nodes', 'edges'))}.parquet"
        file.write_bytes(damaged_bytes(rng, file.read_bytes()))
    _read(folder)


def graphml(rng: Random, folder: Path) -> None:
    (folder / "g.graphml").write_bytes(damaged_text(rng, sound.graphml()))
    _read(folder / "g.graphml")


def gexf(rng: Random, folder: Path) -> None:
    (folder / "g.gexf").write_bytes(damaged_text(rng, sound.gexf()))
    _read(folder / "g.gexf")


def node_link(rng: Random, folder: Path) -> None:
    (folder / "g.json").write_bytes(_json(rng, sound.node_link()))
    _read(folder / "g.json")


def _json(rng: Random, value: Any) -> bytes:
    kind = rng.random()
    if kind < 0.1:
        return odd_json(rng).encode("utf-8", "replace")
    if kind < 0.3:
        return damaged_text(rng, json.dumps(value, indent=1))
    return json.dumps(damaged_value(rng, value)).encode("utf-8", "replace")


def npz(rng: Random, folder: Path) -> None:
    content = sound.arrays()
    if rng.random() < 0.6:
        content = _odd_arrays(rng, content)
    data = sound.zipped(content)
    (folder / "g.npz").write_bytes(damaged_bytes(rng, data) if rng.random() < 0.5 else data)
    _read(folder / "g.npz")


def _odd_arrays(rng: Random, content: dict[str, Any]) -> dict[str, Any]:
    name = rng.choice(sorted(content))
    value = content[name]
    changes: list[Callable[[], Any]] = [
        lambda: value.astype(rng.choice((np.int8, np.float16, np.complex64, np.bool_, "U4", np.uint64))),
        lambda: value[: rng.randrange(value.shape[0] + 1)],
        lambda: value.reshape(-1),
        lambda: value[None],
        lambda: np.where(np.arange(value.size).reshape(value.shape) == rng.randrange(value.size), rng.choice((-2, 10**9, np.nan)), value),
        lambda: np.zeros((0, 0)),
        lambda: np.array(rng.choice(ODD_WORDS)),
        lambda: np.full((3, 10_000), 1),
        lambda: np.float64(1e300) * np.ones(value.shape),
    ]  # fmt: skip
    with np.errstate(all="ignore"):
        return {**content, name: rng.choice(changes)()} if rng.random() < 0.9 else {"a": value}


def pt(rng: Random, folder: Path) -> None:
    graph = sound.ring()
    if rng.random() < 0.5:
        odd = _odd_arrays(rng, {key: graph[key].numpy() for key in ("x", "y", "edge_index")})
        content: Any = {}
        for key, value in odd.items():
            with contextlib.suppress(TypeError):
                content[key] = torch.as_tensor(np.asarray(value))
        if rng.random() < 0.3:
            content = rng.choice(
                (content, [content], {"x": content}, torch.ones(1).expand(10**6, 10**4), odd_values(rng))
            )
    else:
        content = graph if rng.random() < 0.5 else [graph, graph]
    data = sound.packed(content)
    (folder / "g.pt").write_bytes(damaged_bytes(rng, data) if rng.random() < 0.6 else data)
    if rng.random() < 0.05:
        with zipfile.ZipFile(folder / "g.pt", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("archive/data.pkl", b"\0" * 10**6)
    _read(folder / "g.pt")


def config(rng: Random, folder: Path) -> None:
    """config.json, and calibration.json beside it."""
    files = sound.model_files()
    name = rng.choice(("config.json", "config.json", "config.json", "calibration.json"))
    _model(folder, files, name, _json(rng, json.loads(files[name])))


def weights(rng: Random, folder: Path) -> None:
    files = sound.model_files()
    _model(folder, files, "model.safetensors", damaged_bytes(rng, files["model.safetensors"]))


def _model(folder: Path, files: dict[str, bytes], name: str, content: bytes) -> None:
    from mpnp.models import from_pretrained
    from mpnp.own.predict import predict

    for other, sound_content in files.items():
        (folder / other).write_bytes(content if other == name else sound_content)
    model = from_pretrained(folder)
    try:
        assert predict(model, sound.ring(), samples=2).probabilities.isfinite().all()
    except UserError:
        return  # of other features, say: a sound model, but not for this graph


def run(rng: Random, folder: Path) -> None:
    """run.json, metrics.json and checkpoints, on ``--resume``."""
    from mpnp.training import folder as run_folder

    files = sound.run_files()
    hurt = rng.choice(("run.json", "metrics.json", "checkpoints/last.ckpt", "checkpoints/best.ckpt"))
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        data = content
        if name == hurt:
            data = _json(rng, json.loads(content)) if name.endswith("json") else damaged_bytes(rng, content)
        (folder / name).write_bytes(data)
    wanted = json.loads(files["run.json"])
    with run_folder.claimed(folder, wanted, resume=True):
        run_folder.finished(folder)
        run_folder.checkpoint(folder)
        run_folder.best_weights(folder)


YAML = "model: mpnp\nepochs: 2\nseed: 1\nset: [width=8, latent=false]\nrecipe: default\n"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(9)
)


def yaml(rng: Random, folder: Path) -> None:
    """A file for --config; what it sets, checked as training would."""
    from mpnp.cli.main import _options
    from mpnp.cli.train import check
    from mpnp.models.ampnp import AmpnpConfig
    from mpnp.training.options import with_options
    from mpnp.training.recipe import Recipe

    kind = rng.random()
    name = rng.choice(("model", "epochs", "set", "task", "out", "seed", "devices", "threads", "ignore", "config"))
    if kind < 0.1:
        text = BOMB + f"{name}: *j\n"
    elif kind < 0.4:
        text = json.dumps({name: rng.choice([*odd_values(rng), None, {"a": 1}, [{"a": 1}], [None], []])})
    elif kind < 0.5:
        option = rng.choice(("depth", "refine", "reaches", "width", "dropout", "samples", "learning_rate"))
        text = f"set: ['{option}={json.dumps(rng.choice((1e9, 10**9, -1, [10**9], 'x', None, 0, 1e308)))}']"
    else:
        text = damaged_text(rng, YAML).decode("utf-8", "replace")
    (folder / "c.yaml").write_text(text, encoding="utf-8", errors="replace")
    options = _options(["train", "--config", str(folder / "c.yaml"), "ca/small-world"])
    with_options(Recipe(), AmpnpConfig(2, 2), check(options))


def labels(rng: Random, folder: Path) -> None:
    """The studio's table of labels and its journal."""
    from mpnp.studio.journal import Journal

    names = [f"n{i}" for i in range(5)]
    journal = Journal(folder / "labels.csv", names, "graph")
    labelling = journal.open(np.full(5, -1), ["a", "b"])
    for command in ({"do": "paint", "nodes": [0, 1], "label": 0}, {"do": "add", "name": "c"}, {"do": "undo"}):
        journal.perform(labelling, dict(command))
    file = rng.choice((journal.file, journal.path))
    if file == journal.path and rng.random() < 0.6:
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        file.write_text("".join(json.dumps(line) + "\n" for line in damaged_value(rng, lines) or []), errors="replace")
    else:
        file.write_bytes(damaged_text(rng, file.read_text()))
    opened = Journal(folder / "labels.csv", names, "graph").open(np.full(5, -1), ["a", "b"])
    assert opened.labels.min() >= -1 and opened.labels.max() < len(opened.classes)


MESSAGES: tuple[dict[str, Any], ...] = (
    {"kind": "paint", "nodes": [0, 1], "label": 1},
    {"kind": "undo"},
    {"kind": "redo"},
    {"kind": "add", "name": "new", "colour": "#123456"},
    {"kind": "change", "label": 0, "name": "other"},
    {"kind": "skip", "node": 1},
    {"kind": "inspect", "node": 1},
    {"kind": "strategy", "name": "spread"},
)


def messages(rng: Random, folder: Path) -> None:
    """What a page, or someone in its place, sends over the socket."""
    from dataclasses import asdict

    from mpnp.studio import messages as wire
    from mpnp.studio.journal import Journal

    journal = Journal(folder / "labels.csv", [f"n{i}" for i in range(5)], "graph")
    labelling = journal.open(np.full(5, -1), ["a", "b"])
    wish = wire.decode(_json(rng, rng.choice(MESSAGES)).decode("utf-8", "replace"))
    command = {"do": type(wish).__name__.lower(), **{k: v for k, v in asdict(wish).items() if v != ""}}
    if command["do"] not in ("skip", "inspect", "strategy"):
        journal.perform(labelling, command)
    assert labelling.labels.min() >= -1 and labelling.labels.max() < len(labelling.classes)


def results(rng: Random, folder: Path) -> None:
    """Stored results, as a report reads them."""
    from mpnp.reproduce import report

    place = folder / "ca" / "small-world"
    place.mkdir(parents=True)
    (place / "mode-seed0.json").write_bytes(_json(rng, sound.result()))
    if rng.random() < 0.5:
        (place / "np-seed0.json").write_text(json.dumps({**sound.result(), "row": "np"}))
    with contextlib.redirect_stderr(io.StringIO()):
        pictures = rng.random() < 0.2  # they take nine tenths of the time
        report.write(folder, folder / "report.html", folder / "report.md", pictures=pictures)


ARGUMENTS = {
    "check": ["{graph}"],
    "predict": ["label-propagation", "{graph}", "--out", "{new}", "--samples", "2", "--seed", "0", "--coverage", "0.9"],
    "suggest": ["label-propagation", "{graph}", "--count", "2", "--seed", "0"],
    "evaluate": [
        "mode",
        "--task",
        "{graphs}",
        "--draws",
        "1",
        "--samples",
        "1",
        "--seed",
        "0",
        "--rates",
        "0.5",
        "--json",
    ],
    "train": ["{graphs}", "--out", "{new}", "--epochs", "1", "--seed", "0", "--set", "width=8", "epoch_steps=1"],
    "reproduce": ["--report-only", "--out", "{folder}", "--seeds", "1", "--jobs", "1"],
    "tasks": [],
}
ODD_ARGUMENTS = (
    "0", "-1", "1e9", "10000000000", "99999999999999999999", "nan", "inf", "0.5", "", " ", "x", "--", "-", "--help-me", "--out",
    "/dev/null", "/dev/full", "/", ".", "~", "a/b", "a\x00b", "\udcff", "🙂", "$a$", "x" * 300, "[", "{", "a=b=c", "width=1e9",
    "depth=100000", "refine=1000000", "reaches=[1000000000]", "latent=maybe", "learning_rate=1e12", "dropout=1", "heads=0",
)  # fmt: skip


def arguments(rng: Random, folder: Path) -> None:
    """The command line: exit status 0, or 2 (130, 1) with one sentence."""
    from mpnp.cli import main

    (folder / "graphs").mkdir()
    graph, graphs = folder / "g.pt", folder / "graphs.pt"
    graph.write_bytes(sound.packed(sound.ring()))
    graphs.write_bytes(sound.packed(sound.trainable()))
    places = {"graph": graph, "graphs": graphs, "new": folder / "new", "folder": folder / "graphs"}
    command = rng.choice((*ARGUMENTS, "predict", "train", "train"))
    words = [word.format(**places) for word in ARGUMENTS[command]]
    values = [at for at, word in enumerate(words) if not word.startswith("--")]
    for _ in range(rng.choice((1, 1, 2))):
        odd = rng.choice(ODD_ARGUMENTS)
        if values and rng.random() < 0.85:
            words[rng.choice(values)] = odd
        else:
            words.insert(rng.randrange(len(words) + 1), odd)
    told = io.StringIO()
    threads = torch.get_num_threads()
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(told):
        try:
            main([command, *words])
        except SystemExit as end:
            said = told.getvalue().strip().splitlines()
            if end.code in (None, 0):
                return
            assert end.code in (1, 2, 130, 143), f"exit status {end.code}"
            sentence = said[-1] if said else ""
            assert sentence.startswith("mpnp: ") or end.code == 1, f"{[command, *words]} said {said[-3:]}"
            raise UserError(sentence) from end
        finally:
            torch.set_num_threads(threads)


TRIALS: dict[str, tuple[Trial, int]] = {
    "csv": (csv, 1200), "parquet": (parquet, 400), "graphml": (graphml, 900), "gexf": (gexf, 800), "node-link": (node_link, 900),
    "npz": (npz, 800), "pt": (pt, 800), "tud": (tud, 800), "config": (config, 500), "weights": (weights, 500), "run": (run, 400),
    "yaml": (yaml, 500), "labels": (labels, 400), "messages": (messages, 400), "results": (results, 300), "arguments": (arguments, 400),
}  # fmt: skip
"""By name: the function, and how many of 10,000 inputs are of that format."""
