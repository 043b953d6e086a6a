"""What asking is worth, through the studio's own protocol: ``python -m studies.studio_replay``.

An example of the studio is opened by a running server, with the one label per class it begins with. Then twenty answers are
given, by the truth: as the studio asks, or at random. Accuracy is that of all nodes, given labels as given. Where there is a
Chromium, the studio's own page is photographed on the way, and the pictures make a film strip.
"""

from __future__ import annotations

import argparse
import base64
import io
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mpnp.evaluation.provenance import provenance
from mpnp.files import replacing, write_json
from mpnp.studio.belief import default_model
from mpnp.studio.client import Client
from mpnp.studio.examples import make
from mpnp.studio.server import Server
from mpnp.studio.workspace import Workspace

OUT = Path(__file__).parent.parent / "results" / "studio"
EXAMPLES = ("karate", "lamp", "blocks")
ANSWERS, SEEDS = 20, 10
PICTURES = (0, 2, 5, 10, 20)  # answers after which a picture is taken


def replay(name: str, model: str, strategy: str, seed: int = 0, answers: int = ANSWERS) -> list[float]:
    """Accuracy before the first and after each answer. ``random`` draws by ``seed``; others as the studio asks."""
    truth = make(name).truth
    assert truth is not None
    known, rng = truth.numpy(), np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Workspace(Path(folder), model))
        server.start()
        try:
            with Client(server.guard.address(), name) as client:
                client.await_("questions")
                if strategy not in ("random", client.seen["state"]["strategy"]):
                    client.send("strategy", name=strategy)
                    while client.await_("questions")["strategy"] != strategy:
                        pass
                right = [_accuracy(client, known)]
                for _ in range(answers):
                    open_to = np.flatnonzero(client.seen["state"]["labels"] < 0)
                    if not len(open_to):
                        break
                    random = int(rng.choice(open_to))
                    node = random if strategy == "random" else client.seen["questions"]["queue"][0]["node"]
                    belief = client.paint([node], int(known[node]))
                    if strategy != "random":
                        client.await_("questions", belief["revision"])
                    right.append(_accuracy(client, known))
        finally:
            server.stop()
    return right


def _accuracy(client: Client, truth: np.ndarray[Any, Any]) -> float:
    labels, belief = client.seen["state"]["labels"], client.seen["belief"]["probabilities"].argmax(1)
    return float((np.where(labels >= 0, labels, belief) == truth).mean())


def film(name: str, model: str, out: Path) -> bool:
    """Photographs of the page's picture after some of the answers, side by side; whether there is a Chromium to take them."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        return False
    from playwright.sync_api import sync_playwright

    truth = make(name).truth
    assert truth is not None
    shots: list[tuple[str, Image.Image]] = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        server = Server(Workspace(Path(folder), model))
        server.start()
        arguments = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
        browser = driver.chromium.launch(executable_path=program, args=arguments)
        page = browser.new_page(viewport={"width": 1100, "height": 620}, device_scale_factor=1)
        page.goto(server.guard.address(f"/graph/{name}"))
        for answer in range(max(PICTURES) + 1):
            while not page.evaluate(
                "!!globalThis.studio?.store.asked && studio.store.questions.revision === studio.store.state.revision"
            ):
                page.wait_for_timeout(30)
            if answer in PICTURES:
                page.wait_for_timeout(300)
                # The drawing alone, without what lies over it; WebGL keeps it until the end of the task.
                url = page.evaluate("(studio.view.draw(), studio.view.canvas.toDataURL())")
                image = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
                shots.append((_caption(page, truth.tolist()), image))
            page.evaluate("studio.acts.answer(studio.store.asked.truth)")
        browser.close()
        server.stop()
    _strip(shots, out)
    return True


def _caption(page: Any, truth: list[int]) -> str:
    labels = page.evaluate("Array.from(studio.store.state.labels)")
    belief = page.evaluate("Array.from(studio.summary(studio.store.belief).label)")
    right = np.mean(
        [(given if given >= 0 else guess) == true for given, guess, true in zip(labels, belief, truth, strict=True)]
    )
    given = sum(label >= 0 for label in labels)
    return f"{given} labels: {100 * right:.0f} % right"


def _strip(shots: list[tuple[str, Image.Image]], out: Path, width: int = 360) -> None:
    height = round(width * shots[0][1].height / shots[0][1].width)
    strip = Image.new("RGB", (width * len(shots), height + 30), "white")
    draw, font = ImageDraw.Draw(strip), ImageFont.load_default(15)
    for i, (caption, shot) in enumerate(shots):
        strip.paste(shot.convert("RGB").resize((width, height), Image.Resampling.LANCZOS), (i * width, 0))
        draw.text((i * width + 12, height + 6), caption, fill="#1b2128", font=font)
    with replacing(out) as temporary:
        strip.save(temporary, format="PNG", optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=default_model())
    parser.add_argument("--examples", nargs="+", default=list(EXAMPLES))
    parser.add_argument("--seeds", type=int, default=SEEDS, help="of random answers")
    parser.add_argument("--film", default="lamp", help="the example to photograph")
    options = parser.parse_args()
    table: dict[str, Any] = {}
    for name in options.examples:
        asked = replay(name, options.model, "spread")
        random = [replay(name, options.model, "random", seed) for seed in range(options.seeds)]
        table[name] = {"asked": asked, "random": random}
        chance = np.mean([run[-1] for run in random])
        print(
            f"{name}: {100 * asked[0]:.1f} % at first; after {len(asked) - 1} answers {100 * asked[-1]:.1f} % as asked, {100 * chance:.1f} % at random"
        )
    with replacing(OUT / "replay.json") as temporary:
        write_json(temporary, {"made": provenance(), "model": options.model, "accuracy": table})
    if film(options.film, options.model, OUT / "film.png"):
        print(f"The film strip is in {OUT / 'film.png'}.")


if __name__ == "__main__":
    main()
