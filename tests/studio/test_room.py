"""A room through its own protocol: changes are told to every page, beliefs follow, nothing waits for a slow page."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import numpy as np
import pytest
import torch

from mpnp.errors import UserError
from mpnp.prediction import Prediction
from mpnp.studio import messages
from mpnp.studio.client import Client
from mpnp.studio.examples import make
from mpnp.studio.journal import Journal
from mpnp.studio.labelling import Labelling
from mpnp.studio.room import Outbox, Room
from mpnp.studio.scene import Scene
from mpnp.studio.server import Server


def client(server: Server) -> Client:
    return Client(server.guard.address(), "triangles")


def test_a_page_is_told_everything(server: Server, scene: Scene) -> None:
    with client(server) as page:
        page.await_("verdict")
        told = page.seen
    assert told["scene"]["names"] == scene.names and told["scene"]["edges"].tolist() == scene.edges.tolist()
    assert told["scene"]["degree"].tolist() == [2, 2, 3, 3, 2, 2]
    assert np.allclose(told["scene"]["places"], scene.places)
    assert told["state"]["labels"].tolist() == [0, -1, -1, -1, -1, 1]
    assert told["belief"]["probabilities"].argmax(1).tolist() == [0, 0, 0, 1, 1, 1]
    assert {one["node"] for one in told["questions"]["queue"]} == {1, 2, 3, 4}
    assert told["verdict"]["stop"] is False


def test_painting_changes_the_belief(server: Server) -> None:
    with client(server) as page:
        page.await_("belief")
        belief = page.paint([3, 4], 0)
        assert belief["probabilities"].argmax(1).tolist()[:5] == [0, 0, 0, 0, 0]
        page.send("undo")
        belief = page.await_("belief", page.await_("state")["revision"])
        assert belief["probabilities"].argmax(1).tolist() == [0, 0, 0, 1, 1, 1]


def test_two_pages_stay_in_step(server: Server) -> None:
    with client(server) as one, client(server) as two:
        one.await_("belief")
        two.await_("belief")
        one.send("add", name="green")
        one.send("change", label=0, name="<script>alert(1)</script>", colour="#123456")
        one.paint([1], 2)
        while len(two.seen["state"]["classes"]) < 3 or two.seen["state"]["labels"][1] != 2:
            two.await_("state")
        assert [c["name"] for c in two.seen["state"]["classes"]] == ["<script>alert(1)</script>", "blue", "green"]
        assert two.await_("belief", one.seen["belief"]["revision"])["probabilities"].shape == (6, 3)


def test_suspects_skips_and_strategies(server: Server) -> None:
    with client(server) as page:
        page.await_("questions")
        page.paint([1], 1)  # beside node 0, which is 'red'
        page.paint([4], 1)
        page.paint([2], 0)
        verdict = page.await_("verdict", page.seen["state"]["revision"])
        assert 1 in [one["node"] for one in verdict["suspects"]]
        assert verdict["points"][-1]["labels"] == 5
        page.send("strategy", name="random")
        asked = page.await_("questions")
        while asked["strategy"] != "random":
            asked = page.await_("questions")
        assert [one["node"] for one in asked["queue"]] == [3]
        page.send("skip", node=3)
        while asked["queue"]:
            asked = page.await_("questions")


def test_a_card_shows_a_node(server: Server) -> None:
    with client(server) as page:
        page.send("inspect", node=2)
        card = page.await_("card")
    assert card["neighbours"] == [0, 1, 3] and card["features"] == [["side", 0.0]]
    assert card["evidence"]["neighbours"] == [1, 0] and card["nearest"] == [[0, 1], [5, 2]] and card["truth"] == -1


def test_no_click_waits_for_a_card(scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first card is made for as long as it takes the paint to be answered; of those wished meanwhile the last is made."""
    painted, made = threading.Event(), list[int]()

    def slow(self: Room, node: int) -> messages.Card:
        assert painted.wait(20)
        made.append(node)
        return messages.Card(node, [], [], {}, [], -1)

    monkeypatch.setattr(Room, "_card", slow)

    async def run() -> None:
        room = Room(scene, "label-propagation", tmp_path / "labels.csv")
        page = room.enter()
        for node in (1, 2, 3):
            await room.grant(messages.Inspect(node), page)
            await asyncio.sleep(0.05)
        await room.grant(messages.Paint([4], 1), page)
        while room.believed is None or room.believed.y[4] != 1:
            await asyncio.sleep(0.01)
        painted.set()
        while len(made) < 2:
            await asyncio.sleep(0.01)
        await room.close()

    asyncio.run(asyncio.wait_for(run(), 30))
    assert made == [1, 3]


def test_a_belief_is_found_while_labels_are_kept_and_told_after(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk takes as long as the model: nothing is told of a label that a killed server would forget."""
    believed, keep = threading.Event(), Journal.keep

    def slow(self: Journal, labelling: Labelling, command: dict[str, object]) -> None:
        assert believed.wait(20)
        keep(self, labelling, command)

    monkeypatch.setattr(Journal, "keep", slow)

    async def run() -> list[str]:
        room = Room(scene, "label-propagation", tmp_path / "labels.csv")
        page = room.enter()
        while "Belief" not in room.latest:
            await asyncio.sleep(0.01)
        await page.take()
        painting = asyncio.create_task(room.grant(messages.Paint([4], 1), page))
        while room.believed is None or room.believed.y[4] != 1:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        early = [room.latest[kind].revision for kind in ("State", "Belief")]  # type: ignore[union-attr]
        assert early == [0, 0] and scene.names[4] not in (tmp_path / "labels.csv").read_text()
        believed.set()
        await painting
        assert f"{scene.names[4]},blue" in (tmp_path / "labels.csv").read_text()
        told: list[str] = []
        while "Belief" not in told:
            told += [type(message).__name__ for message in await page.take() if getattr(message, "revision", 0) == 1]
        await room.close()
        return told

    told = asyncio.run(asyncio.wait_for(run(), 30))
    assert told.index("State") < told.index("Belief")


def test_labels_that_cannot_be_kept_are_shown_with_a_warning(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise UserError("Cannot write: the disk is full.")

    monkeypatch.setattr(Journal, "keep", full)

    async def run() -> dict[str, messages.Message]:
        room = Room(scene, "label-propagation", tmp_path / "labels.csv")
        page, told = room.enter(), dict[str, messages.Message]()
        await room.grant(messages.Paint([4], 1), page)
        while getattr(told.get("Belief"), "revision", 0) != 1:
            told |= {type(message).__name__: message for message in await page.take()}
        await room.close()
        return told

    told = asyncio.run(asyncio.wait_for(run(), 30))
    assert told["Notice"] == messages.Notice("Cannot write: the disk is full.")
    assert told["State"].labels.tolist() == [0, -1, -1, -1, 1, 1]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "wish",
    [
        {"kind": "paint", "nodes": [6], "label": 0},
        {"kind": "paint", "nodes": [0], "label": 7},
        {"kind": "inspect", "node": 6},
        {"kind": "skip", "node": -1},
        {"kind": "strategy", "name": "magic"},
        {"kind": "add", "name": "red"},
        {"kind": "nonsense"},
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(server: Server, wish: dict[str, object]) -> None:
    with client(server) as page:
        page.await_("belief")
        page.send(**wish)  # type: ignore[arg-type]
        assert page.await_("notice")["text"].endswith((".", "?"))
        assert page.paint([1], 0)["probabilities"].shape == (6, 2)  # and goes on


def test_a_model_that_fails_leaves_the_labels(scene: Scene, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        name, sees_own_label = "broken", False

        def predict(self, *_: object, **__: object) -> Prediction:
            raise ZeroDivisionError

    async def run() -> list[str]:
        room = Room(scene, Broken(), tmp_path / "labels.csv")
        page = room.enter()
        await room.grant(messages.Paint([1], 1), page)
        told: list[str] = []
        while not any("failed" in text for text in told):
            told += [message.text for message in await page.take() if isinstance(message, messages.Notice)]
        await room.close()
        return told

    assert "ZeroDivisionError" in asyncio.run(run())[-1]
    assert "bob,blue" in (tmp_path / "labels.csv").read_text()


def test_a_slow_page_gets_the_newest_of_each_kind_alone() -> None:
    async def run() -> None:
        page = Outbox()
        for text in ("one", "two", "three"):
            page.put(messages.Notice(text))
        assert await page.take() == [messages.Notice("three")]
        assert not page.waiting

    asyncio.run(run())


def test_examples_know_the_answer(tmp_path: Path) -> None:
    room = Room(make("karate"), "label-propagation", tmp_path / "labels.csv")
    truth = room.scene.truth
    assert truth is not None and room._answer(5) == {"truth": int(truth[5])}


def test_a_torn_belief_is_sent_as_it_is(scene: Scene) -> None:
    from mpnp.studio.room import _told

    told = _told(Prediction.certain(torch.tensor([[0.25, 0.75], [1.0, 0.0]])), 1, 2.0)
    assert (told.probabilities / 65535).round(4).tolist() == [[0.25, 0.75], [1.0, 0.0]]
