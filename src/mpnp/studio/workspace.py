"""The folder the studio works in: graphs that can be opened, graphs brought by the page, rooms that are open.

Nothing outside the folder is read or written, whatever a page asks for.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..files import replacing
from ..prediction import Predictor
from ..tasks.formats.files import BY_ENDING, BY_NAME, KINDS
from .belief import known_classes
from .examples import EXAMPLES, make
from .room import Room
from .scene import Scene, from_file

PLACE = "mpnp-studio"  # where labels and uploads are kept, within the folder
ENDINGS = (*BY_ENDING, ".csv", ".parquet", ".txt")
LARGEST = 256 * 2**20  # bytes of an upload, all its files together
MOST_FILES = 16
LISTED = 40


@dataclass
class Workspace:
    """``folder``: where graphs are looked for; what the studio writes lies in ``folder/mpnp-studio``."""

    folder: Path
    model: str | Predictor
    rooms: dict[str, Room] = field(default_factory=dict)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def place(self) -> Path:
        return self.folder / PLACE

    def labels_of(self, name: str) -> Path:
        return self.place / f"{name}-labels.csv"

    def add(self, name: str, scene: Scene, labels: Path | None = None) -> Room:
        """Open a graph that is at hand already."""
        self.rooms[name] = Room(scene, self.model, labels or self.labels_of(name))
        return self.rooms[name]

    async def room(self, name: str) -> Room:
        """The room of that name, opened if need be: an example, an upload, or a graph in the folder."""
        async with self._opening:
            if name not in self.rooms:
                scene = await asyncio.to_thread(self._read, name)
                await asyncio.to_thread(self.add, name, scene)
            return self.rooms[name]

    def _read(self, name: str) -> Scene:
        if name in EXAMPLES:
            return make(name)
        found = self.graphs()
        if name not in found:
            raise UserError(f"There is no graph '{name[:80]}' here; choose one of those listed.")
        return from_file(found[name], known_classes(self.model))

    def graphs(self) -> dict[str, Path]:
        """Graphs in the folder and among the uploads, by a name that fits into an address; links out of it are not followed."""
        found: dict[str, Path] = {}
        uploads = self.place / "graphs"
        for parent in (uploads, self.folder):
            for path in sorted(parent.iterdir()) if parent.is_dir() else []:
                if len(found) >= LISTED:
                    break
                if self._is_graph(path) and path.resolve().is_relative_to(self.folder.resolve()):
                    found.setdefault(name_of(path), path)
        return found

    @staticmethod
    def _is_graph(path: Path) -> bool:
        try:
            if path.is_dir():
                return any((path / name).is_file() for name in BY_NAME) or any(path.glob("*_A.txt"))
            # Many a .json is no graph: it is listed where it was brought as one.
            listed = path.suffix.lower() in BY_ENDING and (path.suffix != ".json" or path.parent.name == "graphs")
            return listed and path.is_file()
        except OSError:
            return False

    def listing(self) -> dict[str, Any]:
        """What the start page shows."""

        def labels(name: str) -> int:
            try:
                with self.labels_of(name).open(encoding="utf-8") as file:
                    return sum(1 for line in file if line.strip()) - 1
            except OSError:
                return 0

        return {
            "examples": [
                {"name": name, "title": one.title, "about": one.about, "labels": labels(name)}
                for name, one in EXAMPLES.items()
            ],
            "graphs": [
                {"name": name, "title": title, "about": "", "labels": labels(name)}
                for name, title in self._titles().items()
                if name not in EXAMPLES
            ],
            "folder": self.folder.resolve().name,
            "largest": LARGEST,
        }

    def _titles(self) -> dict[str, str]:
        """Graphs that are open or can be."""
        return {name: path.name for name, path in self.graphs().items()} | {
            name: room.scene.title for name, room in self.rooms.items()
        }

    # --- Uploads -----------------------------------------------------------------------------------------------------

    async def receive(self, batch: str, file: str, stream: AsyncIterator[bytes]) -> None:
        """Keep one file of an upload; all files of a ``batch`` make a graph."""
        folder = self.place / "incoming" / slug(batch)
        if not re.fullmatch(r"[\w][\w .()+-]{0,99}", file) or not file.lower().endswith(ENDINGS):
            raise UserError(f"A file '{file[:80]}' cannot be opened here; give {KINDS}.")
        size = sum(one.stat().st_size for one in folder.iterdir()) if folder.is_dir() else 0
        if folder.is_dir() and len(list(folder.iterdir())) >= MOST_FILES:
            raise UserError(f"More than {MOST_FILES} files were given; give those of one graph.")
        with replacing(folder / file) as temporary, temporary.open("wb") as out:
            async for part in stream:
                size += len(part)
                if size > LARGEST:
                    raise UserError(
                        f"The files have more than {LARGEST // 2**20} MiB; start 'mpnp studio PATH' with them instead."
                    )
                out.write(part)

    async def admit(self, batch: str) -> str:
        """Read an upload with the same readers as everywhere; a good one becomes a graph of the folder. Returns its name."""
        return await asyncio.to_thread(self._admit, batch)

    def _admit(self, batch: str) -> str:
        folder = self.place / "incoming" / slug(batch)
        files = sorted(folder.iterdir()) if folder.is_dir() else []
        if not files:
            raise UserError("No file has arrived; try again.")
        try:
            from_file(folder if len(files) > 1 else files[0])
            title = files[0].stem if len(files) == 1 else _common(files)
            name = self._free(slug(title))
            target = self.place / "graphs" / (name if len(files) > 1 else name + files[0].suffix.lower())
            target.parent.mkdir(parents=True, exist_ok=True)
            (folder if len(files) > 1 else files[0]).replace(target)
        except UserError as error:  # the person knows the file by its name, not by where it was put
            raise UserError(str(error).replace(str(folder) + "/", "").replace(str(folder), "the files")) from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return name

    def _free(self, name: str) -> str:
        taken = {*self.graphs(), *self.rooms, *EXAMPLES}
        return next(one for one in (name, *(f"{name}-{i}" for i in range(2, 10_000))) if one not in taken)


def name_of(path: Path) -> str:
    """The name of a graph's room: that of its file or folder, unless an example has it."""
    if path.name == "nodes.csv":
        path = path.parent
    path = path.resolve()
    name = slug(path.name if path.is_dir() else path.stem)
    return f"my-{name}" if name in EXAMPLES else name


def _common(files: list[Path]) -> str:
    adjacency = next((file.name.removesuffix("_A.txt") for file in files if file.name.endswith("_A.txt")), None)
    return adjacency or "graph"


def slug(text: str) -> str:
    """A name that fits into an address and a file name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "graph"
