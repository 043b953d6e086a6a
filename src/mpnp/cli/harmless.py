"""Standard output that no name can write escapes to: a terminal would run them."""

from __future__ import annotations

from typing import Any, TextIO

from ..errors import printable


class Harmless:
    """A stream in which control characters are shown, not sent; lines and tabs stay."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(printable(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
