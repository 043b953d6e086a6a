"""Labels on disk: whatever the moment the server dies, nothing that was told is lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mpnp.errors import UserError
from mpnp.studio.journal import Journal
from mpnp.studio.labelling import Labelling

NAMES = ["a", "b", "c, with a comma", 'd "quoted"']
NONE = np.full(4, -1)


def opened(file: Path, identity: str = "g") -> tuple[Journal, Labelling]:
    journal = Journal(file, NAMES, identity)
    return journal, journal.open(NONE, ["red", "blue"])


def painted(file: Path, *commands: dict[str, object]) -> Labelling:
    journal, labelling = opened(file)
    for command in commands:
        journal.perform(labelling, command)
    return labelling


PAINT = [{"do": "paint", "nodes": [0], "label": 0}, {"do": "paint", "nodes": [2, 3], "label": 1}]


def test_the_table_is_there_after_every_change(tmp_path: Path) -> None:
    painted(tmp_path / "labels.csv", *PAINT)
    assert (tmp_path / "labels.csv").read_text() == 'node,label\na,red\n"c, with a comma",blue\n"d ""quoted""",blue\n'


def test_opening_again_continues_with_its_history(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    painted(
        file, *PAINT, {"do": "add", "name": "green"}, {"do": "change", "label": 0, "name": "crimson"}, {"do": "undo"}
    )
    journal, again = opened(file)
    assert again.labels.tolist() == [0, -1, 1, 1]
    assert [one.name for one in again.classes] == ["red", "blue", "green"]
    journal.perform(again, {"do": "redo"})
    assert again.classes[0].name == "crimson"
    for _ in range(4):
        journal.perform(again, {"do": "undo"})
    assert again.labels.tolist() == [-1] * 4


def test_killed_between_journal_and_table(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    painted(file, PAINT[0])
    old = file.read_text()
    painted(file, PAINT[1])
    file.write_text(old)  # the journal has the second step, the table does not yet
    _, again = opened(file)
    assert again.labels.tolist() == [0, -1, 1, 1]
    assert "blue" in file.read_text()


def test_killed_while_writing_the_journal(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    painted(file, *PAINT)
    with (tmp_path / "labels.csv.journal").open("a") as stream:
        stream.write('{"do": "paint", "nodes": [1')
    journal, again = opened(file)
    assert again.labels.tolist() == [0, -1, 1, 1]
    journal.perform(again, {"do": "paint", "nodes": [1], "label": 0})
    assert opened(file)[1].labels.tolist() == [0, 0, 1, 1]


def test_a_table_edited_elsewhere_wins_and_can_be_undone(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    painted(file, *PAINT)
    file.write_text("node,label\nb,violet\na,red\n")
    journal, again = opened(file)
    assert again.labels.tolist() == [0, 2, -1, -1] and again.classes[2].name == "violet"
    assert opened(file)[1].labels.tolist() == [0, 2, -1, -1]
    journal.perform(again, {"do": "undo"})
    assert again.labels.tolist() == [0, -1, 1, 1]


def test_a_table_without_a_journal_is_where_to_begin(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("id,label,note\na,cat,x\nb,dog,y\nc\n")
    journal = Journal(tmp_path / "labels.csv", NAMES, "g")
    labelling = journal.open(NONE, [])
    assert [one.name for one in labelling.classes] == ["cat", "dog"]
    assert labelling.labels.tolist() == [0, 1, -1, -1]


def test_what_was_measured_is_kept(tmp_path: Path) -> None:
    journal, _ = opened(tmp_path / "labels.csv")
    journal.measured(3, {"right": 0.5})
    assert opened(tmp_path / "labels.csv")[0].points == {3: {"right": 0.5}}


def test_a_refused_command_leaves_no_trace(tmp_path: Path) -> None:
    journal, labelling = opened(tmp_path / "labels.csv")
    before = journal.path.read_text()
    with pytest.raises(UserError):
        journal.perform(labelling, {"do": "paint", "nodes": [9], "label": 0})
    assert journal.path.read_text() == before


def test_labels_of_another_graph_are_refused(tmp_path: Path) -> None:
    painted(tmp_path / "labels.csv", *PAINT)
    with pytest.raises(UserError, match="another graph"):
        opened(tmp_path / "labels.csv", "h")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("node,label\nzoe,red\n", "no node 'zoe'"),
        ("a,b\n1,2\n", "node and label are expected"),
        ('node,label\n"a', "CSV"),
        ("", "none"),
    ],
)
def test_bad_tables_are_told(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(UserError, match=told):
        opened(tmp_path / "labels.csv")


@pytest.mark.parametrize("text", ["nonsense\n", "{}\n", '{"graph": "g", "names": [], "labels": {"9": 0}}\n', "[]\n"])
def test_a_damaged_journal_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "labels.csv.journal").write_text(text)
    with pytest.raises(UserError, match="move it away"):
        opened(tmp_path / "labels.csv")


FIRST = b'{"graph": "g", "names": ["red", "blue"], "labels": {}}\n'


@pytest.mark.parametrize(
    "content",
    [
        b"\xff" + FIRST,
        FIRST + b'{"do": "paint", "nodes": [0], "label": 0, "\xb4": 1}\n',
        b'{"graph": "g", "names": [["red"], {}], "labels": {}}\n',
        b'{"graph": "g", "names": ["red"], "labels": {"0": 7}}\n',
        FIRST + b'{"do": "paint", "nodes": [Infinity], "label": 0}\n',
        FIRST + b'{"do": "paint", "nodes": [99999999999999999999], "label": 0}\n',
        FIRST + b'{"do": "paint", "nodes": [0], "label": 9}\n',
        FIRST + b'{"do": "edit", "nodes": [0], "labels": [9]}\n',
        FIRST + b'{"do": "dance"}\n',
        FIRST + b'{"at": 3, "point": 5}\n',
        FIRST + b'{"at": [], "point": {}}\n',
    ],
)
def test_a_damaged_journal_is_told_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    journal = tmp_path / "labels.csv.journal"
    journal.write_bytes(content + b'{"do": "und')
    with pytest.raises(UserError, match="move it away to go on from the labels"):
        opened(tmp_path / "labels.csv")
    assert journal.read_bytes() == content + b'{"do": "und'


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="Cannot write"):
        opened(tmp_path / "file" / "labels.csv")
