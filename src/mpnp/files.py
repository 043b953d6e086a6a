"""Writing files so that nothing half-written ever stands under its final name."""

from __future__ import annotations

import json
import math
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .errors import UserError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside ``path`` to write a file or fill a folder under; renamed to ``path`` when all went well."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        if path.is_dir() and not temporary.is_dir():
            raise UserError(f"{path} is a folder; give the name of a file.")
        if path.is_dir():
            old = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.old")
            os.replace(path, old)
            os.replace(temporary, path)
            shutil.rmtree(old)
        else:
            os.replace(temporary, path)
    except OSError as error:
        raise UserError(f"Cannot write {path}: {error.strerror or error}; choose a place you can write to.") from error
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        else:
            with suppress(OSError):  # it may not even be there
                temporary.unlink()


def write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(without_nan(content), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def without_nan(value: Any) -> Any:
    """JSON has no NaN, the score of no node at all: null in its place."""
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value
