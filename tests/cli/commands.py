"""What tests of commands write down: a command run, and JSON read as strictly as others read it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., str]


def strict(text: str) -> Any:
    """One JSON object and nothing else; NaN is not JSON."""
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
