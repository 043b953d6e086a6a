"""All experts together: what they say of a graph whose two halves are known, and what they say when there is little to say."""

from __future__ import annotations

import os

import pytest
import torch
from torch import Tensor

from mpnp.errors import UserError
from mpnp.experts.evidence import EXPERTS, Evidence, evidence
from mpnp.experts.views import Views

from .made import two_towns

SHOWN = torch.arange(0, 60, 3)
# Means of the log-probabilities, weighed by the node's number and class, so that no two of them can be exchanged unseen.
SUMS = {
    "x": -0.004348, "ax": -0.024847, "a2x": -0.174683, "pprx": -0.092478, "farx": -0.175963, "hx": 0.015467, "h2x":
    0.008454, "x_rbf": -0.028181, "ax_rbf": -0.177087, "pprx_rbf": 0.038546, "amount": 0.000000, "struct":
    0.242769, "nbr_rbf": 0.140201, "cat": 0.193168, "nbr": 0.295668, "adj": 0.071490, "x_clump": 0.007426,
    "a2x_clump": -0.063247, "pprx_clump": -0.101424, "lp1": 0.180436, "lp2": 0.434161, "lp8": 0.322557, "lp50":
    0.180988, "stack": 0.076599, "echo1": 0.062386, "echo8": 0.077555,
}  # fmt: skip


def towns(**fields: Tensor) -> Evidence:
    graph = two_towns()
    for name, value in fields.items():
        graph[name] = value
    return evidence(Views.of(graph), SHOWN, graph.y[SHOWN], 3)


def tilted(found: Evidence) -> Tensor:
    tilt = torch.linspace(-1, 1, 60).view(-1, 1, 1) * torch.tensor([1.0, 2.0, 4.0]).view(1, 3, 1)
    return (found.log_p * tilt).mean((0, 1))


def test_trained_weights_find_the_experts_as_they_were() -> None:
    """Another number here means other evidence, for which weights have to be trained anew."""
    assert tuple(SUMS) == EXPERTS
    torch.testing.assert_close(tilted(towns()), torch.tensor(list(SUMS.values())), rtol=1e-5, atol=1e-5)


def test_what_no_memory_holds_is_refused_before_it_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sysconf", lambda name: 100)
    with pytest.raises(UserError, match=r"3 classes of 60 nodes take .* GB of memory, this machine has 0"):
        towns()
