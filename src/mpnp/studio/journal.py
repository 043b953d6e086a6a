"""Labels on disk: a table written after every change, and beside it a journal of the steps, so that nothing is lost.

A change is appended to the journal first, then the table is written anew under another name and renamed. Whatever the
moment the power fails, one of the two holds the last change.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UserError
from ..files import replacing
from ..graphs import UNLABELLED
from .labelling import Labelling, Labels

ENDING = ".journal"


class Journal:
    """The table ``file`` (``node,label``) and its journal, ``file`` with '.journal' after its name.

    ``points``: what was measured at which number of labels, for the curve of the stop sign.
    """

    def __init__(self, file: Path, names: Sequence[str], identity: str) -> None:
        self.file, self.path = file, file.with_name(file.name + ENDING)
        self.names, self.identity = names, identity
        self.points: dict[int, dict[str, float]] = {}

    def open(self, labels: Labels, class_names: list[str]) -> Labelling:
        """The labelling as it was left; a new one from ``labels`` [N], the graph's own, where there is none.

        A table edited elsewhere wins over the journal, and the difference can be undone.
        """
        table = self._read_table()
        if not self.path.exists():
            own = dict.fromkeys([*class_names, *(" ".join(name.split()) for _, name in table or [] if name.strip())])
            labelling = Labelling.start(labels, list(own))
            self._append({"graph": self.identity, "names": [c.name for c in labelling.classes],
                          "labels": {int(i): int(labels[i]) for i in np.flatnonzero(labels != UNLABELLED)}})  # fmt: skip
            before = labelling.labels
        else:
            labelling, before = self._replayed(len(labels))
        if table is not None:
            found = self._numbered(table, labelling)
            # Not the state before the last step: then it was the table that was not written in time.
            if not (np.array_equal(found, before) and labelling.done):
                self._take(labelling, found)
        self.write(labelling)
        return labelling

    def perform(self, labelling: Labelling, command: dict[str, Any]) -> None:
        """Do, then keep: a command that is refused leaves no trace."""
        before = labelling.revision
        labelling.perform(command)
        if labelling.revision != before:
            self.keep(labelling, command)

    def keep(self, labelling: Labelling, command: dict[str, Any]) -> None:
        """What ``command`` has made of the labels: on disk when this returns."""
        self._append(command)
        self.write(labelling)

    def measured(self, count: int, point: dict[str, float]) -> None:
        if self.points.get(count) != point:
            self.points[count] = point
            self._append({"at": count, "point": point})

    def write(self, labelling: Labelling) -> None:
        with replacing(self.file) as temporary:
            temporary.write_text(table_of(self.names, labelling), encoding="utf-8")

    def _append(self, line: dict[str, Any]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(line, ensure_ascii=False) + "\n")
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise UserError(
                f"Cannot write {self.path}: {error.strerror}; choose another place for the labels."
            ) from error

    def _replayed(self, nodes: int) -> tuple[Labelling, Labels]:
        """The journal done again, and the labels before its last step."""
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        try:
            first, *rest = [json.loads(line) for line in whole.decode("utf-8").split("\n")[:-1]]
            replayed = self._steps(first, rest, nodes) if first["graph"] == self.identity else None
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, UserError) as error:
            raise UserError(
                f"The journal {self.path} cannot be read; move it away to go on from the labels in {self.file.name}."
            ) from error
        if replayed is None:
            raise UserError(
                f"The labels in {self.file} were given to another graph; move them away, or choose another place for the labels."
            )
        if whole != content:  # written in part when the power failed: the step was never told to anyone
            with replacing(self.path) as temporary:
                temporary.write_bytes(whole)
        return replayed

    def _steps(self, first: dict[str, Any], rest: list[dict[str, Any]], nodes: int) -> tuple[Labelling, Labels]:
        """What the lines of a journal say; any of several errors where they were not written by one."""
        labels = np.full(nodes, UNLABELLED)
        for node, label in first["labels"].items():
            labels[int(node)] = label
        if not all(isinstance(name, str) for name in first["names"]):
            raise TypeError("a class is called by a text")
        labelling = Labelling.start(labels, list(first["names"]))
        self._check(labelling, labels)
        before = labelling.labels
        for line in rest:
            if "at" in line:
                self.points[int(line["at"])] = dict(line["point"])
            elif line["do"] == "edit":
                self._edit(labelling, line)
            else:
                before = labelling.labels
                labelling.perform(line)
        return labelling, before

    def _take(self, labelling: Labelling, found: Labels) -> None:
        changed = np.flatnonzero(found != labelling.labels)
        if len(changed):
            line = {"do": "edit", "nodes": changed.tolist(), "labels": found[changed].tolist()}
            self._edit(labelling, line)
            self._append(line)

    @staticmethod
    def _edit(labelling: Labelling, line: dict[str, Any]) -> None:
        labels = labelling.labels.copy()
        labels[line["nodes"]] = line["labels"]
        Journal._check(labelling, labels)
        labelling.relabel(labels)

    @staticmethod
    def _check(labelling: Labelling, labels: Labels) -> None:
        if ((labels < UNLABELLED) | (labels >= len(labelling.classes))).any():
            raise ValueError("a label without a class")

    def _read_table(self) -> list[tuple[str, str]] | None:
        if not self.file.exists():
            return None
        try:
            with self.file.open(newline="", encoding="utf-8-sig") as stream:
                header, *rows = [row for row in csv.reader(stream, strict=True) if row] or [[]]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise UserError(f"The labels in {self.file} cannot be read ({error}); save them as a CSV table.") from error
        lower = [cell.strip().lower() for cell in header]
        node = next((lower.index(name) for name in ("node", "id") if name in lower), None)
        if node is None or "label" not in lower:
            raise UserError(
                f"The columns {', '.join(header) or 'none'} are in {self.file}; node and label are expected."
            )
        label = lower.index("label")
        return [(row[node], row[label]) for row in rows if len(row) > max(node, label)]

    def _numbered(self, table: list[tuple[str, str]], labelling: Labelling) -> Labels:
        """Labels [N] of a table; a class it has and we do not is added."""
        index = {name: i for i, name in enumerate(self.names)}
        labels = np.full(len(self.names), UNLABELLED)
        for node, name in table:
            if node not in index:
                raise UserError(
                    f"In {self.file}: there is no node '{node}' in the graph; remove it, or give the right graph."
                )
            name = " ".join(name.split())
            if not name:
                continue
            known = {one.name: i for i, one in enumerate(labelling.classes)}
            if name not in known:
                command = {"do": "add", "name": name}
                labelling.perform(command)
                self._append(command)
            labels[index[node]] = known.get(name, len(known))
        return labels


def table_of(names: Sequence[str], labelling: Labelling) -> str:
    """``node,label``, one row per labelled node, as the rest of the library reads it."""
    stream = StringIO()
    rows = csv.writer(stream, lineterminator="\n")
    rows.writerow(["node", "label"])
    for node in np.flatnonzero(labelling.labels != UNLABELLED):
        rows.writerow([names[int(node)], labelling.classes[labelling.labels[node]].name])
    return stream.getvalue()
