"""Writing without halves: what is replaced, what is written into, and what is left alone."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from mpnp.errors import UserError
from mpnp.files import replacing


def write(path: Path, text: str = "new") -> None:
    with replacing(path) as temporary:
        temporary.write_text(text)


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("old")
    write(tmp_path / "a.csv")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.csv", "new")]


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("old")
    with pytest.raises(UserError, match=r"Cannot write .*No space"), replacing(tmp_path / "a.csv") as temporary:
        temporary.write_text("ne")
        raise OSError(28, "No space left on device")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.csv", "old")]


def test_a_replaced_file_keeps_who_may_read_it(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("old")
    (tmp_path / "secret").chmod(0o600)
    write(tmp_path / "secret")
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "a").write_text("old")
    (tmp_path / "link").symlink_to("far/a")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "a").read_text() == "new"


def test_a_link_to_nothing_yet_makes_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "new" / "a")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "new" / "a").read_text() == "new"


def test_links_in_a_circle_are_told(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(UserError, match="Cannot write"):
        write(tmp_path / "one")


def test_a_device_stays_one(tmp_path: Path) -> None:
    write(Path(os.devnull))
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    (tmp_path / "link").symlink_to(os.devnull)
    write(tmp_path / "link")
    assert stat.S_ISCHR((tmp_path / "link").stat().st_mode)


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    write(tmp_path / "pipe")
    reader.join(10)
    assert read == ["new"]
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_device_is_told() -> None:
    with pytest.raises(UserError, match=r"Cannot write /dev/full: No space left"):
        write(Path("/dev/full"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_file_that_may_not_be_written_stays(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o400)
    with pytest.raises(UserError, match="Permission denied"):
        write(tmp_path / "a")
    assert (tmp_path / "a").read_text() == "old"


@pytest.mark.parametrize("name", ["a b.csv", "ü→図.csv", "-x", "$a$", "x" * 255, "日" * 85])
def test_any_name_a_file_may_have(tmp_path: Path, name: str) -> None:
    write(tmp_path / name)
    write(tmp_path / name, "newer")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "newer")]


@pytest.mark.parametrize("name", ["x" * 256, "a\0b", "file/below"])
def test_a_name_no_file_may_have_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="Cannot write"):
        write(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_vanishes_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Cannot write"), replacing(tmp_path / "gone" / "a") as temporary:
        temporary.parent.rmdir()
        temporary.write_text("x")


def test_a_folder_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(UserError, match="is a folder"):
        write(tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
