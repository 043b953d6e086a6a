"""Standard output that no name can write escapes to, since a terminal would run them, and that takes any character."""

from __future__ import annotations

from typing import Any, TextIO

from ..errors import UserError, printable


class Harmless:
    """A stream in which control characters, and those that it has no code for, are shown, not sent; lines and tabs stay."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        code = getattr(self.stream, "encoding", None) or "utf-8"
        return self._try(self.stream.write, printable(text).encode(code, "backslashreplace").decode(code))

    def flush(self) -> None:
        self._try(self.stream.flush)

    def _try(self, work: Any, *given: str) -> Any:
        try:
            return work(*given)
        except BrokenPipeError:  # no one reads on, which is no error
            raise
        except OSError as error:
            raise UserError(f"Cannot write to standard output: {error.strerror}.") from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
