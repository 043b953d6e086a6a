"""The studio: milliseconds from a click to new colours, frames a second, and memory over a thousand clicks.

The server runs in a process of its own, as it does for people, and clicks come through its own protocol: from Python, where
a click ends when the new belief has arrived, and, where there is a Chromium, from the page, where it ends when the new
colours have been drawn. Between two clicks there is a pause, in which the studio thinks about what to ask next, as always.
Beside the time that passes stands the time the server computes, which other work on the machine does not lengthen.

``python -m benchmarks.studio 5000 [CLICKS [MANY]]`` measures one size and keeps it in ``results/studio/speed.json``, from which
``results/studio/speed.md`` is written; ``make bench`` measures all.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mpnp.files import replacing, write_json
from mpnp.studio.belief import default_model

if TYPE_CHECKING:  # what the studio needs is not in the environment of the rivals, which writes the same page
    from mpnp.studio.client import Client

SIZES = (5_000, 50_000)
LIMITS = {5_000: 150, 50_000: 1_000}  # milliseconds that a click may take
CLICKS, MANY, PAUSE = 100, 1_000, 0.2
ROOM = "blocks"
OUT = Path(__file__).parent.parent / "results" / "studio"

# A person with the brush in hand: a tap on a node, then wait until the belief of that paint has been drawn.
CLICKING = """async ({ clicks, pause, classes }) => {
  const { store, view } = studio;
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const times = [];
  for (let i = 0; i < clicks; i++) {
    const node = (7919 * ((i % 100) + 1)) % store.nodes;
    store.set("tool", "paint");
    store.set("brush", (store.state.labels[node] + 1 + (i % (classes - 1))) % classes);
    const heard = new Promise((done) => store.addEventListener("belief", done, { once: true }));
    const start = performance.now();
    view.acts.tap(node);
    await heard;
    await drawn();
    times.push(performance.now() - start);
    await new Promise((done) => setTimeout(done, pause));
  }
  return times;
}"""
# A hand that drags the picture to and fro across a good part of the screen while zooming in and out.
TURNING = """async ({ seconds, whole }) => {
  const { view } = studio;
  if (whole) view.adapt = () => { view.spared = 0; };
  else delete view.adapt;
  const begin = performance.now();
  let frames = 0;
  await new Promise((done) => {
    const step = (time) => {
      frames++;
      const [along, depth] = [Math.floor((time - begin) / 800) % 2, Math.floor((time - begin) / 1600) % 2];
      view.move((camera) => {
        camera.pan(along ? -8 : 8, along ? 3 : -3);
        camera.zoomAt(depth ? 1 / 1.004 : 1.004, camera.width / 2, camera.height / 2);
      });
      if (time < begin + 1000 * seconds) requestAnimationFrame(step);
      else done();
    };
    requestAnimationFrame(step);
  });
  delete view.adapt;
  return (1000 * frames) / (performance.now() - begin);
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
            wire, cpu = [], []
            for i in range(clicks):
                before = _computed(process)
                wire.append(_click(client, i, pause=0))
                cpu.append(_computed(process) - before)
                time.sleep(PAUSE)
            memory = [_resident(process)]
            for i in range(clicks, many):
                _click(client, i, pause=0)
                if (i + 1) % max(many // 10, 1) == 0:
                    memory.append(_resident(process))
        page, frames = in_browser(address, clicks)
    return {
        "load": os.getloadavg()[1],
        "edges": int(scene["edges"].shape[0]),
        "wire": wire,
        "cpu": cpu,
        "page": page,
        "frames": frames,
        "memory": memory,
        "many": many,
    }


def _click(client: Client, i: int, pause: float = PAUSE) -> float:
    """A label on one of a hundred nodes, each time another than it has; milliseconds until the belief that follows has arrived."""
    nodes, classes = len(client.seen["scene"]["names"]), len(client.seen["state"]["classes"])
    node = 7919 * (i % CLICKS + 1) % nodes
    label = (int(client.seen["state"]["labels"][node]) + 1 + i % (classes - 1)) % classes
    start = time.perf_counter()
    client.paint([node], label)
    spent = 1000 * (time.perf_counter() - start)
    time.sleep(pause)
    return spent


def in_browser(address: str, clicks: int) -> tuple[list[float], dict[str, float]]:
    """Times of clicks on the page and frames a second while the picture moves; nothing where there is no Chromium.

    Frames ``drawn anew`` hold every node; those ``in motion`` are what the page shows on a machine that cannot keep up: the
    picture drawn last, moved, and drawn anew as soon as it has gone too far.
    """
    program = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        program = None
    if program is None:
        return [], {}
    with sync_playwright() as driver:
        arguments = ["--no-sandbox", "--enable-unsafe-swiftshader"]
        browser = driver.chromium.launch(executable_path=program, args=arguments)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(address.replace("/?", f"/graph/{ROOM}?"))
        while not page.evaluate("!!globalThis.studio?.store.verdict"):
            page.wait_for_timeout(50)
        classes = page.evaluate("studio.store.classes.length")
        times = page.evaluate(CLICKING, {"clicks": clicks, "pause": 1000 * PAUSE, "classes": classes})
        whole, frames = (page.evaluate(TURNING, {"seconds": 6, "whole": whole}) for whole in (True, False))
        browser.close()
    return times, {"drawn anew": whole, "in motion": frames}


@contextmanager
def served(nodes: int) -> Iterator[tuple[str, int]]:
    """A studio with a block model of that size in a process of its own: its address and process number."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.studio", str(nodes), folder]
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


def _computed(process: int) -> float:
    """Milliseconds that all threads of a process have computed."""
    spent = 0
    for file in Path(f"/proc/{process}/task").glob("*/schedstat"):
        with suppress(FileNotFoundError):  # the thread has ended
            spent += int(file.read_text(encoding="ascii").split()[0])
    return spent / 1e6


def _resident(process: int) -> float:
    """Memory of a process in MiB."""
    text = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(re.findall(r"VmRSS:\s+(\d+)", text)[0]) / 1024


def lines(result: dict[str, Any]) -> list[str]:
    """Markdown."""
    text = [
        "## Studio",
        "",
        f"From a click to new colours with `{result['model']}`, milliseconds, {PAUSE:g} s between two clicks; "
        "Chromium draws on the processor, without a graphics card. The load is how many processes wanted the machine's cores over five "
        "minutes: where it is above their number, the times that pass are longer than on a machine of one's own, what the server "
        "computes somewhat. After a hundred labels the same nodes are painted anew: memory is that of a hundred labels.",
        "",
        "| nodes | edges | clicks | server computes, median | 95 % | belief arrives, median | 95 % | colours drawn, median | 95 % | asked: at most | frames a second, every node drawn anew / as shown in motion | server's memory, MiB | load of the machine |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for size, row in result["sizes"].items():
        after = row.get("many", MANY)
        memory = f"{row['memory'][0]:.0f} after {len(row['wire'])} clicks, {row['memory'][-1]:.0f} after {after:,}"
        frames = " / ".join(f"{one:.0f}" for one in row["frames"].values()) or "–"
        figures = [*_median(row.get("cpu", [])), *_median(row["wire"]), *_median(row["page"])]
        text.append(
            f"| {int(size):,} | {row['edges']:,} | {len(row['wire'])} | {' | '.join(figures)} | {LIMITS.get(int(size), '–')} | {frames} | {memory} | {row['load']:.1f} |"
        )
    return text


def _median(times: list[float]) -> list[str]:
    return [f"{np.quantile(times, share):.0f}" for share in (0.5, 0.95)] if times else ["–", "–"]


def keep(nodes: int, clicks: int = CLICKS, many: int = MANY) -> None:
    """Measure one size, beside those measured before."""
    from mpnp.evaluation.provenance import provenance

    file = OUT / "speed.json"
    result = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"sizes": {}}
    result |= {"made": provenance(), "model": default_model()}
    result["sizes"][str(nodes)] = measure(nodes, clicks, many)
    with replacing(file) as temporary:
        write_json(temporary, result)
    by = f"<sub>`python -m benchmarks.studio NODES`, {result['made']['date']}, {result['made']['machine']}</sub>"
    with replacing(OUT / "speed.md") as temporary:
        temporary.write_text("\n".join([*lines(result), "", by, ""]), encoding="utf-8")
    print("\n".join(lines(result)))


if __name__ == "__main__":
    if len(sys.argv) == 3 and not sys.argv[2].isdigit():
        serve(int(sys.argv[1]), Path(sys.argv[2]))
    else:
        keep(*(int(number) for number in sys.argv[1:]))
