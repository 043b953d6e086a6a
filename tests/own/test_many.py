"""Many graphs: every row once, none lost, here and on a Ray cluster of which a worker is killed."""

from __future__ import annotations

import csv
import os
import shutil
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Data

from mpnp.errors import UserError
from mpnp.own.many import Asked, predict_many, sources

MANY = 60  # graphs, so that the killer comes in time


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Seven graphs of different sizes, one that cannot be read, and a file that is none."""
    graphs = tmp_path / "graphs"
    graphs.mkdir()
    for number in range(7):
        nodes = 5 + number
        ring = torch.arange(nodes)
        y = torch.where(ring < 3, ring % 2, -1)
        data = Data(x=torch.eye(nodes)[:, :2], edge_index=torch.stack([ring, (ring + 1) % nodes]), y=y)
        torch.save(data, graphs / f"g{number}.pt")
    (graphs / "broken.json").write_text("{")
    (graphs / "notes.txt").write_text("no graph")
    return graphs


def check(out: Path) -> None:
    """A table per graph, a row per node."""
    assert sorted(path.name for path in out.iterdir()) == [f"g{number}.pt.csv" for number in range(7)]
    for number in range(7):
        with (out / f"g{number}.pt.csv").open() as file:
            rows = [row["node"] for row in csv.DictReader(file)]
        assert rows == [str(node) for node in range(5 + number)]


def test_every_graph_gets_its_table_and_what_cannot_be_read_is_told(folder: Path, tmp_path: Path) -> None:
    answers = list(predict_many(sources(folder), Asked("label-propagation", str(tmp_path / "out"))))
    assert [Path(answer.source).name for answer in answers if answer.error] == ["broken.json"]
    assert sum(answer.nodes for answer in answers) == sum(range(5, 12))
    check(tmp_path / "out")


def test_a_folder_without_graphs(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no graph in"):
        sources(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="is no folder"):
        sources(tmp_path / "file")


@pytest.fixture
def cluster() -> Iterator[None]:
    ray = pytest.importorskip("ray")
    yield
    ray.shutdown()


def kill_one_worker(out: Path, mark: str, killed: list[int], done: threading.Event) -> None:
    """Kill a process of the cluster, known by its ``mark``, that predicts, as soon as the first tables are there."""
    while not done.is_set() and not killed:
        for process in Path("/proc").glob("[0-9]*") if len(list(out.glob("*.csv"))) >= 3 else ():
            with suppress(OSError):
                ours = mark.encode() in (process / "environ").read_bytes()
                if ours and b"MapWorker" in (process / "cmdline").read_bytes():
                    os.kill(int(process.name), signal.SIGKILL)
                    killed.append(int(process.name))
                    break
        time.sleep(0.005)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks processes up where Linux lists them")
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_loses_no_row_when_a_worker_is_killed(
    folder: Path, tmp_path: Path, cluster: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, out, done, killed = uuid.uuid4().hex, tmp_path / "out", threading.Event(), list[int]()
    monkeypatch.setenv("MPNP_MARK", mark)
    for number in range(7, MANY):
        shutil.copy(folder / "g0.pt", folder / f"g{number}.pt")
    killer = threading.Thread(target=kill_one_worker, args=(out, mark, killed, done))
    killer.start()
    answers = list(predict_many(sources(folder), Asked("label-propagation", str(out)), engine="ray", workers=2))
    done.set()
    killer.join()
    assert killed, "no process was found to kill"
    names = sorted(Path(answer.source).name for answer in answers)
    assert names == sorted(["broken.json", *(f"g{number}.pt" for number in range(MANY))]), "each once"
    for number in range(MANY):
        with (out / f"g{number}.pt.csv").open() as file:
            nodes = [row["node"] for row in csv.DictReader(file)]
        assert nodes == [str(node) for node in range(5 + number if number < 7 else 5)]
