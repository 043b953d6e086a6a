"""What asking is worth, through the studio's own protocol: ``python -m studies.studio_replay``.

An example of the studio is opened by a running server, and two nodes of different classes, drawn by the seed, get their
label. Then twenty answers are given, by the truth: as the studio asks, or for nodes drawn at random. Accuracy is that of all
nodes, given labels as given; both ways begin with the same two. Where there is a Chromium, the studio's own page is
photographed on the way, and the pictures make a film strip. What was replayed is kept seed by seed, and a study that was
broken off goes on where it was.
"""

from __future__ import annotations

import argparse
import base64
import io
import itertools
import json
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

ROOT = Path(__file__).parent.parent
OUT, FILM = ROOT / "results" / "studio", ROOT / "docs" / "images" / "studio.png"
EXAMPLES = ("karate", "sphere", "life", "lamp", "blocks")
WAYS = {"asked": None, "random": "random"}  # by the strategy the studio begins with, or by chance
ANSWERS, SEEDS = 20, 5
PICTURES = (0, 2, 5, 10, 20)  # answers after which a picture is taken


def replay(name: str, model: str, strategy: str | None, seed: int = 0, answers: int = ANSWERS) -> list[float]:
    """Accuracy before the first and after each answer. ``strategy``: of the studio, ``None`` the one it begins with;
    ``random``: drawn by the ``seed``, which draws the first two labels, too."""
    truth = make(name).truth
    assert truth is not None
    known, rng = truth.numpy(), np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Workspace(Path(folder), model))
        server.start()
        try:
            with Client(server.guard.address(), name) as client:
                client.await_("questions")
                _begin(client, known, rng)
                if strategy not in (None, "random", client.seen["state"]["strategy"]):
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


def _begin(client: Client, truth: np.ndarray[Any, Any], rng: np.random.Generator) -> None:
    """The labels an example comes with are erased, and two nodes of different classes painted."""
    client.paint(np.flatnonzero(client.seen["state"]["labels"] >= 0).tolist(), -1)
    first = int(rng.integers(len(truth)))
    second = int(rng.choice(np.flatnonzero(truth != truth[first])))
    client.paint([first], int(truth[first]))
    belief = client.paint([second], int(truth[second]))
    client.await_("questions", belief["revision"])


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


def table(accuracy: dict[str, Any]) -> list[str]:
    """Markdown: mean accuracy over the seeds after some of the answers, as asked and at random, and in how many seeds asking
    was the better."""
    text = [
        "| example | "
        + " | ".join(f"after {n}" for n in PICTURES)
        + " | mean over all answers | seeds in which asking was better |"
    ]
    text.append("|---" * (len(PICTURES) + 3) + "|")
    for name, runs in accuracy.items():
        asked, random = (np.array(runs[way]) for way in ("asked", "random"))
        pairs = [f"{100 * asked[:, n].mean():.1f} / {100 * random[:, n].mean():.1f}" for n in PICTURES]
        means = asked[:, 1:].mean(1), random[:, 1:].mean(1)
        pairs.append(f"{100 * means[0].mean():.1f} / {100 * means[1].mean():.1f}")
        text.append(f"| {name} | {' | '.join(pairs)} | {int((means[0] > means[1]).sum())} of {len(asked)} |")
    return text


def report(model: str, accuracy: dict[str, Any]) -> str:
    missing = [name for name in EXAMPLES if name not in accuracy]
    seeds = " to ".join(str(n) for n in sorted({len(runs["asked"]) for runs in accuracy.values()}))
    return "\n".join(
        [
            "# What asking is worth",
            "",
            f"`python -m studies.studio_replay`, with `{model}`. Accuracy in % over all nodes of the studio's examples after so many",
            "answers, **as the studio asks / at random**, from two labels of different classes; mean over",
            f"{seeds} seeds, which draw the two labels and the random nodes. Through the studio's own server and messages.",
            "",
            *table(accuracy),
            "",
            *([f"Not replayed yet: {', '.join(missing)}.", ""] if missing else []),
            "All curves are in `replay.json`; the film strip of the README is made by the same command.",
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=default_model())
    parser.add_argument("--examples", nargs="+", default=list(EXAMPLES))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--anew", action="store_true", help="forget what was replayed before")
    parser.add_argument("--film", default="lamp", help="the example to photograph, '' for none")
    options = parser.parse_args()
    accuracy: dict[str, Any] = {}
    if (OUT / "replay.json").exists() and not options.anew:  # what was replayed before is kept
        before = json.loads((OUT / "replay.json").read_text(encoding="utf-8"))
        accuracy = before["accuracy"] if before["model"] == options.model else {}
    for name, seed in itertools.product(options.examples, range(options.seeds)):
        runs = accuracy.setdefault(name, {way: [] for way in WAYS})
        if len(runs["random"]) > seed:
            continue
        both = {way: replay(name, options.model, strategy, seed) for way, strategy in WAYS.items()}
        for way in WAYS:
            runs[way].append(both[way])
        print(f"{table({name: runs})[-1]}  seed {seed}", flush=True)
        accuracy = {one: accuracy[one] for one in EXAMPLES if one in accuracy}
        with replacing(OUT / "replay.json") as temporary:
            write_json(temporary, {"made": provenance(), "model": options.model, "accuracy": accuracy})
        with replacing(OUT / "README.md") as temporary:
            temporary.write_text(report(options.model, accuracy), encoding="utf-8")
    if options.film and film(options.film, options.model, FILM):
        print(f"The film strip is in {FILM}.")


if __name__ == "__main__":
    main()
