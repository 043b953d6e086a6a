"""Sound inputs made unsound, by a seeded generator: the same seed damages alike."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from random import Random
from typing import Any

# What has been mistaken for a number, a name or nothing, somewhere, once.
ODD_WORDS = (
    "", " ", "nan", "NaN", "inf", "-inf", "1e400", "1e30", "1e38", "-1", "-0", "0", "01", "1_0", "0x10", "٣", "1,5", "1.5.2",
    "99999999999999999999", "9" * 5000, "9223372036854775808", "2147483648", "NULL", "None", "NA", "?", "true", "yes", "a", "é",
    "🙂", "\u202e", "\ufeff", "\x00", "\x1b[31m", "=1+1", "@x", "$a$", "%s", "{}", "<b>", "a" * 3000, "a/b", "../x", "|", ";",
    "&amp;", "&x;", '"', "'", "\\", "\t", "\r", "1e-320", "-1e-400", "1j", "0b1",
)  # fmt: skip
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")


def odd_values(rng: Random) -> list[Any]:
    """Values that are hardly ever what a field expects."""
    return [
        None, True, False, 0, -1, 1, 2, 10**6, 10**9, 2**31, 2**63, -(2**63), 10**30, 0.5, -0.5, 1e-300, 1e30, 1e300, float("nan"),
        float("inf"), "", "x", "🙂", "nan", "1", "a" * 2000, [], {}, [[]], [1], ["a"], {"a": 1}, [0] * 1000, [None, 1, "a"],
        rng.choice(ODD_WORDS), rng.random(), rng.randrange(-5, 100),
    ]  # fmt: skip


def damaged_bytes(rng: Random, content: bytes) -> bytes:
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        size = rng.choice((1, 2, 4, 8, 64, 512))
        kind = rng.randrange(8)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            del data[at : at + size]
        elif kind == 3:
            data[at:at] = rng.randbytes(size)
        elif kind == 4:
            data[at:at] = data[at : at + size]
        elif kind == 5:
            data[at : at + size] = rng.choice((b"\0", b"\xff")) * len(data[at : at + size])
        elif kind == 6:
            data[at : at + size] = rng.randbytes(len(data[at : at + size]))
        else:
            data[at:at] = rng.choice(ODD_WORDS).encode()
    return bytes(data)


def damaged_text(rng: Random, text: str) -> bytes:
    """Text with other words, lines or numbers in it, or written in another way."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        text = rng.choice(_TEXTS)(rng, text)
    kind = rng.randrange(20)
    if kind == 0:
        return text.encode("utf-16")
    if kind == 1:
        return text.encode("latin-1", "replace")
    if kind == 2:
        return b"\xef\xbb\xbf" + text.encode()
    if kind == 3:
        return damaged_bytes(rng, text.encode())
    return text.encode("utf-8", "replace")


def _other_number(rng: Random, text: str) -> str:
    found = list(NUMBER.finditer(text))
    if not found:
        return text + rng.choice(ODD_WORDS)
    one = rng.choice(found)
    return text[: one.start()] + rng.choice(ODD_WORDS) + text[one.end() :]


def _other_word(rng: Random, text: str) -> str:
    parts = re.split(r"(\W)", text)
    parts[rng.randrange(len(parts))] = rng.choice(ODD_WORDS)
    return "".join(parts)


def _other_lines(rng: Random, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(5)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, lines[other])
    elif kind == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 3:
        lines.insert(at, rng.choice(("\n", "#\n", ",,,,\n", "\0\n", '"\n')))
    else:
        lines = lines[:at] + lines[at : at + 1] * rng.choice((2, 50)) + lines[at + 1 :]
    return "".join(lines)


def _other_signs(rng: Random, text: str) -> str:
    one, other = rng.choice((",;", ",\t", "\"'", "\n\r", "><", "[]", "{}", ":=", "12", ".,", "  ")), rng.randrange(3)
    return text.replace(one[0], one[1], -1 if other == 0 else other)


_TEXTS: tuple[Callable[[Random, str], str], ...] = (
    _other_number,
    _other_number,
    _other_word,
    _other_lines,
    _other_signs,
)


def damaged_value(rng: Random, value: Any) -> Any:
    """Nested lists and dictionaries with something else at one place or a few."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        places = list(_places(value))
        if not places:
            return rng.choice(odd_values(rng))
        holder, key = rng.choice(places)
        kind = rng.randrange(6)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, dict):
            holder[rng.choice(ODD_WORDS)] = holder.pop(key)
        elif kind == 2:
            holder[key] = [holder[key]] * rng.choice((1, 2, 100))
        else:
            holder[key] = rng.choice(odd_values(rng))
    return value


def _places(value: Any) -> Any:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def odd_json(rng: Random) -> str:
    """Texts that are JSON, or nearly, and no one's."""
    return rng.choice(
        ("", "null", "[]", "{}", "[" * 1000 + "]" * 1000, "[" * 100_000, '{"a":' * 1000 + "1" + "}" * 1000, "9" * 10_000,
         "[NaN]", "Infinity", '"', '{"a": 1, "a": 2}', "\ufeff{}", "{'a': 1}", "[1,]", "// x\n{}", "1e999", "-", '"\\ud800"')
    )  # fmt: skip
