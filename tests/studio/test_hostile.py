"""Attacks in a real Chromium: another page, a rebound name, names made of HTML; and the one frame that is allowed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import networkx as nx

import mpnp
from mpnp.studio.scene import Scene
from mpnp.studio.server import Server
from mpnp.studio.workspace import Workspace

from .pages import click, labels, ready, until, visit

EVIL = '<img src=x onerror="globalThis.owned=1"><script>globalThis.owned=1</script>'

# Everything a page can try without our secret; each attempt ends in 'refused' or in what it got.
ATTACKS = """async (target) => {
  const tried = {};
  const attempt = async (name, work) => {
    try { tried[name] = String(await work()); } catch (error) { tried[name] = "refused"; }
  };
  const socket = (address) => new Promise((done, failed) => {
    const one = new WebSocket(address);
    one.onmessage = () => done("spoke");
    one.onopen = () => one.send(JSON.stringify({ kind: "paint", nodes: [2], label: 1 }));
    one.onerror = () => failed(new Error());
  });
  const element = (tag, attributes) => new Promise((done, failed) => {
    const one = Object.assign(document.createElement(tag), attributes);
    one.onload = () => done("loaded");
    one.onerror = () => failed(new Error());
    document.body.append(one);
  });
  await attempt("read", async () => (await fetch(`http://${target}/export/triangles/labels.csv`, { credentials: "include" })).text());
  await attempt("post", async () => (await fetch(`http://${target}/open/karate`, { method: "POST", credentials: "include" })).status);
  await attempt("blind post", async () => { await fetch(`http://${target}/open/karate`, { method: "POST", mode: "no-cors", credentials: "include" }); return "sent"; });
  await attempt("put", async () => (await fetch(`http://${target}/upload/x/nodes.csv`, { method: "PUT", body: "id", credentials: "include" })).status);
  await attempt("socket", () => socket(`ws://${target}/live/triangles`));
  await attempt("script", () => element("script", { src: `http://${target}/static/main.js` }));
  await attempt("image", () => element("img", { src: `http://${target}/static/icon.svg` }));
  await attempt("style", () => element("link", { rel: "stylesheet", href: `http://${target}/static/base.css` }));
  return tried;
}"""


@contextmanager
def other_page(text: str = "<!doctype html><body>") -> Iterator[int]:
    """A page of another origin on this machine, the worst neighbour: same site, so that our cookie is sent along."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def test_another_page_can_neither_read_nor_write(chromium: Any, server: Server) -> None:
    with visit(chromium, server) as page, other_page() as port:
        hostile = page.context.new_page()  # in the same browser, which has our cookie
        hostile.goto(f"http://127.0.0.1:{port}/")
        tried = hostile.evaluate(ATTACKS, f"127.0.0.1:{server.port}")
        assert set(tried.values()) == {"refused"}, tried
        assert list(server.workspace.rooms) == ["triangles"] and labels(page)[2] == -1
        assert not (server.workspace.place / "incoming").exists()
        hostile.set_content(f'<iframe src="http://127.0.0.1:{server.port}/graph/triangles"></iframe>')
        hostile.wait_for_timeout(500)
        assert all("studio" not in frame.content() for frame in hostile.frames[1:])


def test_a_rebound_name_gets_nothing(chromium: Any, server: Server) -> None:
    """The attacker's name first led to the attacker's page, then to us: same origin for the browser, another Host for us."""
    context = chromium.new_context()
    page = context.new_page()
    target = f"rebound.test:{server.port}"
    page.route(
        f"http://{target}/attack", lambda route: route.fulfill(body="<!doctype html><body>", content_type="text/html")
    )
    page.goto(f"http://{target}/attack")
    answer = page.evaluate("async () => { const a = await fetch('/graphs'); return [a.status, await a.text()]; }")
    assert answer[0] == 403 and "karate" not in answer[1]
    tried = page.evaluate(ATTACKS, target)
    assert "node,label" not in tried["read"] and tried["post"] == tried["put"] == "403"
    assert {tried[name] for name in ("socket", "script", "image", "style")} == {"refused"}
    # Even with the secret, which it cannot know.
    assert page.goto(server.guard.address().replace("127.0.0.1", "rebound.test")).status == 403
    context.close()
    assert list(server.workspace.rooms) == ["triangles"]


def test_names_stay_text(chromium: Any, workspace: Workspace, scene: Scene) -> None:
    scene.names[1] = scene.title = scene.class_names[0] = scene.feature_names[0] = EVIL
    workspace.add("triangles", scene)
    server = Server(workspace)
    server.start()
    try:
        with visit(chromium, server) as page:
            click(page, 1)
            until(page, "studio.store.card?.node === 1")
            assert page.text_content(".node-name") == EVIL and page.text_content("#title") == EVIL
            page.fill("#search", "<img")
            assert page.text_content("#found li") == EVIL
            page.keyboard.press("Escape")
            page.click("#add-class")
            page.keyboard.type("<b>bold</b>")
            page.keyboard.press("Enter")
            until(page, "studio.store.classes.length === 3")
            for name in ("label", "changed"):
                page.click(f"[data-layer={name}]")
            page.evaluate("studio.acts.paint([1], 0), studio.acts.paint([2], 1), studio.acts.paint([4], 0)")
            until(page, "studio.store.state.revision === 4")
            ready(page)
            for tab in ("ask", "suspects", "progress", "node"):
                page.click(f"#tab-{tab}")
            assert (
                page.evaluate("globalThis.owned ?? document.querySelector('main img, main script, main b + b, h1 *')")
                is None
            )
            assert page.locator("#classes .name >> nth=0").text_content() == EVIL
            with page.expect_download() as download:
                page.evaluate("document.getElementById('export-svg').click()")
            assert b"<script>" not in Path(download.value.path()).read_bytes()
    finally:
        server.stop()


def test_the_policy_holds_in_the_browser(chromium: Any, server: Server) -> None:
    with visit(chromium, server) as page:
        kept = page.evaluate(
            """() => {
              const tried = [];
              for (const act of [
                () => { document.body.innerHTML = "<b>x</b>"; },
                () => document.body.insertAdjacentHTML("beforeend", "<i>x</i>"),
              ]) { try { act(); tried.push("done"); } catch { tried.push("refused"); } }
              return tried;
            }"""
        )
        assert kept == ["refused"] * 2
        outside = "fetch('http://127.0.0.1:9/').then(() => 'reached', (error) => String(error))"
        assert "Failed to fetch" in page.evaluate(outside)
        page.problems.clear()  # the browser tells of each


def test_a_notebook_may_show_it_in_a_frame(chromium: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """The notebook's page is at localhost, the frame at 127.0.0.1: to the browser these are different sites."""
    monkeypatch.chdir(tmp_path)
    studio = mpnp.studio(nx.path_graph(["a", "b", "c"]), model="label-propagation")  # type: ignore[operator]
    try:
        with other_page(f"<!doctype html><body>{studio._repr_html_()}") as port:
            context = chromium.new_context()
            page = context.new_page()
            page.goto(f"http://localhost:{port}/")
            page.wait_for_timeout(300)
            frame = page.frames[1]
            until(frame, "!!globalThis.studio?.store.belief")
            frame.evaluate("studio.acts.paint([0], 1)")
            until(frame, "studio.store.state.labels[0] === 1")
            assert studio.labels == {"a": "class 2"}
            context.close()
    finally:
        studio.close()
