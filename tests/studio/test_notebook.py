"""The studio in a notebook."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

import mpnp
from mpnp.studio.client import Client


def test_a_frame_and_what_was_painted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    studio = mpnp.studio(nx.path_graph(["a", "b", "c"]), model="label-propagation")  # type: ignore[operator]
    try:
        frame = studio._repr_html_()
        assert frame.startswith("<iframe src=") and studio.address.replace("&", "&amp;") in frame
        assert studio.labels == {}
        with Client(studio.address, "notebook") as page:
            page.paint([0], 0)
            page.paint([2], 1)
        assert studio.labels == {"a": "class 1", "c": "class 2"}
        assert studio.prediction.label.tolist()[::2] == [0, 1]
        assert (tmp_path / "mpnp-studio" / "notebook-labels.csv").exists()
    finally:
        studio.close()


def test_the_module_is_a_room_and_a_door() -> None:
    from mpnp.studio import belief

    assert callable(mpnp.studio) and mpnp.studio.belief is belief and "studio" in dir(mpnp)
