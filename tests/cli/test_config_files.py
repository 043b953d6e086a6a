"""Files for --config that would take for ever are refused at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpnp.cli.config_files import check_file, check_yaml
from mpnp.errors import UserError

BOMB = "a: &a [x, x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, r"alias \*a is not read"),
        ("[" * 1000 + "]" * 1000, "nested more than 20 deep"),
        ("seed: " + "9" * 10_000, "a value of 10000 characters"),
        ("x" * (2**20 + 1), "too long for options"),
        ("set: {width: 8}", "'set' holds names and values"),
        ("ignore: [{a: b}]", "'ignore' holds names and values"),
        ("config: other.yaml", "a --config of its own"),
    ],
)
def test_what_no_option_is_like(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(UserError, match=words):
        check_file(str(tmp_path / "c.yaml"))


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_what_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "c.yaml").write_bytes(content)
    with pytest.raises(UserError, match=r"Cannot read .*c\.yaml, given as --config"):
        check_file(str(tmp_path / "c.yaml"))
    with pytest.raises(UserError, match="Cannot read"):
        check_file("a\0b")


def test_options_pass(tmp_path: Path) -> None:
    check_yaml("epochs: 3\nset: [width=8, 'reaches=[1, 2]']\n", "here")
    check_yaml("no: yaml: at all", "left to those who read it")
