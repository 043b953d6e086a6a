"""Very many graphs in a file of ``torch.save``'s, read ten times as fast as by ``torch.load``, and nothing in it is called.

A pickle is a program for a small stack machine. The one here knows the few instructions that tensors, lists, dicts and PyG's
``Data`` are written with, makes plain dicts of them, and gives up at anything else: ``torch.load`` may then have a look. (The
unpickler of the standard library would do with its globals restricted, but makes room for as many objects as a file claims.)
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

DTYPES = {
    "FloatStorage": torch.float,
    "DoubleStorage": torch.double,
    "HalfStorage": torch.half,
    "LongStorage": torch.long,
    "IntStorage": torch.int,
    "ShortStorage": torch.short,
    "CharStorage": torch.int8,
    "ByteStorage": torch.uint8,
    "BoolStorage": torch.bool,
}
RECORDS = {("torch_geometric.data.data", "Data"), ("torch_geometric.data.storage", "GlobalStorage")}
KNOWN = RECORDS | {
    ("torch_geometric.data.data", "DataEdgeAttr"),
    ("torch_geometric.data.data", "DataTensorAttr"),
    ("torch._utils", "_rebuild_tensor_v2"),
    ("collections", "OrderedDict"),
    *(("torch", name) for name in DTYPES),
}


class UnknownError(Exception):
    """Something that is not read here."""


class Record(dict[str, Any]):
    """An object by its attributes."""


def read_archive(path: Path) -> list[dict[str, Any]] | None:
    """The fields of every graph of a list; ``None`` where the file is anything but a list of ``Data`` made of plain tensors."""
    try:
        content = bytearray(path.stat().st_size)
        with path.open("rb") as file:
            if file.readinto(content) != len(content):
                return None
        with zipfile.ZipFile(path) as archive:
            where = {entry.filename.partition("/")[2]: entry for entry in archive.infolist()}
            if len(where) != len(archive.infolist()) or any(
                e.compress_type != zipfile.ZIP_STORED for e in where.values()
            ):
                return None
            if archive.read(where["byteorder"]) != b"little":
                return None
            program = archive.read(where["data.pkl"])
        made = run(program, lambda key: _place(content, where[f"data/{key}"]), content)
        if not isinstance(made, list) or not all(isinstance(one, Record) for one in made):
            return None
        return [dict(one["_store"]["_mapping"]) for one in made]
    except OSError:
        raise
    except Exception:  # whatever is wrong with it, torch.load finds the words
        return None


def _place(content: bytearray, entry: zipfile.ZipInfo) -> tuple[int, int]:
    """Where the bytes of an entry begin in the file, and how many they are."""
    name, extra = struct.unpack_from("<HH", content, entry.header_offset + 26)
    start = entry.header_offset + 30 + name + extra
    if start + entry.file_size > len(content):
        raise UnknownError
    return start, entry.file_size


def run(program: bytes, place: Callable[[str], tuple[int, int]], content: bytearray) -> Any:
    """What a pickle of protocol 2 makes. ``place``: first byte and number of bytes of a storage, within ``content``."""
    stack: list[Any] = []
    marks: list[int] = []
    memo: dict[int, Any] = {}
    push, pop, at = stack.append, stack.pop, 0

    def since_mark() -> list[Any]:
        start = marks.pop()
        some = stack[start:]
        del stack[start:]
        return some

    while True:
        code = program[at]
        at += 1
        if code == 0x68:  # 'h', BINGET
            push(memo[program[at]])
            at += 1
        elif code == 0x6A:  # 'j', LONG_BINGET
            push(memo[int.from_bytes(program[at : at + 4], "little")])
            at += 4
        elif code == 0x71:  # 'q', BINPUT
            memo[program[at]] = stack[-1]
            at += 1
        elif code == 0x72:  # 'r', LONG_BINPUT
            memo[int.from_bytes(program[at : at + 4], "little")] = stack[-1]
            at += 4
        elif code == 0x4B:  # 'K', BININT1
            push(program[at])
            at += 1
        elif code == 0x28:  # '(', MARK
            marks.append(len(stack))
        elif code == 0x74:  # 't', TUPLE
            push(tuple(since_mark()))
        elif code == 0x86:  # TUPLE2
            last = pop()
            push((pop(), last))
        elif code == 0x85:  # TUPLE1
            push((pop(),))
        elif code == 0x29:  # ')', EMPTY_TUPLE
            push(())
        elif code == 0x52:  # 'R', REDUCE
            given, what = pop(), pop()
            push(_made(what, given, content))
        elif code == 0x58:  # 'X', BINUNICODE
            size = int.from_bytes(program[at : at + 4], "little")
            push(program[at + 4 : at + 4 + size].decode())
            at += 4 + size
        elif code == 0x51:  # 'Q', BINPERSID
            push(_storage(pop(), place))
        elif code == 0x89 or code == 0x88:  # NEWFALSE, NEWTRUE
            push(code == 0x88)
        elif code == 0x4D:  # 'M', BININT2
            push(int.from_bytes(program[at : at + 2], "little"))
            at += 2
        elif code == 0x4A:  # 'J', BININT
            push(int.from_bytes(program[at : at + 4], "little", signed=True))
            at += 4
        elif code == 0x7D:  # '}', EMPTY_DICT
            push({})
        elif code == 0x75:  # 'u', SETITEMS
            some = since_mark()
            _plain(stack[-1]).update(zip(some[::2], some[1::2], strict=True))
        elif code == 0x73:  # 's', SETITEM
            value, key = pop(), pop()
            _plain(stack[-1])[key] = value
        elif code == 0x62:  # 'b', BUILD
            state = pop()
            if type(stack[-1]) is not Record:
                raise UnknownError
            stack[-1].update(_plain(state))
        elif code == 0x81:  # NEWOBJ
            given, what = pop(), pop()
            if what not in RECORDS or given != ():
                raise UnknownError
            push(Record())
        elif code == 0x63:  # 'c', GLOBAL
            end = program.index(b"\n", at)
            after = program.index(b"\n", end + 1)
            name = (program[at:end].decode(), program[end + 1 : after].decode())
            if name not in KNOWN:
                raise UnknownError
            push(name)
            at = after + 1
        elif code == 0x5D:  # ']', EMPTY_LIST
            push([])
        elif code == 0x65:  # 'e', APPENDS
            some = since_mark()
            stack[-1].extend(some)
        elif code == 0x61:  # 'a', APPEND
            one = pop()
            stack[-1].append(one)
        elif code == 0x4E:  # 'N', NONE
            push(None)
        elif code == 0x80 and program[at] == 2:  # PROTO
            at += 1
        elif code == 0x2E:  # '.', STOP
            return pop()
        else:
            raise UnknownError


def _plain(thing: Any) -> dict[Any, Any]:
    if type(thing) is not dict:
        raise UnknownError
    return thing


def _storage(given: Any, place: Callable[[str], tuple[int, int]]) -> tuple[torch.dtype, int, int]:
    """The type, the first byte and the number of values that a persistent id stands for."""
    what, (module, name), key, device, numbers = given
    start, size = place(key)
    kind = DTYPES[name]
    if what != "storage" or module != "torch" or device != "cpu" or size != numbers * kind.itemsize:
        raise UnknownError
    return kind, start, numbers


def _made(what: Any, given: Any, content: bytearray) -> Any:
    if what == ("collections", "OrderedDict") and given == ():
        return {}
    if what != ("torch._utils", "_rebuild_tensor_v2"):
        raise UnknownError
    (kind, start, numbers), offset, size, stride, _, hooks = given
    if hooks or len(size) != len(stride) or min((offset, *size, *stride)) < 0:
        raise UnknownError
    if 0 in size:
        return torch.empty(size, dtype=kind)
    if offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True)) >= numbers:
        raise UnknownError
    flat: Tensor = torch.frombuffer(content, dtype=kind, count=numbers, offset=start)
    return flat.as_strided(size, stride, offset)
