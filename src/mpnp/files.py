"""Where files are kept, and writing them so that nothing half-written ever stands under its final name."""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
import stat
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .errors import UserError


def cache_folder() -> Path:
    """Where generated and processed data is kept: ``$MPNP_CACHE``, else ``~/.cache/mpnp``."""
    return Path(os.environ.get("MPNP_CACHE") or Path.home() / ".cache" / "mpnp")


def data_root() -> Path:
    """The folder of data that is only ever read: ``$MPNP_DATA``, else ``data`` in the cache folder."""
    return Path(os.environ.get("MPNP_DATA") or cache_folder() / "data")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside ``path`` to write a file or fill a folder under; renamed to ``path`` when all went well.

    A link is followed: what it leads to is replaced. What is neither a file nor a folder, as a pipe or ``/dev/stdout``, is
    never replaced: it is written into. A file that may not be written to stays as it is.
    """
    try:
        through = _written_into(path)
        path = path if through else Path(os.path.realpath(path))
        # Not named after the whole of a long name, which would be too long a name itself.
        name = f".{path.name[:60]}.{uuid.uuid4().hex[:8]}"
        temporary = (Path(tempfile.gettempdir()) if through else path.parent) / f"{name}.tmp"
        temporary.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # a name may hold a character that no file system takes
        raise _no_place(path, error) from error
    try:
        yield temporary
        if through:
            _pour(temporary, path)
        elif path.is_dir():
            if not temporary.is_dir():
                raise UserError(f"{path} is a folder; give the name of a file.")
            old = path.with_name(f"{name}.old")
            os.replace(path, old)
            os.replace(temporary, path)
            shutil.rmtree(old)
        else:
            if path.exists():
                shutil.copymode(path, temporary)
            _settle(temporary)
            os.replace(temporary, path)
    except OSError as error:
        raise _no_place(path, error) from error
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        else:
            with suppress(OSError):  # it may not even be there
                temporary.unlink()


def _no_place(path: Path, error: OSError | ValueError) -> UserError:
    return UserError(
        f"Cannot write {path}: {getattr(error, 'strerror', None) or error}; choose a place you can write to."
    )


def _written_into(path: Path) -> bool:
    """Whether what is at ``path`` takes what is written into it, rather than being replaced by it."""
    try:
        mode = path.stat().st_mode  # of what a link leads to
    except FileNotFoundError:
        return False
    if stat.S_ISCHR(mode) or stat.S_ISFIFO(mode):
        return True
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise UserError(f"{path} is neither a file nor a folder; give the name of a file.")
    if stat.S_ISREG(mode) and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return path.parts[:2] in ((os.sep, "dev"), (os.sep, "proc"))  # /dev/stdout, where that is a file


def _pour(file: Path, path: Path) -> None:
    """Write a ``file`` into the device or pipe at ``path``."""
    with file.open("rb") as source, os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as sink:
        shutil.copyfileobj(source, sink)


def _settle(file: Path) -> None:
    """Have a ``file`` on the disk before it takes the place of another: a power cut must not leave neither."""
    if file.is_file():
        with file.open("rb+") as content:
            os.fsync(content.fileno())


def write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(without_nan(content), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def without_nan(value: Any) -> Any:
    """JSON has no NaN, the score of no node at all: null in its place."""
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value
