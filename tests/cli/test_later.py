"""What few need is imported late, and is there all the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SLOW = (
    "pandas",
    "matplotlib",
    "scipy.signal",
    "scipy.stats",
    "torch._dynamo",
    "torch_geometric.datasets.planetoid",
    "lightning",
    "torchmetrics",
)
LATE = "from mpnp.cli.later import import_later; import_later(); import mpnp.graphs; "


def last_line(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    "command", ["predict ring", "evaluate label-propagation ring --draws 1", "suggest ring", "check ring"]
)
def test_a_command_imports_nothing_slow_that_it_does_not_use(command: str, tmp_path: Path) -> None:
    (tmp_path / "ring").mkdir()
    nodes = [f"{node},{'ab'[node > 20] if node else ''}" for node in range(40)]
    edges = [f"{node},{(node + 1) % 40}" for node in range(40)]
    (tmp_path / "ring" / "nodes.csv").write_text("\n".join(["id,label", *nodes]), encoding="utf-8")
    (tmp_path / "ring" / "edges.csv").write_text("\n".join(["source,target", *edges]), encoding="utf-8")
    program = f"""
import os, sys
os.chdir({str(tmp_path)!r})
from mpnp.cli import main
main({command.split()})
print(*[name for name in {SLOW} if name in sys.modules])"""
    assert last_line(program) == ""


@pytest.mark.parametrize(
    "use",
    [
        "import torch_geometric; print(torch_geometric.datasets.Planetoid.__name__)",
        "from torch_geometric.datasets import Planetoid; print(Planetoid.__name__)",
        "import torch_geometric.datasets as d; print(d.Planetoid.__name__)",
    ],
)
def test_what_comes_late_is_there_when_it_is_used(use: str) -> None:
    assert last_line(LATE + use) == "Planetoid"


@pytest.mark.parametrize(
    "use",
    [
        "import torch, torch_geometric as g; print(g.is_torch_instance(torch.nn.Linear(1, 1), torch.nn.Module))",
        "import torch, torch_geometric as g; m = torch.compile(torch.nn.Linear(1, 1)); "
        "print(g.is_torch_instance(m, torch.nn.Linear) and not isinstance(m, torch.nn.Linear))",
        "import torch._dynamo; print(torch._dynamo.OptimizedModule.__name__ == 'OptimizedModule')",
        "import sys, torch._dynamo; print(torch._dynamo is sys.modules['torch._dynamo'])",
        "import torch; torch.optim.Adam(torch.nn.Linear(1, 1).parameters()).zero_grad(); print(True)",
    ],
)
def test_torchs_compiler_is_whole_when_it_is_asked_for(use: str) -> None:
    assert last_line(LATE + use) == "True"


def test_who_has_the_compiler_already_keeps_it() -> None:
    assert last_line(f"import torch._dynamo as d; {LATE} import torch; print(torch._dynamo is d)") == "True"
