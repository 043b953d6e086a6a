"""What tests of commands share: run one as a user would."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Run

from mpnp.cli import main


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing a command writes by default lands in the repository."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def prints(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command that succeeds; its standard output."""

    def run(*arguments: object) -> str:
        capsys.readouterr()
        main([str(argument) for argument in arguments])
        return capsys.readouterr().out

    return run


@pytest.fixture
def refuses(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command that must fail as users' errors do; the one line it says."""

    def run(*arguments: object) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert end.value.code == 2
        assert out == ""
        assert err.startswith("mpnp: ") and err.endswith("\n") and len(err.splitlines()) == 1
        return err

    return run
