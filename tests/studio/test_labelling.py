"""Labels, classes, and undoing without end."""

from __future__ import annotations

import numpy as np
import pytest

from mpnp.errors import UserError
from mpnp.studio.labelling import Class, Labelling


@pytest.fixture
def labelling() -> Labelling:
    return Labelling.start(np.array([-1, -1, 1, -1]), ["red", "blue"])


def test_paint_and_erase(labelling: Labelling) -> None:
    labelling.paint(np.array([0, 2]), 0)
    assert labelling.labels.tolist() == [0, -1, 0, -1]
    labelling.paint(np.array([0, 1]), -1)
    assert labelling.labels.tolist() == [-1, -1, 0, -1]


def test_every_step_can_be_undone_and_done_again(labelling: Labelling) -> None:
    commands = [
        {"do": "paint", "nodes": [0], "label": 0},
        {"do": "add", "name": "green"},
        {"do": "paint", "nodes": [0, 1, 3], "label": 2},
        {"do": "change", "label": 0, "name": "crimson", "colour": "#aa0011"},
        {"do": "paint", "nodes": [2], "label": -1},
    ]
    states = [(labelling.labels.tolist(), labelling.classes)]
    for command in commands:
        labelling.perform(command)
        states.append((labelling.labels.tolist(), labelling.classes))
    for state in reversed(states[:-1]):
        labelling.perform({"do": "undo"})
        assert (labelling.labels.tolist(), labelling.classes) == state
    labelling.perform({"do": "undo"})  # nothing is left
    for state in states[1:]:
        labelling.perform({"do": "redo"})
        assert (labelling.labels.tolist(), labelling.classes) == state
    assert labelling.classes[0] == Class("crimson", "#AA0011")


def test_a_new_step_forgets_what_was_undone(labelling: Labelling) -> None:
    labelling.paint(np.array([0]), 0)
    labelling.perform({"do": "undo"})
    labelling.paint(np.array([1]), 1)
    labelling.perform({"do": "redo"})
    assert labelling.labels.tolist() == [-1, 1, 1, -1]


def test_what_changes_nothing_is_no_step(labelling: Labelling) -> None:
    labelling.paint(np.array([2]), 1)
    labelling.paint(np.array([], dtype=np.int64), 1)
    labelling.change(0, name="red")
    assert labelling.revision == 0 and not labelling.done


def test_labels_that_were_handed_out_stay_what_they_were(labelling: Labelling) -> None:
    before = labelling.labels
    labelling.paint(np.array([0]), 1)
    assert before.tolist() == [-1, -1, 1, -1]


def test_there_are_at_least_two_classes() -> None:
    assert [one.name for one in Labelling.start(np.array([-1]), []).classes] == ["class 1", "class 2"]
    assert [one.name for one in Labelling.start(np.array([0]), ["a"]).classes] == ["a", "class 1"]


@pytest.mark.parametrize(
    "command",
    [
        {"do": "paint", "nodes": [4], "label": 0},
        {"do": "paint", "nodes": [-1], "label": 0},
        {"do": "paint", "nodes": [0], "label": 2},
        {"do": "paint", "nodes": [0], "label": -2},
        {"do": "add", "name": "red"},
        {"do": "add", "name": "  "},
        {"do": "add", "name": "x" * 81},
        {"do": "add", "name": "bell\a"},
        {"do": "add", "name": "green", "colour": "red;}"},
        {"do": "change", "label": 2, "name": "green"},
        {"do": "change", "label": 0, "name": "blue"},
        {"do": "fly"},
    ],
)
def test_refused_commands_change_nothing(labelling: Labelling, command: dict[str, object]) -> None:
    with pytest.raises(UserError):
        labelling.perform(command)
    assert labelling.revision == 0 and labelling.labels.tolist() == [-1, -1, 1, -1] and len(labelling.classes) == 2
