"""What is built to be installed: whole, and at work away from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
INSIDE = (
    "mpnp/py.typed",
    "mpnp/models/shipped/universal/model.safetensors",
    "mpnp/models/shipped/universal/config.json",
    "mpnp/plots/templates/viewer.html",
    "mpnp/reproduce/templates/report.html",
    "mpnp/reproduce/paper.yaml",
    "mpnp/studio/static/studio.html",
    "mpnp/studio/static/panels/node.js",
)


def built(kind: str, folder: Path) -> Path:
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (file,) = folder.iterdir()
    return file


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder that the wheel is installed into; what it depends on is taken from this environment."""
    folder = tmp_path_factory.mktemp("site")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*install, "--target", str(folder), str(wheel)], check=True, capture_output=True)
    return folder


def test_the_wheel_holds_weights_templates_and_the_studio(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert not set(INSIDE) - names
    assert not [name for name in names if name.startswith(("tests", "benchmarks", "studies", "results"))]


def test_the_source_holds_what_builds_and_tests_it(tmp_path: Path) -> None:
    with tarfile.open(built("sdist", tmp_path / "sdist")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {f"src/{name}" for name in INSIDE} | {"pyproject.toml", "README.md", "LICENSE", "tests/conftest.py"}
    assert not wanted - names


def run(site: Path, folder: Path, *command: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment = {**kept, "PYTHONPATH": str(site), "MPNP_CACHE": str(folder / "cache")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_karate_club_from_python(site: Path, tmp_path: Path) -> None:
    program = """
import mpnp, networkx as nx
club = nx.karate_club_graph()
sides = nx.get_node_attributes(club, "club")
answer = mpnp.NodeClassifier().fit(nx.Graph(club.edges), labels={0: sides[0], 33: sides[33]})
print(mpnp.__file__)
print(answer.score({str(node): side for node, side in sides.items()}))
"""
    where, score = run(site, tmp_path, sys.executable, "-c", program).splitlines()
    assert Path(where).is_relative_to(site) and float(score) > 0.85


def test_the_karate_club_from_the_shell(site: Path, tmp_path: Path) -> None:
    write = """
import networkx as nx
club = nx.karate_club_graph()
open("nodes.csv", "w").write("id,label\\n" + "".join(f"{n},{club.nodes[n]['club'] if n in (0, 33) else ''}\\n" for n in club))
open("edges.csv", "w").write("source,target\\n" + "".join(f"{u},{v}\\n" for u, v in club.edges))
"""
    run(site, tmp_path, sys.executable, "-c", write)
    script = str(site / "bin" / "mpnp")
    assert "34 nodes of 1 graph(s), 2 of them labelled" in run(
        site, tmp_path, script, "predict", ".", "--out", "out.csv"
    )
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 35
