"""Labels and classes, and every step that made them: to be undone and done again without end."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..graphs import UNLABELLED
from ..plots.style import CLASS_COLOURS

Labels = NDArray[np.int64]

MOST_CLASSES = 200
LONGEST_NAME = 80


@dataclass(frozen=True)
class Class:
    name: str
    colour: str


@dataclass(frozen=True)
class Step:
    """What one command changed. ``before`` and ``after``: labels of ``nodes``, or the list of classes."""

    before: tuple[Class, ...] | Labels
    after: tuple[Class, ...] | Labels
    nodes: Labels | None = None


@dataclass
class Labelling:
    """The labels of N nodes, [N] with -1 for none, the classes, and the steps done and undone.

    ``revision`` rises with every change, undoing included.
    """

    labels: Labels
    classes: tuple[Class, ...]
    done: list[Step] = field(default_factory=list)
    undone: list[Step] = field(default_factory=list)
    revision: int = 0

    @classmethod
    def start(cls, labels: Labels, names: list[str]) -> Labelling:
        """At least two classes: with one there is nothing to tell apart."""
        for number in (1, 2):
            if len(names) < 2 and f"class {number}" not in names:
                names = [*names, f"class {number}"]
        return cls(labels.copy(), tuple(Class(name, colour_of(i)) for i, name in enumerate(names)))

    def perform(self, command: dict[str, Any]) -> None:
        """A command as the journal keeps it: ``{"do": "paint", "nodes": […], "label": 0}``. Bad ones raise and change nothing."""
        what = command["do"]
        if what == "undo":
            self._back()
        elif what == "redo":
            self._again()
        elif what == "paint":
            self.paint(np.asarray(command["nodes"], dtype=np.int64), command["label"])
        elif what == "add":
            self.add(command["name"], command.get("colour"))
        elif what == "change":
            self.change(command["label"], command.get("name"), command.get("colour"))
        else:
            raise UserError(f"The command '{what}' was given; paint, add, change, undo or redo is expected.")

    def paint(self, nodes: Labels, label: int) -> None:
        """Give ``nodes`` a label, or take theirs away with -1."""
        if not UNLABELLED <= label < len(self.classes):
            raise UserError(f"The class {label} was given, 0 to {len(self.classes) - 1} are expected, or -1 to erase.")
        if len(nodes) and not (nodes.min() >= 0 and nodes.max() < len(self.labels)):
            raise UserError(f"A node outside 0 to {len(self.labels) - 1} was given.")
        nodes = np.unique(nodes)
        nodes = nodes[self.labels[nodes] != label]
        if len(nodes):
            self._do(Step(self.labels[nodes], np.full(len(nodes), label), nodes))

    def relabel(self, labels: Labels) -> None:
        """All labels at once, as when the file was edited elsewhere."""
        nodes = np.flatnonzero(labels != self.labels)
        if len(nodes):
            self._do(Step(self.labels[nodes], labels[nodes], nodes))

    def add(self, name: str, colour: str | None = None) -> None:
        if len(self.classes) >= MOST_CLASSES:
            raise UserError(f"There are {MOST_CLASSES} classes already, and no more can be told apart.")
        new = Class(self._free(name), check_colour(colour or colour_of(len(self.classes))))
        self._do(Step(self.classes, (*self.classes, new)))

    def change(self, label: int, name: str | None = None, colour: str | None = None) -> None:
        """Rename or recolour a class."""
        if not 0 <= label < len(self.classes):
            raise UserError(f"The class {label} was given, 0 to {len(self.classes) - 1} are expected.")
        old = self.classes[label]
        new = replace(
            old,
            name=old.name if name is None or name.strip() == old.name else self._free(name),
            colour=old.colour if colour is None else check_colour(colour),
        )
        if new != old:
            self._do(Step(self.classes, (*self.classes[:label], new, *self.classes[label + 1 :])))

    def _free(self, name: str) -> str:
        name = " ".join(name.split())
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise UserError(f"A class needs a name of 1 to {LONGEST_NAME} letters; give one.")
        if any(one.name == name for one in self.classes):
            raise UserError(f"There is a class '{name}' already; give another name.")
        return name

    def _do(self, step: Step) -> None:
        self._set(step, forward=True)
        self.done.append(step)
        self.undone.clear()

    def _back(self) -> None:
        if self.done:
            step = self.done.pop()
            self._set(step, forward=False)
            self.undone.append(step)

    def _again(self) -> None:
        if self.undone:
            step = self.undone.pop()
            self._set(step, forward=True)
            self.done.append(step)

    def _set(self, step: Step, forward: bool) -> None:
        value = step.after if forward else step.before
        if isinstance(value, tuple):
            self.classes = value
        else:
            # A new array: whoever computes with the old one in another thread keeps what it had.
            self.labels = self.labels.copy()
            self.labels[step.nodes] = value
        self.revision += 1


def colour_of(label: int) -> str:
    return CLASS_COLOURS[label % len(CLASS_COLOURS)]


def check_colour(colour: str) -> str:
    if not re.fullmatch(r"#[0-9a-fA-F]{6}", colour):
        raise UserError(f"The colour '{colour[:20]}' was given, one such as #0072B2 is expected.")
    return colour.upper()
