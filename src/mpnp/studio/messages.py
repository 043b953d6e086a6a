"""Every message between page and server, in one place.

The page speaks JSON text, ``{"kind": "paint", "nodes": [3], "label": 1}``. The server answers with JSON text, or, where a
message holds arrays, with one binary frame: the length of a JSON header (4 bytes, little-endian), the header, padding to
eight bytes, then the arrays one after the other, each padded to eight bytes. ``header.arrays`` lists (name, type, shape).
``static/wire.js`` is the other end.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, fields
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError

LONGEST = 16 * 2**20  # bytes of a message from the page: a lasso around a million nodes


# --- From the page ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Paint:
    """Give ``nodes`` the label; -1 erases."""

    nodes: list[int]
    label: int


@dataclass(frozen=True)
class Undo:
    pass


@dataclass(frozen=True)
class Redo:
    pass


@dataclass(frozen=True)
class Add:
    """A new class; an empty ``colour`` leaves it to the server."""

    name: str
    colour: str = ""


@dataclass(frozen=True)
class Change:
    """Rename or recolour a class; what is empty stays."""

    label: int
    name: str = ""
    colour: str = ""


@dataclass(frozen=True)
class Skip:
    """Ask for another node than this one."""

    node: int


@dataclass(frozen=True)
class Strategy:
    name: str


@dataclass(frozen=True)
class Inspect:
    node: int


Wish = Paint | Undo | Redo | Add | Change | Skip | Strategy | Inspect
WISHES: dict[str, type] = {kind.__name__.lower(): kind for kind in Wish.__args__}  # type: ignore[attr-defined]


def decode(text: str) -> Wish:
    """A message from the page, every field of the type it must have; anything else is a :class:`UserError`."""
    try:
        content = json.loads(text)
        kind = WISHES[content.pop("kind")]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UserError("The page sent a message that cannot be read; reload it.") from error
    hints = get_type_hints(kind)
    for name, value in content.items():
        expected = hints.get(name)
        if expected == list[int]:
            fits = isinstance(value, list) and all(type(item) is int and abs(item) < 2**31 for item in value)
        else:
            fits = type(value) is expected and (expected is not int or abs(value) < 2**31)
        if not fits:
            raise UserError(f"The page sent '{kind.__name__.lower()}' with a wrong '{name[:20]}'; reload it.")
    try:
        return kind(**content)
    except TypeError as error:
        raise UserError(f"The page sent '{kind.__name__.lower()}' with a field missing; reload it.") from error


# --- To the page -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scene:
    """The graph, once per connection. ``places`` [N, 2 or 3] float32, ``edges`` [E, 2] uint32, ``degree`` [N] uint32."""

    title: str
    shape: str
    model: str
    file: str
    names: list[str]
    strategies: dict[str, str]
    places: NDArray[Any]
    edges: NDArray[Any]
    degree: NDArray[Any]


@dataclass(frozen=True)
class State:
    """Labels [N] int16 and classes after a change; ``revision`` rises with each."""

    revision: int
    classes: list[dict[str, str]]
    undo: int
    redo: int
    strategy: str
    labels: NDArray[Any]


@dataclass(frozen=True)
class Belief:
    """Probabilities [N, C] uint16, in units of 1/65535, and aleatoric doubt [N] float32, of a revision's labels."""

    revision: int
    milliseconds: float
    probabilities: NDArray[Any]
    aleatoric: NDArray[Any]


@dataclass(frozen=True)
class Questions:
    """What to label next: (node, score, why), the best first; ``answers`` are the true labels where an example knows them."""

    revision: int
    strategy: str
    queue: list[dict[str, Any]]


@dataclass(frozen=True)
class Verdict:
    """Suspects, cross-validated accuracy at each number of labels so far, threshold of the sets, expected gain, stop or not."""

    revision: int
    suspects: list[dict[str, Any]]
    points: list[dict[str, float]]
    threshold: float
    coverage: float
    gain: float
    stop: bool
    words: str


@dataclass(frozen=True)
class Card:
    """A node: features, neighbours, where its evidence comes from, labels near by; ``truth`` of examples, else -1."""

    node: int
    features: list[tuple[str, float]]
    neighbours: list[int]
    evidence: dict[str, list[float]]
    nearest: list[tuple[int, int]]
    truth: int


@dataclass(frozen=True)
class Notice:
    """A sentence for the person at the page."""

    text: str


Message = Scene | State | Belief | Questions | Verdict | Card | Notice


def encode(message: Message) -> str | bytes:
    arrays: list[tuple[str, NDArray[Any]]] = []
    header: dict[str, Any] = {"kind": type(message).__name__.lower()}
    for entry in fields(message):
        value = getattr(message, entry.name)
        if isinstance(value, np.ndarray):
            arrays.append((entry.name, np.ascontiguousarray(value)))
        else:
            header[entry.name] = value
    if not arrays:
        return json.dumps(header, allow_nan=False)
    header["arrays"] = [(name, str(value.dtype), list(value.shape)) for name, value in arrays]
    text = json.dumps(header, allow_nan=False).encode()
    parts = [struct.pack("<I", len(text)), text, b"\0" * (-(4 + len(text)) % 8)]
    for _, value in arrays:
        parts += [value.astype(value.dtype.newbyteorder("<"), copy=False).tobytes(), b"\0" * (-value.nbytes % 8)]
    return b"".join(parts)


def unpack(frame: str | bytes) -> dict[str, Any]:
    """A message to the page as a dictionary again: what Python programs on the other end read."""
    if isinstance(frame, str):
        return json.loads(frame)
    (length,) = struct.unpack_from("<I", frame)
    header: dict[str, Any] = json.loads(frame[4 : 4 + length])
    at = -(-(4 + length) // 8) * 8
    for name, kind, shape in header.pop("arrays"):
        value = np.frombuffer(frame, np.dtype(kind).newbyteorder("<"), int(np.prod(shape)), at)
        header[name] = value.reshape(shape)
        at += -(-value.nbytes // 8) * 8
    return header
