"""Help texts name what is registered, whatever that is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable

import pytest

from mpnp.active import STRATEGIES
from mpnp.cli import main, names
from mpnp.cli.main import COMMANDS
from mpnp.cli.names import NAMES
from mpnp.errors import UserError
from mpnp.models import MODELS, PREDICTORS, SHIPPED
from mpnp.models.hub import HUB
from mpnp.plots import KINDS
from mpnp.reproduce.plan import TABLES
from mpnp.tasks import TASKS, get_task
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


def test_the_lists_are_those_of_the_registries() -> None:
    assert list(names.MODELS) == list(MODELS) and list(names.PREDICTORS) == list(PREDICTORS)
    assert names.SHIPPED == SHIPPED and names.HUB == HUB
    assert list(names.TASKS) == list(TASKS)


@pytest.mark.parametrize("task", ["ca/smal-world", "nowhere", "/no/such", "graph.pt", "own:/gone"])
def test_a_task_is_refused_as_it_is_in_python(task: str) -> None:
    with pytest.raises(UserError) as quick:
        names.check_task(task)
    with pytest.raises(UserError) as slow:
        get_task(task)
    assert str(quick.value) == str(slow.value)


def test_the_list_of_commands_needs_no_torch() -> None:
    program = "import sys; from mpnp.cli import main\ntry: main(['--help'])\nfinally: print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines()[-1] == "False"
