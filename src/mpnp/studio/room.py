"""A room: one graph, its labels and what the model believes, shared by every page that looks at it."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..defaults import STRATEGY
from ..errors import UserError
from ..graphs import UNLABELLED
from ..prediction import Prediction, Predictor
from . import advice, messages
from .belief import Belief, Stale, check_strategy, open_graph, strategies
from .journal import Journal
from .messages import Message, Wish
from .scene import Scene

MOST_FEATURES, MOST_NEIGHBOURS = 50, 100  # on a node's card
PAUSE = 0.15  # seconds without a click before the long look: suspects, accuracy, the stop sign


class Outbox:
    """What one page has yet to be sent: of each kind of message the newest, so that a slow page is never behind."""

    def __init__(self) -> None:
        self.waiting: dict[str, Message] = {}
        self.filled = asyncio.Event()

    def put(self, message: Message) -> None:
        self.waiting[type(message).__name__] = message
        self.filled.set()

    async def take(self) -> list[Message]:
        await self.filled.wait()
        self.filled.clear()
        taken, self.waiting = list(self.waiting.values()), {}
        return taken


class Room:
    """Opened in a thread, as layouts and models take time; from then on at home in one event loop.

    Every change is done, kept and told to all pages at once. The belief follows from a thread of its own: if labels change
    in the meantime, only the newest are answered.
    """

    def __init__(self, scene: Scene, model: str | Predictor, labels: Path) -> None:
        self.scene = scene
        self.journal = Journal(labels, scene.names, scene.identity)
        self.labelling = self.journal.open(scene.data.y.numpy(), scene.class_names)
        self.belief: Belief = open_graph(model, scene.data)
        self.strategy = STRATEGY
        self.skipped = torch.zeros(scene.nodes, dtype=torch.bool)
        self.prediction: Prediction | None = None
        self.latest: dict[str, Message] = {"Scene": self._scene(), "State": self._state()}
        self.pages: set[Outbox] = set()
        self._changed = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="belief")
        self._worker: asyncio.Task[None] | None = None

    # --- Pages -------------------------------------------------------------------------------------------------------

    def enter(self) -> Outbox:
        """A page comes in: it is told all there is to know, and from then on all that changes."""
        page = Outbox()
        for message in self.latest.values():
            page.put(message)
        self.pages.add(page)
        if self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(self._work())
            self._changed.set()
        return page

    def leave(self, page: Outbox) -> None:
        self.pages.discard(page)

    def tell(self, message: Message) -> None:
        if not isinstance(message, messages.Notice):  # said once, to those who are there
            self.latest[type(message).__name__] = message
        for page in self.pages:
            page.put(message)

    async def close(self) -> None:
        if self._worker is not None:
            self._worker.cancel()
            with suppress(asyncio.CancelledError):
                await self._worker
        self._thread.shutdown(wait=False, cancel_futures=True)

    # --- Wishes ------------------------------------------------------------------------------------------------------

    async def grant(self, wish: Wish, page: Outbox) -> None:
        """Do what a page asks for; what cannot be done it is told in a sentence."""
        try:
            if isinstance(wish, messages.Inspect):
                page.put(await asyncio.to_thread(self._card, wish.node))
            elif isinstance(wish, messages.Skip):
                self._check(wish.node)
                self.skipped[wish.node] = True
                self._changed.set()
            elif isinstance(wish, messages.Strategy):
                check_strategy(wish.name)
                self.strategy = wish.name
                self.tell(self._state())
                self._changed.set()
            else:
                self.perform(_command(wish))
        except UserError as error:
            page.put(messages.Notice(str(error)))

    def perform(self, command: dict[str, Any]) -> None:
        """A change of labels or classes: done, kept, told."""
        before = self.labelling.revision
        self.journal.perform(self.labelling, command)
        if self.labelling.revision != before:
            self.tell(self._state())
            self._changed.set()

    # --- The model, in a thread of its own ---------------------------------------------------------------------------

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await loop.run_in_executor(self._thread, self._believe, loop)
            except Stale:
                self._changed.set()
            except UserError as error:
                self.tell(messages.Notice(str(error)))
            except Exception as error:  # whatever a model does, labels can still be given and are kept
                logging.getLogger(__name__).exception("The model failed.")
                self.tell(messages.Notice(f"The model failed ({type(error).__name__}); labels are kept all the same."))

    def _believe(self, loop: asyncio.AbstractEventLoop) -> None:
        """First the belief, which is awaited; then the questions; then, if nobody clicks, the long look."""

        def stale() -> bool:
            return self._changed.is_set()

        def tell(message: Message) -> None:
            loop.call_soon_threadsafe(self.tell, message)

        labelling, strategy = self.labelling, self.strategy
        revision, classes = labelling.revision, labelling.classes
        y = torch.from_numpy(labelling.labels)
        latest = self.latest.get("Belief")
        prediction = self.prediction
        if prediction is None or not isinstance(latest, messages.Belief) or latest.revision != revision:
            start = time.perf_counter()
            prediction = self.prediction = self.belief.believe(y, len(classes))
            tell(_told(prediction, revision, 1000 * (time.perf_counter() - start)))
        if stale():
            raise Stale
        names = [one.name for one in classes]
        says = strategies()[strategy]
        queue = advice.questions(self.belief, strategy, says, y, prediction, names, self.skipped, stale)
        tell(messages.Questions(revision, strategy, [asdict(one) | self._answer(one.node) for one in queue]))
        until = time.monotonic() + PAUSE
        while time.monotonic() < until:
            if stale():
                raise Stale
            time.sleep(0.02)
        left_out = self.belief.left_out(y, len(classes), stale)
        right = advice.accuracy(left_out, y)
        gain = advice.expected_gain(self.belief, y, prediction, queue[0].node, stale) if queue else 0.0
        stop, words = advice.verdict(gain, int((y == UNLABELLED).sum()), right, int(y[y >= 0].unique().numel()))
        words = f"{words} {advice.outlook(prediction, y, left_out, gain)}".strip()
        if right is not None:
            self.journal.measured(right.labels, asdict(right))
        suspects = [asdict(one) for one in advice.suspects(left_out, y)]
        points = [self.journal.points[count] for count in sorted(self.journal.points)]
        tell(
            messages.Verdict(
                revision, suspects, points, advice.threshold(left_out, y), advice.COVERAGE, gain, stop, words
            )
        )

    def _answer(self, node: int) -> dict[str, int]:
        return {"truth": -1 if self.scene.truth is None else int(self.scene.truth[node])}

    # --- What is told ------------------------------------------------------------------------------------------------

    def _scene(self) -> messages.Scene:
        scene, edges = self.scene, self.scene.edges
        return messages.Scene(
            title=scene.title,
            shape=scene.kind,
            model=self.belief.name,
            file=self.journal.file.name,
            names=scene.names,
            strategies=strategies(),
            places=scene.places.astype(np.float32),
            edges=edges.astype(np.uint32),
            degree=np.bincount(edges.ravel(), minlength=scene.nodes).astype(np.uint32),
        )

    def _state(self) -> messages.State:
        labelling = self.labelling
        return messages.State(
            revision=labelling.revision,
            classes=[asdict(one) for one in labelling.classes],
            undo=len(labelling.done),
            redo=len(labelling.undone),
            strategy=self.strategy,
            labels=labelling.labels.astype(np.int16),
        )

    def _card(self, node: int) -> messages.Card:
        self._check(node)
        y = torch.from_numpy(self.labelling.labels)
        x = self.scene.data.x[node].tolist()
        names = self.scene.feature_names or [str(i) for i in range(len(x))]
        around, nearest = self.belief.near(y, node)
        return messages.Card(
            node=node,
            features=list(zip(names, x, strict=False))[:MOST_FEATURES],
            neighbours=around[:MOST_NEIGHBOURS],
            evidence=self.belief.evidence(y, len(self.labelling.classes), node),
            nearest=nearest,
            truth=self._answer(node)["truth"],
        )

    def _check(self, node: int) -> None:
        if not 0 <= node < self.scene.nodes:
            raise UserError(f"The node {node} was given, 0 to {self.scene.nodes - 1} are expected.")


def _command(wish: Wish) -> dict[str, Any]:
    """A wish as the journal keeps it; what is empty is left out."""
    kept = {name: value for name, value in asdict(wish).items() if value != ""}
    return {"do": type(wish).__name__.lower(), **kept}


def _told(prediction: Prediction, revision: int, milliseconds: float) -> messages.Belief:
    def small(values: Tensor) -> np.ndarray[Any, Any]:
        return (values.clamp(0, 1) * 65535).round().to(torch.int32).numpy().astype(np.uint16)

    return messages.Belief(
        revision=revision,
        milliseconds=round(milliseconds, 1),
        probabilities=small(prediction.probabilities),
        aleatoric=prediction.aleatoric.float().numpy(),
    )
