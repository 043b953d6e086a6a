"""``mpnp`` alone predicts; what needs an extra says which, in one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mpnp.errors import EXTRAS

GRAPH = "import networkx; club = networkx.karate_club_graph(); plain = networkx.Graph(club.edges)"
RING = """
import torch; from torch_geometric.data import Data; n = torch.arange(40)
ring = Data(x=torch.ones(40, 1), edge_index=torch.stack([n, (n + 1) % 40]), y=n % 2)
"""
BLOCKED = f"""
import sys
from importlib.machinery import PathFinder
class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in {set(EXTRAS) - {"jinja2"}}:  # which PyG brings
            return None
        return PathFinder.find_spec(name, path, target)
sys.meta_path[:] = [Without if finder is PathFinder else finder for finder in sys.meta_path]
"""


def without_extras(program: str, folder: Path) -> str:
    done = subprocess.run([sys.executable, "-c", BLOCKED + program], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def club(tmp_path: Path) -> Path:
    edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]
    (tmp_path / "nodes.csv").write_text("id,label\n0,red\n1,\n2,\n3,\n4,\n5,blue\n")
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in edges))
    return tmp_path


def test_import_and_names(tmp_path: Path) -> None:
    assert without_extras("import mpnp; print(mpnp.UserError, mpnp.GraphSet, mpnp.predict, mpnp.Episode)", tmp_path)


def test_the_estimator_and_predict(tmp_path: Path) -> None:
    said = without_extras(
        f"""
{GRAPH}
import mpnp
fitted = mpnp.NodeClassifier().fit(plain, labels={{0: "Hi", 33: "Officer"}})
print(len(fitted.predict()), fitted.suggest(1)[0].node)
""",
        tmp_path,
    )
    assert said.startswith("34 ")


def test_scores(tmp_path: Path) -> None:
    program = "import mpnp; print(mpnp.evaluate(mpnp.find_predictor('mode')[0], ring, [0.1], draws=1).at(0.1).ece)"
    assert 0 <= float(without_extras(RING + program, tmp_path)) <= 1


@pytest.mark.parametrize("command", ["check .", "predict . --out out.csv", "suggest .", "--version"])
def test_commands_that_need_no_extra(command: str, club: Path) -> None:
    said = without_extras(f"from mpnp.cli import main; main({command.split()})", club)
    assert said and (command != "predict . --out out.csv" or (club / "out.csv").is_file())


@pytest.mark.parametrize(
    ("program", "extra"),
    [
        ("mpnp.fit", "train"),
        ("mpnp.plot", "plot"),
        ("mpnp.NodeClassifier().fit(plain, labels={0: 'a', 33: 'b'}).plot('out.png')", "plot"),
        ("mpnp.from_pretrained('hf:someone/model')", "hub"),
        ("mpnp.studio(plain)", "studio"),
    ],
)
def test_python_names_the_extra_that_is_missing(program: str, extra: str, tmp_path: Path) -> None:
    said = without_extras(
        f"import mpnp\n{GRAPH}{RING}\ntry: {program}\nexcept mpnp.UserError as error: print(error)", tmp_path
    )
    assert f"which is not installed; run: pip install 'mpnp[{extra}]'." in said and len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("command", "extra"),
    [("train ca/small-world --epochs 1", "train"), ("plot mode --task ca/small-world", "plot"), ("studio", "studio")],
)
def test_commands_name_the_extra_that_is_missing(command: str, extra: str, tmp_path: Path) -> None:
    program = f"from mpnp.cli import main; main({command.split()})"
    done = subprocess.run([sys.executable, "-c", BLOCKED + program], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert done.stderr.endswith(f"pip install 'mpnp[{extra}]'.\n")
