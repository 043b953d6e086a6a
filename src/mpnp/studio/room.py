"""A room: one graph, its labels and what the model believes, shared by every page that looks at it."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..defaults import STRATEGY
from ..errors import UserError
from ..graphs import UNLABELLED
from ..prediction import Prediction, Predictor
from . import advice, messages
from .belief import Belief, Stale, check_strategy, lasting_name, open_graph, strategies
from .journal import Journal
from .messages import Message, Wish
from .scene import Scene

MOST_FEATURES, MOST_NEIGHBOURS = 50, 100  # on a node's card
QUICK = (
    0.2  # seconds that a belief may take; of a slower one, so much longer is waited before advice, which slows the next
)
DRAWING = 0.15  # seconds in which pages draw a new belief, before advice takes a core from them
PAUSE = 0.15  # seconds without a click before the long look: suspects, accuracy, the stop sign


class Outbox:
    """What one page has yet to be sent: of each kind of message the newest, so that a slow page is never behind."""

    def __init__(self) -> None:
        self.waiting: dict[str, Message] = {}
        self.filled = asyncio.Event()
        self.looked_at: int | None = None  # the node whose card is to be made next
        self.making: asyncio.Task[None] | None = None

    def put(self, message: Message) -> None:
        self.waiting[type(message).__name__] = message
        self.filled.set()

    async def take(self) -> list[Message]:
        await self.filled.wait()
        self.filled.clear()
        taken, self.waiting = list(self.waiting.values()), {}
        return taken


class Believed(NamedTuple):
    """A prediction, what it was made from, labels ``y`` [N] of classes with these ``names``, and the ``seconds`` it took."""

    revision: int
    names: list[str]
    y: Tensor
    prediction: Prediction
    seconds: float


class Room:
    """Opened in a thread, as layouts and models take time; from then on at home in one event loop.

    Every change is done, kept and told to all pages, one after the other. The belief follows from a thread of its own, which
    begins while the change is being kept, and is told after it: if labels change in the meantime, only the newest are
    answered. Advice follows the belief from another thread, so that no click waits for it.
    """

    def __init__(self, scene: Scene, model: str | Predictor, labels: Path) -> None:
        self.scene = scene
        self.journal = Journal(labels, scene.names, scene.identity)
        self.labelling = self.journal.open(scene.data.y.numpy(), scene.class_names)
        self.belief: Belief = open_graph(model, scene.data)
        self.model = lasting_name(model) if isinstance(model, str) else self.belief.name
        self.strategy = STRATEGY
        self.skipped = torch.zeros(scene.nodes, dtype=torch.bool)
        self.believed: Believed | None = None
        self.latest: dict[str, Message] = {"Scene": self._scene(), "State": self._state()}
        self.pages: set[Outbox] = set()
        self._keeping = asyncio.Lock()  # nothing is told of a change before it is on disk
        self._changed = asyncio.Event()  # there is something to believe anew
        self._advisable = asyncio.Event()  # there is something to advise on
        self._workers: list[asyncio.Task[None]] = []

    @property
    def prediction(self) -> Prediction | None:
        """The newest, of labels that may have changed since."""
        return None if self.believed is None else self.believed.prediction

    # --- Pages -------------------------------------------------------------------------------------------------------

    def enter(self) -> Outbox:
        """A page comes in: it is told all there is to know, and from then on all that changes."""
        page = Outbox()
        for message in self.latest.values():
            page.put(message)
        self.pages.add(page)
        if not self._workers:
            for reason, job in ((self._changed, self._believe), (self._advisable, self._advise)):
                self._workers.append(asyncio.get_running_loop().create_task(self._work(reason, job)))
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
        for worker in self._workers:
            worker.cancel()
            with suppress(asyncio.CancelledError):
                await worker

    # --- Wishes ------------------------------------------------------------------------------------------------------

    async def grant(self, wish: Wish, page: Outbox) -> None:
        """Do what a page asks for; what cannot be done it is told in a sentence."""
        try:
            if isinstance(wish, messages.Inspect):
                self._check(wish.node)
                page.looked_at = wish.node
                if page.making is None or page.making.done():  # beside all else: no click waits for a card
                    page.making = asyncio.get_running_loop().create_task(self._make_cards(page))
            elif isinstance(wish, messages.Skip):
                self._check(wish.node)
                self.skipped[wish.node] = True
                self._advisable.set()
            elif isinstance(wish, messages.Strategy):
                check_strategy(wish.name)
                self.strategy = wish.name
                self.tell(self._state())
                self._advisable.set()
            else:
                await self.perform(_command(wish))
        except UserError as error:
            page.put(messages.Notice(str(error)))

    async def _make_cards(self, page: Outbox) -> None:
        while page.looked_at is not None:
            node, page.looked_at = page.looked_at, None
            page.put(await asyncio.to_thread(self._card, node))

    async def perform(self, command: dict[str, Any]) -> None:
        """A change of labels or classes: done, kept, told. The belief need not wait for the disk."""
        async with self._keeping:
            before = self.labelling.revision
            self.labelling.perform(command)
            if self.labelling.revision != before:
                self._changed.set()
                try:
                    await asyncio.to_thread(self.journal.keep, self.labelling, command)
                finally:
                    self.tell(self._state())

    async def _tell_kept(self, message: Message) -> None:
        async with self._keeping:
            self.tell(message)
            self._advisable.set()

    # --- The model, in threads of its own ----------------------------------------------------------------------------

    async def _work(self, reason: asyncio.Event, job: Callable[[asyncio.AbstractEventLoop], None]) -> None:
        """Do a job in a thread of its own whenever there is reason to."""
        loop, name = asyncio.get_running_loop(), job.__name__
        thread = ThreadPoolExecutor(1, name, initializer=torch.set_num_threads, initargs=(_half_the_cores(),))
        try:
            while True:
                await reason.wait()
                reason.clear()
                try:
                    await loop.run_in_executor(thread, job, loop)
                except Stale:
                    pass  # what made it so is a reason
                except UserError as error:
                    self.tell(messages.Notice(str(error)))
                except Exception as error:  # whatever a model does, labels can still be given and are kept
                    logging.getLogger(__name__).exception("The model failed.")
                    self.tell(
                        messages.Notice(f"The model failed ({type(error).__name__}); labels are kept all the same.")
                    )
        finally:
            thread.shutdown(wait=False, cancel_futures=True)

    def _believe(self, loop: asyncio.AbstractEventLoop) -> None:
        labelling = self.labelling
        revision, classes, y = labelling.revision, labelling.classes, torch.tensor(labelling.labels)
        start = time.perf_counter()
        prediction = self.belief.believe(y, len(classes))
        seconds = time.perf_counter() - start
        self.believed = Believed(revision, [one.name for one in classes], y, prediction, seconds)
        told = _told(prediction, revision, 1000 * seconds)
        loop.call_soon_threadsafe(lambda: loop.create_task(self._tell_kept(told)))

    def _advise(self, loop: asyncio.AbstractEventLoop) -> None:
        """First what to ask; then, if nobody clicks, the long look."""
        if self.believed is None:  # a wish that came before the first belief, which advice will follow
            return
        revision, names, y, prediction, seconds = self.believed

        def stale() -> bool:
            return self._advisable.is_set() or self.labelling.revision != revision

        def tell(message: Message) -> None:
            loop.call_soon_threadsafe(self.tell, message)

        def wait(pause: float) -> None:
            until = time.monotonic() + pause
            while time.monotonic() < until:
                if stale():
                    raise Stale
                time.sleep(0.02)

        wait(max(DRAWING, seconds - QUICK))
        strategy = self.strategy
        says = strategies()[strategy]
        queue = advice.questions(self.belief, strategy, says, y, prediction, names, self.skipped, stale)
        tell(messages.Questions(revision, strategy, [asdict(one) | self._answer(one.node) for one in queue]))
        wait(PAUSE)
        left_out = self.belief.left_out(y, len(names), stale)
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


def _half_the_cores() -> int:
    """For the belief, the other half being for advice; and never more than the user has given."""
    return max(1, min(torch.get_num_threads(), (os.cpu_count() or 1) // 2))


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
