"""The server: uploads, exports, bad requests, and starting again after being killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from mpnp.errors import UserError
from mpnp.studio.client import Client
from mpnp.studio.scene import Scene
from mpnp.studio.server import STATIC, Server
from mpnp.studio.workspace import Workspace


def test_exports(server: Server) -> None:
    with Client(server.guard.address(), "triangles") as page:
        page.await_("belief")
        assert page.get("/export/triangles/labels.csv") == (200, "node,label\nann,red\nfinn,blue\n")
        status, table = page.get("/export/triangles/predictions.csv")
        assert status == 200 and len(table.splitlines()) == 7
        status, script = page.get("/export/triangles/reproduce.py")
        assert status == 200 and "'ann': 0" in script
        compile(script, "script", "exec")
        status, told = page.get("/export/triangles/passwords")
        assert status == 400 and "no export" in json.loads(told)["error"]
        assert page.get("/export/nowhere/labels.csv")[0] == 400


def test_uploads(server: Server) -> None:
    with Client(server.guard.address(), "triangles") as page:
        assert page.get("/upload/one/nodes.csv", "PUT", b"id\na\nb\n")[0] == 200
        assert page.get("/upload/one/edges.csv", "PUT", b"source,target\na,b\n")[0] == 200
        status, text = page.get("/upload/one", "POST")
        assert (status, text) == (200, '{"address":"/graph/graph"}')
        status, text = page.get("/upload/two/x.graphml", "PUT", b"<graphml")
        status, text = page.get("/upload/two", "POST")
        assert status == 400 and "GraphML" in json.loads(text)["error"]
        assert page.get("/upload/three/evil.exe", "PUT", b"MZ")[0] == 400
        assert page.get("/upload/none", "POST")[0] == 400
    with Client(server.guard.address(), "graph") as page:
        assert page.await_("scene")["names"] == ["a", "b"]


def test_a_room_that_is_not_there_is_told(server: Server) -> None:
    with Client(server.guard.address(), "nowhere") as page:
        assert "There is no graph 'nowhere'" in page.await_("notice")["text"]


def test_a_port_in_use_is_told(server: Server, workspace: Workspace) -> None:
    with pytest.raises(UserError, match="choose another"):
        Server(workspace, server.port)
    with pytest.raises(UserError, match="choose another"):
        Server(workspace, 99_999)


def test_the_page_asks_no_other_machine() -> None:
    """No address but our own in any file, no inline script or style, no HTML from text."""
    for file in STATIC.rglob("*.*"):
        text = file.read_text(encoding="utf-8")
        outside = set(re.findall(r"https?://[^\s\"'`]+", text)) - {"http://www.w3.org/2000/svg"}
        assert not outside, file
        if file.suffix == ".html":
            assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", text), file
        if file.suffix == ".js":
            assert not re.search(
                r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text
            ), file
            assert len(text.splitlines()) < 400, file


def start(folder: Path) -> tuple[subprocess.Popen[str], str]:
    command = [
        sys.executable,
        "-c",
        "from mpnp.cli import main; main()",
        "studio",
        "graph",
        "--no-browser",
        "--model",
        "label-propagation",
    ]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    )
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://\S+", line):
            return process, found[0]
    raise AssertionError("The studio did not start.")


def test_a_killed_server_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "nodes.csv").write_text("id,label\na,x\nb,\nc,y\n")
    (tmp_path / "graph" / "edges.csv").write_text("source,target\na,b\nb,c\n")
    process, address = start(tmp_path)
    try:
        with Client(address, "graph") as page:
            page.await_("belief")
            page.send("add", name="third")
            page.await_("state")
            page.paint([1], 2)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (tmp_path / "mpnp-studio" / "graph-labels.csv").read_text() == "node,label\na,x\nb,third\nc,y\n"
    process, address = start(tmp_path)
    try:
        with Client(address, "graph") as page:
            state = page.await_("state")
            assert state["labels"].tolist() == [0, 2, 1] and state["undo"] == 2
            page.send("undo")
            assert page.await_("state")["labels"].tolist() == [0, -1, 1]
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(20) in (0, 130)


def test_the_address_is_no_use_to_the_next_server(workspace: Workspace, scene: Scene) -> None:
    workspace.add("triangles", scene)
    one, two = Server(workspace), Server(workspace)
    assert one.guard.token != two.guard.token
    for server in (one, two):
        server.start()
    try:
        stolen = two.guard.address().replace(two.guard.token, one.guard.token)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(stolen)
    finally:
        one.stop()
        two.stop()
