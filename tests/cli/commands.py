"""What tests of commands write down: a command run, JSON read as strictly as others read it, a user's folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch_geometric.data import Data

Run = Callable[..., str]


def strict(text: str) -> Any:
    """One JSON object and nothing else; NaN is not JSON."""
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


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
