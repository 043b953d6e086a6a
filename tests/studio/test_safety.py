"""Who may speak to the server, request by request; what a browser makes of it is in test_hostile."""

from __future__ import annotations

import http.client

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from mpnp.studio.server import Server


def ask(server: Server, path: str = "/", method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    """A request with exactly these headers; ``Cookie='yes'`` stands for the right one."""
    if headers.get("Cookie") == "yes":
        headers["Cookie"] = f"{server.guard.cookie}={server.guard.token}"
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value.replace("PORT", str(server.port)))
    connection.endheaders()
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def test_listens_on_this_machine_alone(server: Server) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"


def test_the_token_becomes_a_cookie_and_leaves_the_address(server: Server) -> None:
    answer = ask(server, f"/graph/triangles?token={server.guard.token}")
    assert answer.status == 303 and answer.getheader("Location") == "/graph/triangles"
    cookie = answer.getheader("Set-Cookie") or ""
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and len(server.guard.token) >= 40
    assert ask(server, "/graph/triangles", Cookie="yes").status == 200


@pytest.mark.parametrize(
    "path", ["/", "/graph/triangles", "/graphs", "/static/main.js", "/export/triangles/labels.csv", "/live/triangles"]
)
def test_without_the_secret_nothing_is_served(server: Server, path: str) -> None:
    assert ask(server, path).status == 403
    assert ask(server, path, Cookie=f"{server.guard.cookie}=guess").status == 403
    assert ask(server, f"{path}?token=guess").status == 403


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1.evil.example:PORT", "[::1]:PORT", "127.0.0.1:1", ""],
)
def test_other_hosts_are_refused(server: Server, host: str) -> None:
    """DNS rebinding: a name of the attacker's that leads here comes with its own Host, even if it had our cookie."""
    assert ask(server, Host=host, Cookie="yes").status == 403


def test_our_two_names(server: Server) -> None:
    assert ask(server, Host="127.0.0.1:PORT", Cookie="yes").status == 200
    assert ask(server, Host="localhost:PORT", Cookie="yes").status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1:1",
        "https://127.0.0.1:PORT",
        "http://localhost:PORT.evil.example",
    ],
)
def test_other_pages_are_refused(server: Server, origin: str) -> None:
    assert ask(server, "/graphs", Cookie="yes", Origin=origin).status == 403
    assert ask(server, "/open/karate", "POST", Cookie="yes", Origin=origin).status == 403


def test_changes_need_an_origin(server: Server) -> None:
    assert ask(server, "/open/karate", "POST", Cookie="yes").status == 403
    assert ask(server, "/open/triangles", "POST", Cookie="yes", Origin="http://127.0.0.1:PORT").status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_the_browser_says_of_the_sender_is_believed(server: Server, site: str) -> None:
    assert ask(server, "/export/triangles/labels.csv", Cookie="yes", Sec_Fetch_Site=site).status == 403


def test_the_socket_is_guarded(server: Server) -> None:
    cookie = {"Cookie": f"{server.guard.cookie}={server.guard.token}"}
    address = f"ws://127.0.0.1:{server.port}/live/triangles"
    for origin, headers in ((None, cookie), ("http://evil.example", cookie), (f"http://127.0.0.1:{server.port}", {})):
        with pytest.raises(InvalidStatus):
            connect(address, origin=origin, additional_headers=headers)  # type: ignore[arg-type]
    with pytest.raises(InvalidStatus):
        connect(address + f"?token={server.guard.token}", origin=f"http://127.0.0.1:{server.port}")  # type: ignore[arg-type]
    with connect(address, origin=f"http://127.0.0.1:{server.port}", additional_headers=cookie) as socket:  # type: ignore[arg-type]
        assert socket.recv()


def test_the_policy_allows_our_files_alone(server: Server) -> None:
    for path in ("/", "/graph/triangles", "/static/main.js", "/nowhere"):
        policy = ask(server, path, Cookie="yes").getheader("Content-Security-Policy") or ""
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and "http:" not in policy and "*" not in policy
        assert "require-trusted-types-for 'script'" in policy


@pytest.mark.parametrize(
    "path", ["/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py", "/../../etc/passwd"]
)
def test_no_file_but_the_pages_own(server: Server, path: str) -> None:
    assert ask(server, path, Cookie="yes").status == 404
