"""Help texts name what is registered, whatever that is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable

import pytest

from mpnp import models
from mpnp.active import STRATEGIES
from mpnp.cli import main
from mpnp.cli.main import COMMANDS
from mpnp.cli.names import NAMES
from mpnp.models import MODELS, PREDICTORS
from mpnp.plots import KINDS
from mpnp.reproduce.plan import TABLES
from mpnp.tasks.formats.files import KINDS as KINDS_OF_FILES


def told(capsys: pytest.CaptureFixture[str], command: str) -> str:
    """The help of a command on one line, names that were broken at a hyphen whole again."""
    with pytest.raises(SystemExit):
        main([command, "--help"])
    return " ".join(capsys.readouterr().out.split()).replace("- ", "-")


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("train", MODELS),
        ("evaluate", PREDICTORS),
        ("calibrate", PREDICTORS),
        ("suggest", STRATEGIES),
        ("active", STRATEGIES),
        ("plot", KINDS),
        ("reproduce", TABLES),
        ("predict", [KINDS_OF_FILES]),
    ],
)
def test_all_names_are_listed(capsys: pytest.CaptureFixture[str], command: str, names: Iterable[str]) -> None:
    assert ", ".join(names) in told(capsys, command)


def test_no_place_is_left_open(capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        text = told(capsys, command)
        assert not any(f"{{{place}}}" in text for place in NAMES)


def test_what_is_registered_anew_is_listed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(models.PREDICTORS, "oracle", PREDICTORS["mode"])
    assert "oracle" in told(capsys, "evaluate")


def test_the_list_of_commands_needs_no_torch() -> None:
    program = "import sys; from mpnp.cli import main\ntry: main(['--help'])\nfinally: print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines()[-1] == "False"
