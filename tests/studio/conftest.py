"""What tests of the studio share: a small graph, a server of it, and a real browser where there is one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from mpnp.studio.scene import Scene
from mpnp.studio.server import Server
from mpnp.studio.workspace import Workspace

MODEL = "label-propagation"


@pytest.fixture
def scene() -> Scene:
    """Two triangles joined by an edge, 2 – 3; node 0 is 'red', node 5 is 'blue'."""
    once = torch.tensor([[0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5]])
    x = torch.tensor([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]])
    y = torch.tensor([0, -1, -1, -1, -1, 1])
    places = np.array([[-1, 0.3], [-0.9, -0.3], [-0.4, 0], [0.4, 0], [0.9, -0.3], [1, 0.3]])
    data = Data(x=x, edge_index=torch.cat([once, once.flip(0)], 1), y=y)
    names = ["ann", "bob", "cem", "dora", "eve", "finn"]
    return Scene("Two triangles", data, names, ["red", "blue"], ["side"], places, "data, names = given\n")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, MODEL)


@pytest.fixture
def server(workspace: Workspace, scene: Scene) -> Iterator[Server]:
    """Serves the two triangles as 'triangles'."""
    workspace.add("triangles", scene)
    running = Server(workspace)
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")  # not longer: while it lives, Playwright keeps an event loop running in this thread
def chromium() -> Iterator[Any]:
    """The system's Chromium, driven by Playwright; tests that need it are skipped, visibly, where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: no test of the page.")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("There is no Chromium here: no test of the page (Debian: apt-get install chromium).")
    arguments = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
                 "--host-resolver-rules=MAP rebound.test 127.0.0.1",
                 "--disable-features=LocalNetworkAccessChecks"]  # fmt: skip
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()
