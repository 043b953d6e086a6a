"""The studio: milliseconds from a click to new colours, frames a second, and memory over a thousand clicks.

The server runs in a process of its own, as it does for people, and clicks come through its own protocol: from Python, where
a click ends when the new belief has arrived, and, where there is a Chromium, from the page, where it ends when the new
colours have been drawn. Between two clicks there is a pause, in which the studio thinks about what to ask next, as always.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mpnp.studio.belief import default_model

if TYPE_CHECKING:  # what the studio needs is not in the environment of the rivals, which writes the same page
    from mpnp.studio.client import Client

SIZES = (5_000, 50_000)
LIMITS = {5_000: 150, 50_000: 1_000}  # milliseconds that a click may take
CLICKS, MANY, PAUSE = 100, 1_000, 0.2
ROOM = "blocks"

# What a page does: paint, then wait until the belief of that paint has been drawn.
CLICKING = """async ({ clicks, pause, classes }) => {
  const { store, view, acts } = studio;
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const times = [];
  for (let i = 0; i < clicks; i++) {
    const node = (7919 * (i + 1)) % store.nodes;
    const heard = new Promise((done) => store.addEventListener("belief", done, { once: true }));
    const start = performance.now();
    acts.paint([node], (store.state.labels[node] + 1 + (i % (classes - 1))) % classes);
    await heard;
    await drawn();
    times.push(performance.now() - start);
    await new Promise((done) => setTimeout(done, pause));
  }
  return times;
}"""
TURNING = """async (seconds) => {
  const { view } = studio;
  const end = performance.now() + 1000 * seconds;
  let frames = 0;
  await new Promise((done) => {
    const step = (time) => {
      frames++;
      view.move((camera) => camera.pan(Math.sin(time / 200), 0));
      if (time < end) requestAnimationFrame(step);
      else done();
    };
    requestAnimationFrame(step);
  });
  return frames / seconds;
}"""


def bench(sizes: tuple[int, ...] = SIZES, clicks: int = CLICKS, many: int = MANY) -> dict[str, Any]:
    """For every size the times of all clicks, frames a second, and the server's memory on the way."""
    return {"model": default_model(), "sizes": {str(size): measure(size, clicks, many) for size in sizes}}


def measure(nodes: int, clicks: int, many: int) -> dict[str, Any]:
    from mpnp.studio.client import Client

    with served(nodes) as (address, process):
        with Client(address, ROOM) as client:
            scene = client.await_("scene")
            client.await_("verdict")
            wire = [_click(client, i) for i in range(clicks)]
            memory = [_resident(process)]
            for i in range(clicks, many):
                _click(client, i, pause=0)
                if (i + 1) % max(many // 10, 1) == 0:
                    memory.append(_resident(process))
        page, frames = in_browser(address, clicks)
    return {"edges": int(scene["edges"].shape[0]), "wire": wire, "page": page, "frames": frames, "memory": memory}


def _click(client: Client, i: int, pause: float = PAUSE) -> float:
    """One more label; milliseconds until the belief that follows has arrived."""
    nodes, classes = len(client.seen["scene"]["names"]), len(client.seen["state"]["classes"])
    node = 7919 * (i + 1) % nodes
    label = (int(client.seen["state"]["labels"][node]) + 1 + i % (classes - 1)) % classes
    start = time.perf_counter()
    client.paint([node], label)
    spent = 1000 * (time.perf_counter() - start)
    time.sleep(pause)
    return spent


def in_browser(address: str, clicks: int) -> tuple[list[float], float | None]:
    """Times of clicks on the page and frames a second while the picture moves; nothing where there is no Chromium."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        program = None
    if program is None:
        return [], None
    with sync_playwright() as driver:
        arguments = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
        browser = driver.chromium.launch(executable_path=program, args=arguments)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(address.replace("/?", f"/graph/{ROOM}?"))
        while not page.evaluate("!!globalThis.studio?.store.verdict"):
            page.wait_for_timeout(50)
        classes = page.evaluate("studio.store.classes.length")
        frames = page.evaluate(TURNING, 5)
        times = page.evaluate(CLICKING, {"clicks": clicks, "pause": 1000 * PAUSE, "classes": classes})
        browser.close()
    return times, frames


@contextmanager
def served(nodes: int) -> Iterator[tuple[str, int]]:
    """A studio with a block model of that size in a process of its own: its address and process number."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-W", "ignore", "-m", __name__, str(nodes), folder]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            found = next(match for line in process.stdout if (match := re.search(r"http://\S+", line)))
            yield found[0], process.pid
        finally:
            process.terminate()
            process.wait()


def serve(nodes: int, folder: Path) -> None:
    from mpnp.studio.examples import blocks
    from mpnp.studio.server import Server
    from mpnp.studio.workspace import Workspace

    workspace = Workspace(folder, default_model())
    workspace.add(ROOM, blocks(nodes))
    server = Server(workspace)
    print(server.guard.address(), flush=True)
    server.serve()


def _resident(process: int) -> float:
    """Memory of a process in MiB."""
    text = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(re.findall(r"VmRSS:\s+(\d+)", text)[0]) / 1024


def lines(result: dict[str, Any]) -> list[str]:
    """Markdown."""
    text = [
        "## Studio",
        "",
        f"From a click to new colours with `{result['model']}`, milliseconds over {CLICKS} clicks, {PAUSE:g} s between two; "
        "Chromium draws on the processor, without a graphics card.",
        "",
        "| nodes | edges | belief arrives, median | 95 % | colours drawn, median | 95 % | at most | frames a second | server's memory, MiB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for size, row in result["sizes"].items():
        memory = f"{row['memory'][0]:.0f} after {CLICKS} clicks, {row['memory'][-1]:.0f} after {MANY:,}"
        frames = "–" if row["frames"] is None else f"{row['frames']:.0f}"
        figures = [*_median(row["wire"]), *_median(row["page"])]
        text.append(
            f"| {int(size):,} | {row['edges']:,} | {' | '.join(figures)} | {LIMITS.get(int(size), '–')} | {frames} | {memory} |"
        )
    return text


def _median(times: list[float]) -> list[str]:
    return [f"{np.quantile(times, share):.0f}" for share in (0.5, 0.95)] if times else ["–", "–"]


if __name__ == "__main__":
    serve(int(sys.argv[1]), Path(sys.argv[2]))
