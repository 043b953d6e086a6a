"""What few need is imported late, and is there all the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

SLOW = ("pandas", "torch_geometric.datasets.planetoid", "lightning", "torchmetrics")


def last_line(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_predicting_imports_nothing_slow_that_it_does_not_use() -> None:
    program = f"""
import sys, mpnp, networkx
from mpnp.cli.later import import_later
import_later()
mpnp.NodeClassifier().fit(networkx.path_graph(6), labels={{0: "a", 5: "b"}}).predict()
print(*[name for name in {SLOW} if name in sys.modules])"""
    assert last_line(program) == ""


@pytest.mark.parametrize(
    "use",
    [
        "import torch_geometric; print(torch_geometric.datasets.Planetoid.__name__)",
        "from torch_geometric.datasets import Planetoid; print(Planetoid.__name__)",
        "import torch_geometric.datasets as d; print(d.Planetoid.__name__)",
        "import torch_geometric, torch; assert torch_geometric.is_torch_instance(torch.nn.Linear(1, 1), torch.nn.Module); print('Planetoid')",
    ],
)
def test_what_comes_late_is_there_when_it_is_used(use: str) -> None:
    assert (
        last_line(f"from mpnp.cli.later import import_later; import_later(); import mpnp.graphs; {use}") == "Planetoid"
    )
