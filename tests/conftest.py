"""What every test shares: a cache of its own, and two threads."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import torch


def pytest_configure(config: pytest.Config) -> None:
    # Torch says once per process that CSC tensors are young; PyG's EdgeIndex needs them, nothing here can change that.
    for message in ("Sparse CS[CR] tensor support is in beta state", "Sparse invariant checks are implicitly disabled"):
        config.addinivalue_line("filterwarnings", f"ignore:{message}:UserWarning")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests neither read nor fill the user's cache; ``MPNP_TEST_CACHE`` names one to keep between runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPNP_CACHE", os.environ.get("MPNP_TEST_CACHE") or str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def two_threads() -> None:
    torch.set_num_threads(2)
