"""Devices by name, and a sentence for those that are not there."""

from __future__ import annotations

import pytest
import torch

from mpnp.errors import UserError
from mpnp.nn.devices import find_device


def test_the_processor_is_always_there() -> None:
    assert find_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize(("count", "found"), [(0, "cpu"), (2, "cuda")])
def test_auto_takes_a_gpu_if_there_is_one(monkeypatch: pytest.MonkeyPatch, count: int, found: str) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
    assert find_device("auto").type == found


def test_gpus_have_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert find_device("cuda:1").index == 1
    with pytest.raises(UserError, match="'cuda:2' is not on this machine, which has cpu, 2 of cuda"):
        find_device("cuda:2")


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_one_that_is_not_there(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(UserError, match=f"'{name}' is not on this machine, which has cpu; choose cpu, or auto."):
        find_device(name)


@pytest.mark.parametrize("name", ["gpu", "meta", "", "cuda:x"])
def test_one_that_does_not_exist(name: str) -> None:
    with pytest.raises(UserError, match="auto, cpu, cuda or mps is expected"):
        find_device(name)
