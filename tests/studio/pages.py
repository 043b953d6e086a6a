"""What tests of the page write down: waiting, pixels, and a page that must not complain."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from PIL import Image

from mpnp.studio.server import Server


def until(page: Any, condition: str, seconds: float = 60) -> Any:
    """Wait until a JavaScript expression is true. Playwright's own way needs ``eval``, which our policy forbids."""
    end = time.monotonic() + seconds
    while not (value := page.evaluate(condition)):
        assert time.monotonic() < end, f"In vain: {condition}"
        page.wait_for_timeout(20)
    return value


@contextmanager
def visit(browser: Any, server: Server, room: str = "triangles", width: int = 1280, **options: Any) -> Iterator[Any]:
    """A page in a browser of its own, ready when the model has spoken; at the end nothing may have gone wrong in it."""
    context = browser.new_context(viewport={"width": width, "height": 800}, **options)
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda message: page.problems.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: page.problems.append(dialog.message))
    page.goto(server.guard.address(f"/graph/{room}" if room else "/"))
    if room:
        ready(page)
    yield page
    context.close()
    assert not page.problems


def ready(page: Any) -> None:
    """The belief and all that follows from it are those of the newest labels, and drawn."""
    until(page, "!!globalThis.studio?.store.verdict && studio.store.verdict.revision === studio.store.state?.revision")
    until(page, "!studio.view.waiting")


def labels(page: Any) -> list[int]:
    return page.evaluate("Array.from(studio.store.state.labels)")


def believed(page: Any) -> list[int]:
    return page.evaluate("Array.from(studio.summary(studio.store.belief).label)")


def place(page: Any, node: int) -> tuple[float, float]:
    """Where a node is on the page, in pixels."""
    x, y = page.evaluate(f"studio.view.at({node})")
    box = page.locator("#view").bounding_box()
    return box["x"] + x, box["y"] + y


def click(page: Any, node: int) -> None:
    page.mouse.click(*place(page, node))


def colour(page: Any, node: int) -> tuple[int, int, int]:
    """What is really on the screen in the middle of a node."""
    page.wait_for_timeout(60)
    x, y = place(page, node)
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    scale = image.width / page.viewport_size["width"]
    return image.getpixel((round(x * scale), round(y * scale)))  # type: ignore[return-value]


def near(one: tuple[int, int, int], other: tuple[int, int, int], by: int = 12) -> bool:
    return all(abs(a - b) <= by for a, b in zip(one, other, strict=True))
