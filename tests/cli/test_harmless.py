"""Standard output takes any name and harms no terminal."""

from __future__ import annotations

import errno
import io

import pytest

from mpnp.cli.harmless import Harmless
from mpnp.errors import UserError


def test_what_the_stream_has_no_code_for_is_shown() -> None:
    raw = io.BytesIO()
    out = Harmless(io.TextIOWrapper(raw, encoding="ascii"))
    print("é \udcff \x1b[31m\tend", file=out)  # type: ignore[arg-type]
    out.flush()
    assert raw.getvalue() == b"\\xe9 \\udcff \\x1b[31m\tend\n"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EBADF])
def test_what_cannot_be_written_is_told(number: int) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(number, "no room")

    with pytest.raises(UserError, match="Cannot write to standard output: no room"):
        print("a", file=Harmless(Full()))  # type: ignore[arg-type]


def test_a_reader_that_went_away_is_no_error() -> None:
    class Gone(io.StringIO):
        def flush(self) -> None:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        Harmless(Gone()).flush()
