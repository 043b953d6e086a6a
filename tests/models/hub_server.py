"""A stand-in of the Hugging Face hub on this machine: the few addresses that its client asks to make, fill and read a model."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_of_a_test"


class Hub(ThreadingHTTPServer):
    """``files``: by model and name; ``asked``: every method and path, in order."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.files: dict[str, dict[str, bytes]] = {}
        self.private: dict[str, bool] = {}
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Nothing."""

    def do_POST(self) -> None:
        body = self._body()
        self.server.asked.append(f"POST {self.path}")
        if self.headers.get("authorization") != f"Bearer {TOKEN}":
            self._json({"error": "Invalid username or password."}, 401)
        elif self.path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}" if asked.get("organization") else asked["name"]
            self.server.files.setdefault(name, {})
            self.server.private[name] = bool(asked.get("private") or asked.get("visibility") == "private")
            self._json({"url": f"{self.server.address}/{name}", "id": name, "name": name})
        elif "/preupload/" in self.path:
            files = [
                {"path": file["path"], "uploadMode": "regular", "shouldIgnore": False}
                for file in json.loads(body)["files"]
            ]
            self._json({"files": files})
        elif "/commit/" in self.path:
            name = "/".join(self.path.split("/")[3:5])
            for line in body.splitlines():
                entry = json.loads(line)
                if entry["key"] == "file":
                    self.server.files[name][entry["value"]["path"]] = base64.b64decode(entry["value"]["content"])
            self._json(
                {"success": True, "commitOid": COMMIT, "commitUrl": f"{self.server.address}/{name}/commit/{COMMIT}"}
            )
        elif self.path == "/api/validate-yaml":
            self._json({"errors": [], "warnings": []})
        else:
            self._json({"error": "not here"}, 404)

    def do_HEAD(self) -> None:
        self._file(with_body=False)

    def do_GET(self) -> None:
        self._file(with_body=True)

    def _file(self, with_body: bool) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        parts = self.path.partition("?")[0].strip("/").split("/")
        name, file = "/".join(parts[:2]), "/".join(parts[4:])
        if len(parts) < 5 or parts[2] != "resolve" or name not in self.server.files:
            self._json({"error": "Repository not found"}, 404, {"X-Error-Code": "RepoNotFound"})
        elif file not in self.server.files[name]:
            self._json({"error": "Entry not found"}, 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT})
        else:
            content = self.server.files[name][file]
            etag = hashlib.sha1(content).hexdigest()
            headers = {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT, "Content-Type": "application/octet-stream"}
            self._send(200, content, headers, with_body)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def _json(self, content: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(content).encode()
        self._send(status, body, {"Content-Type": "application/json", **(headers or {})}, self.command != "HEAD")

    def _send(self, status: int, body: bytes, headers: dict[str, str], with_body: bool) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(body)


@contextmanager
def hub() -> Iterator[Hub]:
    server = Hub()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
