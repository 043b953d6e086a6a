"""A program's end of the wire: what a page does, done from Python, by the same messages."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any
from urllib.parse import quote, urlsplit

from websockets.sync.client import connect
from websockets.typing import Origin

from . import messages


class Client:
    """Speaks to a running studio; ``address`` is the one it printed, with its secret.

    ``seen`` holds the newest message of each kind. :meth:`send` what :mod:`mpnp.studio.messages` lists, then :meth:`await_`
    what follows.
    """

    def __init__(self, address: str, room: str) -> None:
        parts = urlsplit(address)
        self.host, self.room = parts.netloc, room
        visit = http.client.HTTPConnection(self.host)
        visit.request("GET", f"{parts.path}?{parts.query}")
        self.cookie = (visit.getresponse().getheader("Set-Cookie") or "").partition(";")[0]
        visit.close()
        self.socket = connect(
            f"ws://{self.host}/live/{quote(room)}",
            origin=Origin(f"http://{self.host}"),
            additional_headers={"Cookie": self.cookie},
            max_size=None,
        )
        self.seen: dict[str, dict[str, Any]] = {}

    def send(self, kind: str, **fields: Any) -> None:
        self.socket.send(json.dumps({"kind": kind, **fields}))

    def await_(self, kind: str, revision: int | None = None, seconds: float = 60) -> dict[str, Any]:
        """The next message of that kind, of that revision or a later one; those before it are kept in ``seen``."""
        end = time.monotonic() + seconds
        while True:
            message = messages.unpack(self.socket.recv(timeout=max(end - time.monotonic(), 0.001)))
            self.seen[message["kind"]] = message
            if message["kind"] == kind and (revision is None or message["revision"] >= revision):
                return message

    def paint(self, nodes: list[int], label: int) -> dict[str, Any]:
        """Paint nodes of which at least one has another label, and wait for the belief that follows."""
        self.send("paint", nodes=nodes, label=label)
        while True:
            state = self.await_("state")
            if (state["labels"][nodes] == label).all():
                return self.await_("belief", state["revision"])

    def get(self, path: str, method: str = "GET", body: bytes | None = None) -> tuple[int, str]:
        """Status and text of a request a page would make."""
        visit = http.client.HTTPConnection(self.host)
        visit.request(method, path, body, {"Cookie": self.cookie, "Origin": f"http://{self.host}"})
        answer = visit.getresponse()
        text = answer.read().decode()
        visit.close()
        return answer.status, text

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
