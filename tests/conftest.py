"""What every test shares: a cache of its own, and a bounded number of threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

# Real data beside the repository, if it is there; tests that need it look for it when they are collected.
if (SHARED := Path(__file__).parents[2] / "shared" / "data").is_dir():
    os.environ.setdefault("MPNP_DATA", str(SHARED))


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests neither read nor fill the user's cache; ``MPNP_TEST_CACHE`` names one to keep between runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPNP_CACHE", os.environ.get("MPNP_TEST_CACHE") or str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def two_threads() -> None:
    # A number the caller gave stands: threads waiting for each other on busy cores make tests ten times slower.
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(2)
