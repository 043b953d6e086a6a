"""Automata to learn, and a training that went through."""

from __future__ import annotations

import pytest
import torch

from mpnp.tasks.base import Task
from mpnp.tasks.cellular_automata import CellularAutomaton
from mpnp.training.fit import Fitted

from .learning import train


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def automata() -> Task:
    return CellularAutomaton("small-world", graphs_total=40)


@pytest.fixture(scope="session")
def whole(automata: Task, tmp_path_factory: pytest.TempPathFactory) -> Fitted:
    """Four epochs without interruption."""
    return train(automata, tmp_path_factory.mktemp("runs") / "whole")
