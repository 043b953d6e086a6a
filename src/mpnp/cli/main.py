"""Entry point: finds the command and tells errors in one sentence."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from types import ModuleType
from typing import TextIO, cast

from jsonargparse import ArgumentParser, Namespace

from .. import __version__, progress
from ..errors import Terminated, UserError, extras, gently, unknown_name
from . import (
    active,
    calibrate,
    check,
    data,
    demo,
    evaluate,
    plot,
    predict,
    push,
    reproduce,
    sample,
    studio,
    suggest,
    tasks,
    train,
)
from .config_files import check_file
from .harmless import Harmless
from .helping import Parser, overview
from .later import import_later
from .process import settle

# What ``mpnp`` lists, in this order: each module has HELP, ``arguments`` and ``run``.
GROUPS: dict[str, dict[str, ModuleType]] = {
    "Your own graph": {
        "check": check,
        "predict": predict,
        "suggest": suggest,
        "sample": sample,
        "plot": plot,
        "studio": studio,
    },
    "Models of your own": {
        "train": train,
        "evaluate": evaluate,
        "calibrate": calibrate,
        "active": active,
        "push": push,
    },
    "Published tasks": {
        "demo": demo,
        "tasks": tasks,
        "data": data,
        "reproduce": reproduce,
    },
}
COMMANDS: dict[str, ModuleType] = {name: module for group in GROUPS.values() for name, module in group.items()}

TRAIN = ("train", "demo", "reproduce")  # many short steps, for which threads had better stay awake


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the ``mpnp`` console script; exits with status 2 on a user's error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if not given or given[0] in ("-h", "--help", "help"):
            print(overview({title: list(group) for title, group in GROUPS.items()}, _says()), end="")
            return
        if given[0] == "--version":
            print(f"mpnp {__version__}")
            return
        if given[0] not in COMMANDS:
            raise _no_command(given[0])
        import_later()
        if given[0] not in TRAIN:
            settle()
        options = _options(given)
        with warnings.catch_warnings(), gently(), extras(), progress.shown():
            # What torch, PyG and Lightning say of their own insides helps no one at a prompt.
            warnings.filterwarnings("ignore", module="torch|lightning")
            with redirect_stdout(cast(TextIO, Harmless(sys.stdout))):
                COMMANDS[given[0]].run(options)
                sys.stdout.flush()  # while there is someone to tell
    except UserError as error:
        print(f"mpnp: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except UnicodeDecodeError:  # other files are read with care
        print("mpnp: The file of --config is not UTF-8 text; save it as such.", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt as end:
        print("\nmpnp: stopped.", file=sys.stderr)
        sys.exit(128 + (signal.SIGTERM if isinstance(end, Terminated) else signal.SIGINT))
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "allocate memory" not in str(error):
            raise
        print("mpnp: There is not enough memory for this; give a smaller graph, or fewer classes.", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output went away, as in '| head'
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        print(f"mpnp: {error.filename or 'a file'}: {error.strerror or error}.", file=sys.stderr)
        sys.exit(2)


def _says() -> dict[str, str]:
    return {name: module.HELP for name, module in COMMANDS.items()}


def _no_command(given: str) -> UserError:
    if given.startswith("-"):
        return UserError(f"A command is expected first, '{given}' was given; see 'mpnp --help'.")
    return unknown_name("command", given, COMMANDS)


def _config_first(arguments: Sequence[str]) -> list[str]:
    """Options given by hand win over those of a file, wherever on the line the file stands."""
    command, rest, config = list(arguments[:1]), list(arguments[1:]), []
    while (at := next((i for i, text in enumerate(rest) if text.partition("=")[0] == "--config"), None)) is not None:
        length = 1 if "=" in rest[at] else 2
        config += rest[at : at + length]
        check_file(config[-1].removeprefix("--config="))
        del rest[at : at + length]
    return [*command, *config, *rest]


def _options(given: Sequence[str]) -> Namespace:
    """What was given to a command; an option that a file leaves empty has its default."""
    parser, command = _parser(given[0])
    options: Namespace = parser.parse_args(_config_first(given))[given[0]]
    for name, value in vars(command.get_defaults()).items():
        if options.get(name) is None:
            options[name] = value
    return options


def _parser(name: str) -> tuple[ArgumentParser, ArgumentParser]:
    """A parser that knows the command ``name`` alone, since the others would only take time; and the command's own."""
    parser, module = Parser(prog="mpnp"), COMMANDS[name]
    command = Parser(description=module.HELP)
    command.add_argument("--config", action="config", metavar="FILE", help="read options from a YAML file")
    module.arguments(command)
    parser.add_subcommands(required=True).add_subcommand(name, command, help=module.HELP)
    command.named(f"mpnp {name}")
    for part in ("prog", "takes", "options"):  # it speaks for the command
        setattr(parser, part, getattr(command, part))
    return parser, command
