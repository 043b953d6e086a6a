"""Who may speak to the server: pages it served itself, in a browser that was given its secret address.

The server listens on 127.0.0.1, which any page in the browser can reach. Four locks keep other pages out:

- *Host*: only 127.0.0.1 and localhost with our port. A name that is made to point here (DNS rebinding) is refused.
- *Secret*: a random token in the first address, exchanged for a cookie that scripts cannot read.
- *Origin*: what a page sends with anything but a plain visit must be ours; browsers' ``Sec-Fetch-Site`` is believed, too.
- *Content-Security-Policy*: no script, style or connection but our own files, no HTML made from text.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

HOST = "127.0.0.1"
NOTEBOOKS = "http://localhost:* http://127.0.0.1:* https://localhost:* vscode-webview:"  # who may show us in a frame
LOCKED = (
    "This page belongs to a studio that runs on this machine, and its address lacks the secret part; "
    "open the address that 'mpnp studio' printed."
)


class Guard:
    """ASGI middleware. ``framed``: the page may be shown in a notebook's frame."""

    def __init__(self, app: ASGIApp, port: int, token: str | None = None, framed: bool = False) -> None:
        self.app, self.port, self.framed = app, port, framed
        self.token = token or secrets.token_urlsafe(32)
        self.hosts = {f"{name}:{port}" for name in (HOST, "localhost")}
        self.cookie = f"mpnp-studio-{port}"  # cookies are shared by all ports of a host

    def address(self, path: str = "/") -> str:
        """Where to send the browser first."""
        return f"http://{HOST}:{self.port}{path}?token={self.token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if headers.get("host") not in self.hosts:
            await self._refuse(scope, receive, send, "This server answers to 127.0.0.1 and localhost alone.")
            return
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = query.pop("token", [""])[-1]
        if given and scope["type"] == "http" and scope["method"] == "GET":
            await self._let_in(scope, receive, send, given, urlencode(query, doseq=True))
            return
        if not self._ours(scope, headers):
            await self._refuse(
                scope, receive, send, "Another page than the studio's own has sent this; it was not done."
            )
            return
        if not secrets.compare_digest(self._cookie(headers).encode(), self.token.encode()):
            await self._refuse(scope, receive, send, LOCKED)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers())
            await send(message)

        await self.app(scope, receive, guarded)

    def headers(self) -> dict[str, str]:
        """Sent with every answer."""
        sockets = " ".join(f"ws://{host}" for host in sorted(self.hosts))
        policy = {
            "default-src": "'none'",
            "script-src": "'self'",
            "style-src": "'self'",
            "img-src": "'self' blob:",
            "connect-src": f"'self' {sockets}",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": NOTEBOOKS if self.framed else "'none'",
            "trusted-types": "'none'",
            "require-trusted-types-for": "'script'",
        }
        return {
            "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }

    def _ours(self, scope: Scope, headers: Headers) -> bool:
        """Whether the request comes from one of our pages, or is a plain visit such as a bookmark."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            return False
        if scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD"):
            return origin == f"http://{headers['host']}"
        return site in ("same-origin", "none") or (self.framed and headers.get("sec-fetch-dest") == "iframe")

    def _cookie(self, headers: Headers) -> str:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return ""
        return "" if found is None else found.value

    async def _let_in(self, scope: Scope, receive: Receive, send: Send, given: str, query: str) -> None:
        """The token becomes a cookie, and leaves the address."""
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            await self._refuse(scope, receive, send, LOCKED)
            return
        response = RedirectResponse(scope["path"] + (f"?{query}" if query else ""), 303, headers=self.headers())
        # A notebook's page is another site than its frame, and a cookie for frames has to say so.
        kind = "None; Secure; Partitioned" if self.framed else "Strict"
        response.headers.append("Set-Cookie", f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite={kind}")
        await response(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, why: str) -> None:
        if scope["type"] == "websocket":
            await WebSocketClose(1008, why)(scope, receive, send)
        else:
            await PlainTextResponse(why + "\n", 403, self.headers())(scope, receive, send)
