"""The server: pages, the socket, uploads and exports, all behind the guard, on this machine alone."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from ..errors import UserError
from . import export, messages
from .journal import table_of
from .room import Outbox, Room
from .safety import HOST, Guard
from .workspace import Workspace

STATIC = Path(__file__).parent / "static"


class Server:
    """``serve`` runs until it is stopped; ``start`` and ``stop`` do the same from a thread."""

    def __init__(self, workspace: Workspace, port: int = 0, framed: bool = False) -> None:
        self.workspace = workspace
        self.socket = _listen(port)
        self.port: int = self.socket.getsockname()[1]
        self.guard = Guard(self._routes(), self.port, framed=framed)
        self._uvicorn = uvicorn.Server(
            uvicorn.Config(
                self.guard,
                log_level="error",
                lifespan="on",
                server_header=False,
                ws="websockets-sansio",
                ws_max_size=messages.LONGEST,
                timeout_graceful_shutdown=2,
            )
        )
        self._thread: threading.Thread | None = None

    def serve(self) -> None:
        self._uvicorn.run(sockets=[self.socket])

    def start(self) -> None:
        self._thread = threading.Thread(target=self.serve, daemon=True, name="mpnp-studio")
        self._thread.start()
        while not self._uvicorn.started and self._thread.is_alive():
            self._thread.join(0.01)

    def stop(self) -> None:
        self._uvicorn.should_exit = True
        if self._thread is not None:
            self._thread.join(10)

    def _routes(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/", _page("start.html")),
                Route("/graph/{room}", _page("studio.html")),
                Route("/graphs", self.listing),
                Route("/open/{room}", _telling(self.open), methods=["POST"]),
                Route("/upload/{batch}/{file}", _telling(self.upload), methods=["PUT"]),
                Route("/upload/{batch}", _telling(self.admit), methods=["POST"]),
                Route("/export/{room}/{what}", _telling(self.export)),
                WebSocketRoute("/live/{room}", self.live),
                Mount("/static", StaticFiles(directory=STATIC)),
            ],
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        yield
        for room in self.workspace.rooms.values():
            await room.close()

    # --- Answers -----------------------------------------------------------------------------------------------------

    async def listing(self, _: Request) -> Response:
        return JSONResponse(await asyncio.to_thread(self.workspace.listing))

    async def open(self, request: Request) -> Response:
        name = request.path_params["room"]
        await self.workspace.room(name)
        return JSONResponse({"address": f"/graph/{name}"})

    async def upload(self, request: Request) -> Response:
        await self.workspace.receive(request.path_params["batch"], request.path_params["file"], request.stream())
        return JSONResponse({})

    async def admit(self, request: Request) -> Response:
        name = await self.workspace.admit(request.path_params["batch"])
        await self.workspace.room(name)
        return JSONResponse({"address": f"/graph/{name}"})

    async def export(self, request: Request) -> Response:
        room, what = await self.workspace.room(request.path_params["room"]), request.path_params["what"]
        return await asyncio.to_thread(_exported, room, what)

    async def live(self, socket: WebSocket) -> None:
        """One page: what it wishes comes in, what it must know goes out."""
        await socket.accept()
        try:
            room = await self.workspace.room(socket.path_params["room"])
        except UserError as error:
            await socket.send_text(str(messages.encode(messages.Notice(str(error)))))
            await socket.close(1008)
            return
        page = room.enter()
        sender = asyncio.create_task(_send(socket, page))
        try:
            while True:
                text = await socket.receive_text()
                try:
                    wish = messages.decode(text)
                except UserError as error:
                    page.put(messages.Notice(str(error)))
                else:
                    await room.grant(wish, page)
        except (WebSocketDisconnect, KeyError):  # KeyError: a binary frame, which no page of ours sends
            pass
        finally:
            room.leave(page)
            sender.cancel()


async def _send(socket: WebSocket, page: Outbox) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):  # the page has gone
        while True:
            for message in await page.take():
                frame = messages.encode(message)
                await (socket.send_text(frame) if isinstance(frame, str) else socket.send_bytes(frame))


def _exported(room: Room, what: str) -> Response:
    name = room.journal.file.name.removesuffix("-labels.csv").removesuffix(".csv")
    if what == "labels.csv":
        text, kind = table_of(room.scene.names, room.labelling), "text/csv"
    elif what == "predictions.csv":
        if room.prediction is None:
            raise UserError("Nothing has been predicted yet; wait a moment.")
        text, kind = export.predictions(room.scene, room.labelling, room.prediction), "text/csv"
    elif what == "reproduce.py":
        text, kind = export.script(room.scene, room.labelling, room.model), "text/x-python"
    else:
        raise UserError(f"There is no export '{what[:40]}'; labels.csv, predictions.csv and reproduce.py are there.")
    headers = {
        "Content-Disposition": f'attachment; filename="{name.encode("ascii", "ignore").decode() or "graph"}-{what}"'
    }
    return PlainTextResponse(text, media_type=kind, headers=headers)


Endpoint = Callable[[Request], Awaitable[Response]]


def _telling(endpoint: Endpoint) -> Endpoint:
    """What a person got wrong is told in a sentence, with status 400."""

    async def told(request: Request) -> Response:
        try:
            return await endpoint(request)
        except UserError as error:
            return JSONResponse({"error": str(error)}, 400)

    return told


def _page(name: str) -> Endpoint:
    async def page(_: Request) -> Response:
        return FileResponse(STATIC / name)

    return page


def _listen(port: int) -> socket.socket:
    """A socket on this machine's own address; port 0 takes a free one."""
    # The protocol is named so that asyncio sends small messages at once (TCP_NODELAY).
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen(128)  # whoever is told the address can come at once
    except (OSError, OverflowError) as error:
        listening.close()
        raise UserError(f"The port {port} cannot be used ({error}); choose another.") from error
    return listening
