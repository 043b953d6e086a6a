"""The protocol: what a page may say, and arrays that come out as they went in."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mpnp.errors import UserError
from mpnp.studio import messages


def test_wishes_come_in_with_their_types() -> None:
    assert messages.decode('{"kind": "paint", "nodes": [1, 2], "label": -1}') == messages.Paint([1, 2], -1)
    assert messages.decode('{"kind": "undo"}') == messages.Undo()
    assert messages.decode('{"kind": "change", "label": 0, "name": "<b>"}') == messages.Change(0, "<b>", "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "5",
        "{}",
        '{"kind": []}',
        '{"kind": "eval"}',
        '{"kind": "__class__"}',
        '{"kind": "paint"}',
        '{"kind": "paint", "nodes": [1], "label": 0, "more": 1}',
        '{"kind": "paint", "nodes": [1.5], "label": 0}',
        '{"kind": "paint", "nodes": [true], "label": 0}',
        '{"kind": "paint", "nodes": 1, "label": 0}',
        '{"kind": "paint", "nodes": [99999999999], "label": 0}',
        '{"kind": "paint", "nodes": [1], "label": "0"}',
        '{"kind": "add", "name": 5}',
        '{"kind": "undo", "name": "x"}',
        "[" * 100_000,
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        messages.decode(text)


def test_arrays_come_out_as_they_went_in() -> None:
    given = messages.Belief(
        3, 1.5, np.arange(10, dtype=np.uint16).reshape(5, 2), np.linspace(0, 1, 5, dtype=np.float32)
    )
    frame = messages.encode(given)
    assert isinstance(frame, bytes) and len(frame) % 8 == 0  # so that the page can look at arrays without a copy
    back = messages.unpack(frame)
    assert (back["kind"], back["revision"]) == ("belief", 3)
    assert back["probabilities"].tolist() == given.probabilities.tolist()
    assert back["aleatoric"].tolist() == given.aleatoric.tolist()


def test_without_arrays_it_is_text() -> None:
    frame = messages.encode(messages.Notice("é <script>"))
    assert json.loads(frame) == {"kind": "notice", "text": "é <script>"}
